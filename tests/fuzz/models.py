"""Attempts on models: ONNX files, training runs that are exported, pictures and lists of them."""

import shutil
from pathlib import Path
from random import Random

from fuzz.given import Attempt, give, give_folder
from fuzz.mutators import BY_KIND, ODD_NUMBERS
from fuzz.samples import Samples

_SIZES = ["--size", "--batch", "--mean", "--std", "--features", "--labels", "--part", "--column", "--device"]
_VALUES = ["1", "4", "0", "-1", "0.5", "0.5,0.5", "0.5,0.5,x", "nan", "1e999", "", "logits", "means", "folders", "none",
           "test", "cuda:9", "x"]  # fmt: skip


def model_file(random: Random, folder: Path, samples: Samples) -> Attempt:
    """`outputs` and `predict` on an ONNX file."""
    broken = random.choice(["model"] * 5 + ["data", "option"])
    name = random.choice(["model.onnx", "run.onnx"])
    model = give(random, folder, samples, name, damaged=broken == "model")
    data = _data(random, folder, samples, damaged=broken == "data", name=name)
    words = [random.choice(["outputs", "predict"]), f"onnx:{model}", data]
    if words[0] == "outputs":
        words += ["--out", "out/o.npz"]
    else:
        threshold = give(random, folder, samples, "threshold.json", damaged=random.random() < 0.3)
        words += ["--threshold", threshold, "--out", f"out/d.{random.choice(['csv', 'json', 'parquet', 'tsv'])}"]
        words += ["--force"] if random.random() < 0.7 else []
    if random.random() < 0.3:
        words += ["--classes", give(random, folder, samples, "classes.txt", damaged=random.random() < 0.5)]
    if broken == "option":
        value = str(random.choice([*_VALUES, *_VALUES, random.choice(ODD_NUMBERS)]))
        words += [random.choice(_SIZES), value]
    return Attempt([*words, "--json", "out/r.json"])


def _data(random: Random, folder: Path, samples: Samples, *, damaged: bool, name: str) -> str:
    if name == "run.onnx" and random.random() < 0.5:
        return give(random, folder, samples, "digit.png", damaged=damaged)
    kind = random.choice(["photos", "photos.csv", "photos.txt"])
    give_folder(random, folder, samples, "photos", damaged=damaged and kind == "photos")
    return kind if kind == "photos" else give(random, folder, samples, kind, damaged=damaged)


def exported_run(random: Random, folder: Path, samples: Samples) -> Attempt:
    """`export` of a damaged run."""
    run = folder / "out" / "run"
    shutil.copytree(samples.folder / "run", run)
    broken = random.choice([run / "config.yaml", run / "summary.json", *sorted((run / "checkpoints").glob("last*"))])
    broken.write_bytes(BY_KIND[broken.suffix](random, broken.read_bytes()))
    return Attempt(["export", "out/run", "--onnx", "out/run/x.onnx", "--json", "out/r.json"])


def shown_samples(random: Random, folder: Path, samples: Samples) -> Attempt:
    """A page with pictures or texts of the samples."""
    file = give(random, folder, samples, "scores.csv", damaged=False)
    if random.random() < 0.5:
        shown = give_folder(random, folder, samples, "photos", damaged=True)
        (folder / file).write_text(
            (folder / file).read_text(encoding="utf-8").replace("s0,", "cat/0.png,").replace("s1,", "dog/1.png,"),
            encoding="utf-8",
        )
    else:
        rows = "".join(f"s{row},<b>text {row}\n" for row in range(28))
        (folder / "texts.csv").write_bytes(BY_KIND[".csv"](random, f"id,text\n{rows}".encode()))
        shown = "texts.csv"
    return Attempt(["evaluate", file, "--no-intervals", "--samples", shown, "--report", "out/r.html"])


MODEL_KINDS = {model_file: 8.0, exported_run: 0.5, shown_samples: 2.0}
