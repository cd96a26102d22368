"""What is tried: a command, with one of its files or of its words damaged. The same seed and number give the same."""

import shutil
from collections.abc import Callable
from pathlib import Path
from random import Random

from fuzz.folders import FOLDER_KINDS
from fuzz.given import Attempt, give, written
from fuzz.models import MODEL_KINDS
from fuzz.mutators import BY_KIND, ODD_NUMBERS, ODD_TEXTS
from fuzz.samples import Samples

SCORE_FILES = ["scores.csv", "scores.tsv", "scores.parquet", "scores.npz", "named.csv", "short.csv", "named.parquet",
               "named.npz", "logits.npy", "outputs_test.npz"]  # fmt: skip
TRUTHS = ["--known-gt", "known.json", "--wild-gt", "wild.json"]
FOUND = ["--known-dt", "known_found.json", "--wild-dt", "wild_found.json"]


def prepare(seed: int, number: int, folder: Path, samples: Samples) -> Attempt:
    """Write the files of an attempt into its folder."""
    random = Random(f"{seed}/{number}")
    kinds, weights = zip(*_KINDS.items(), strict=True)
    make = random.choices(kinds, weights)[0]
    folder.mkdir(parents=True)
    (folder / "out").mkdir()
    made = make(random, folder, samples)
    made.kind = make.__name__.removeprefix("_").replace("_", " ")
    return made


def _scores_file(random: Random, folder: Path, samples: Samples) -> Attempt:
    file = give(random, folder, samples, random.choice(SCORE_FILES), damaged=True)
    command = random.choice(["evaluate"] * 4 + ["audit", "threshold", "compare"])
    if command == "evaluate":
        resampling = random.choice([["--no-intervals"]] * 3 + [["--resamples", "5"]])
        return Attempt(["evaluate", file, *resampling, "--json", "out/r.json", *written(random)], [file])
    if command == "threshold":
        rule = random.choice(["at_acceptance=0.9", "at_fpr=0.1", "best_f", "best_youden", "min_cost", "conformal=0.2"])
        return Attempt(["threshold", file, "--rule", rule, "--out", "out/t.json", "--json", "out/r.json"], [file])
    if command == "compare":
        other = "other.parquet"
        (folder / other).write_bytes(samples.content("scores.parquet"))
        pair = [file, other] if random.random() < 0.5 else [other, file]
        return Attempt(["compare", *pair, "--resamples", "5", "--json", "out/r.json", *written(random)], [file])
    return Attempt(["audit", file, "--json", "out/r.json"], [file])


def _fitted_score(random: Random, folder: Path, samples: Samples) -> Attempt:
    fitted = random.choice(["knn.safetensors", "mahalanobis.safetensors", "outputs_train.npz"])
    broken = random.random() < 0.7
    test = give(random, folder, samples, "outputs_test.npz", damaged=not broken)
    fit = give(random, folder, samples, fitted, damaged=broken)
    score = random.choice(["knn(k=3)", "mahalanobis", "vim", "openmax", "energy", "react"])
    named = ["--score", score] if fitted.endswith(".npz") or random.random() < 0.3 else []
    return Attempt(["evaluate", test, "--fit", fit, *named, "--no-intervals", "--json", "out/r.json"])


def _detections(random: Random, folder: Path, samples: Samples) -> Attempt:
    files = ["known.json", "wild.json", "known_found.json", "wild_found.json"]
    broken = random.choice(files)
    for name in files:
        (folder / name).write_bytes(samples.content(name))
    (folder / broken).write_bytes(BY_KIND[".json"](random, samples.content(broken)))
    command = random.choice(["evaluate"] * 5 + ["split", "threshold", "threshold", "compare"])
    if command == "split":
        return Attempt(["detect", "split", random.choice(files[:2]), "--hide", "dog", "--out", "out/split"])
    words = ["detect", command, *TRUTHS, *FOUND, "--json", "out/r.json"]
    if command == "evaluate":
        return Attempt([*words, "--bootstrap", "2", *written(random)])
    if command == "compare":
        return Attempt(["detect", "compare", *TRUTHS, *FOUND, *FOUND, "--bootstrap", "2", "--json", "out/r.json"])
    rule = random.choice(["recall=0.3", "precision=0.5", "f_beta=1", "wild_fp=10"])
    return Attempt([*words, "--rule", rule, "--out", "out/t.json"])


def _frozen_threshold(random: Random, folder: Path, samples: Samples) -> Attempt:
    file = give(random, folder, samples, "threshold.json", damaged=True)
    scores = give(random, folder, samples, "scores.csv", damaged=False)
    force = ["--force"] if random.random() < 0.5 else []
    return Attempt(["threshold", file, "--apply", scores, *force, "--json", "out/r.json"])


def _decisions(random: Random, folder: Path, samples: Samples) -> Attempt:
    broken = random.random() < 0.8
    file = give(random, folder, samples, random.choice(SCORE_FILES), damaged=broken)
    threshold = give(random, folder, samples, "threshold.json", damaged=not broken)
    kind = random.choice(["csv", "json", "parquet", "tsv"])
    return Attempt(["apply", threshold, file, "--force", "--out", f"out/d.{kind}", "--json", "out/r.json"])


def _protocol(random: Random, folder: Path, samples: Samples) -> Attempt:
    broken = random.choice(["protocol.yaml"] * 4 + ["animals.parquet", "more.parquet"])
    for name in ("animals.parquet", "more.parquet", "protocol.yaml"):
        if name != broken:
            give(random, folder, samples, name, damaged=False)
    (folder / broken).write_bytes(BY_KIND[Path(broken).suffix](random, samples.content(broken)))
    if random.random() < 0.2:
        return Attempt(["protocols", "export", "protocol.yaml", "--out", "out/lists"])
    if random.random() < 0.2:
        return Attempt(["bench", "--protocols", "protocol.yaml", "--methods", "softmax", "--dry-run", "--out", "out"])
    return Attempt(["protocols", "show", "protocol.yaml"])


def _recipe(random: Random, folder: Path, samples: Samples) -> Attempt:
    file = give(random, folder, samples, "recipe.yaml", damaged=True)
    return Attempt(["bench", "--recipe", file, "--dry-run", "--out", "out", "--json", "out/r.json"])


def _run_folder(random: Random, folder: Path, samples: Samples) -> Attempt:
    run = folder / "out" / "run"
    shutil.copytree(samples.folder / "run", run)
    files = sorted(file for file in run.rglob("*") if file.is_file() and file.suffix in BY_KIND)
    likely = [file for file in files if file.suffix in {".safetensors", ".yaml", ".json"}]
    broken = random.choice(likely * 3 + files)
    broken.write_bytes(BY_KIND[broken.suffix](random, broken.read_bytes()))
    if random.random() < 0.1:
        broken.unlink()
    image = give(random, folder, samples, "digit.png", damaged=random.random() < 0.1)
    return Attempt(["predict", "out/run", image, "--csv", "out/r.csv", "--json", "out/r.json"])


def _resumed_run(random: Random, folder: Path, samples: Samples) -> Attempt:
    run = folder / "out" / "run"
    shutil.copytree(samples.folder / "run", run)
    if random.random() < 0.7:
        (run / "summary.json").unlink()
    broken = random.choice([run / "config.yaml", run / "checkpoints" / "state.safetensors", run / "log.csv"])
    if broken.exists():
        broken.write_bytes(BY_KIND[broken.suffix](random, broken.read_bytes()))
    return Attempt(["train", "--resume", "--out", "out/run", "--set", "train.epochs=1"])


_VALUES = [
    *(
        "0.1",
        "0",
        "1",
        "-1",
        "2",
        "nan",
        "inf",
        "1e999",
        "9" * 30,
        "0.95",
        "95",
        "",
        " ",
        "all",
        "unknown",
        "far",
        "nope",
    ),
    *(
        "at_fpr=0.1",
        "at_fpr=",
        "at_fpr=x",
        "min_cost(false_accept=2)",
        "min_cost(",
        "f(a=1",
        "a=b=c",
        "knn(k=0)",
        "msp",
    ),
    *(
        "knn(k=9999999999)",
        "energy(temperature=-1)",
        "open_auc>=0.5",
        "open_auc>=",
        "open_auc@far>=0.1",
        "auroc.low>=0.5",
    ),
    *(
        "ccr_at_fpr(fpr=0.05)",
        "(",
        "[",
        "(a+)+$",
        "\\",
        "*",
        "scores.csv",
        "missing.csv",
        ".",
        "..",
        "/",
        "out",
        "out/x",
    ),
    *(
        "__import__('os').system('touch PWNED')",
        "lambda: 0",
        "0-9999999",
        "5-1",
        "0,1,,2",
        "1:2:0",
        "\udcff",
        "\x1b[0m",
    ),
]
_OPTIONS = {
    "evaluate": ["--against", "--metric", "--score", "--background", "--fit", "--unknown-label", "--negative-label",
                 "--known-class", "--require", "--group-by", "--resamples", "--no-intervals", "--seed", "--latex"],
    "compare": ["--against", "--metric", "--score", "--unknown-label", "--resamples", "--seed", "--csv"],
    "threshold": ["--rule", "--apply", "--unknown-share", "--against", "--score", "--force",
                  "--known-class", "--rules"],
    "audit": ["--against", "--threshold", "--score", "--background", "--negative-label"],
    "detect evaluate": ["--iou", "--matching", "--max-detections", "--ratios", "--recall", "--require", "--variant",
                        "--similar", "--seed", "--thresholds", "--name", "--inclusive-pixels", "--classes"],
    "protocols show": ["--split", "--data-root", "--skip-corrupt"],
    "tune": ["--vary", "--protocol", "--method", "--split", "--stand-ins", "--seeds", "--metric", "--set", "--shard"],
    "bench": ["--protocols", "--methods", "--splits", "--seeds", "--set", "--vary", "--shard", "--engine", "--tuned"],
}  # fmt: skip


def _option(random: Random, folder: Path, samples: Samples) -> Attempt:
    for name in ("scores.csv", "scores.parquet", "known.json", "wild.json", "known_found.json", "wild_found.json"):
        (folder / name).write_bytes(samples.content(name))
    command = random.choice(list(_OPTIONS))
    words = command.split()
    if command in {"bench", "tune"}:
        words += ["--dry-run", "--out", "out"]
    elif command == "detect evaluate":
        words += [*TRUTHS, *FOUND, "--bootstrap", "2"]
    elif command == "protocols show":
        words += [random.choice(["digits", *_VALUES])]
    else:
        words += ["scores.csv", *(["scores.parquet"] if command == "compare" else [])]
        words += [] if command == "threshold" or random.random() < 0.3 else ["--json", "out/r.json"]
        words += ["--resamples", "5"] if command in {"evaluate", "compare"} else []
    for option in random.sample(_OPTIONS[command], random.choice([1, 1, 2])):
        value = random.choice([*_VALUES, *_VALUES, str(random.choice(ODD_NUMBERS)), random.choice(ODD_TEXTS)])
        value = value.replace("\0", "")
        if option in {"--latex", "--csv"} or (option, value) == ("--resamples", "9" * 30):
            value = f"out/{value[:20].replace('/', '')}.{'csv' if option == '--csv' else 'tex'}"
        words += [option] if option in {"--background", "--force", "--no-intervals", "--rules"} else [option, value]
    return Attempt(words)


_KINDS: dict[Callable[[Random, Path, Samples], Attempt], float] = {
    _scores_file: 34,
    _detections: 10,
    _option: 12,
    _fitted_score: 6,
    _decisions: 6,
    _protocol: 7,
    _run_folder: 5,
    _frozen_threshold: 4,
    _recipe: 4,
    _resumed_run: 1,
    **MODEL_KINDS,
    **FOLDER_KINDS,
}
