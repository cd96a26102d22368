"""Attempts on folders of files, and on tables that are not scores: rows in parts, detections, hierarchies, logs."""

from pathlib import Path
from random import Random

from fuzz.given import Attempt, give, give_folder, written
from fuzz.samples import Samples


def rows_in_parts(random: Random, folder: Path, samples: Samples) -> Attempt:
    """Many files that are one model."""
    place = give_folder(random, folder, samples, "parts", damaged=True)
    if random.random() < 0.3:
        (folder / place / "round").symlink_to(".")
    words = ["evaluate", random.choice([place, f"{place}/*.parquet", f"{place}/**/*"])]
    how = random.choice([[], ["--bounds"], ["--exact"], ["--engine", "local"], ["--bounds", "--temp", "out/temp"]])
    resampling = random.choice([["--no-intervals"], ["--resamples", "5"]])
    return Attempt([*words, *how, *resampling, "--json", "out/r.json", *written(random)], parts=place)


def detection_folder(random: Random, folder: Path, samples: Samples) -> Attempt:
    """Ground truth and detections that come as folders of VOC, YOLO and comp4 files."""
    truth = random.choice(["voc", "yolo"])
    found = random.choice(["comp4", "yolo_found"]) if truth == "yolo" else "comp4"
    broken = random.choice([truth, found, found, "voc_wild"])
    for name in (truth, found, "voc_wild"):
        give_folder(random, folder, samples, name, damaged=name == broken)
    known = ["--known-gt", truth]
    if random.random() < 0.15:
        return Attempt(["detect", "split", truth, "--hide", "dog", "--out", "out/split"])
    if found == "yolo_found" or random.random() < 0.2:
        words = ["detect", "threshold", *known, "--known-dt", found, "--rule", "recall=0.3", "--out", "out/t.json"]
        return Attempt([*words, "--json", "out/r.json"])
    wild = ["--wild-gt", "voc_wild", "--dt", found, "--bootstrap", "2", "--json", "out/r.json"]
    lenient = ["--allow-extra-images"] if random.random() < 0.3 else []
    return Attempt(["detect", "evaluate", *known, *wild, *lenient, *written(random)])


def hierarchy(random: Random, folder: Path, samples: Samples) -> Attempt:
    """A protocol made from a hierarchy of classes."""
    broken = random.choice(["hierarchy.csv", "hierarchy.csv", "kinds.txt"])
    tree = give(random, folder, samples, "hierarchy.csv", damaged=broken == "hierarchy.csv")
    words = ["protocols", "make", "out/p.yaml", "--data", random.choice(["photos", "..", "/", "digits"])]
    words += [
        "--hierarchy",
        tree,
        "--known",
        "animal",
        "--unknown",
        random.choice(["thing", "bird", "car", "", "\x1b["]),
    ]
    if broken == "kinds.txt" or random.random() < 0.3:
        words += ["--classes", give(random, folder, samples, "kinds.txt", damaged=broken == "kinds.txt")]
    if random.random() < 0.2:
        words += ["--divide", random.choice(["animal=known,negative", "animal=", "=", "animal", "x=known", "a=b=c"])]
    return Attempt([*words, "--json", "out/r.json"])


def watched_log(random: Random, folder: Path, samples: Samples) -> Attempt:
    """The fraction of unknowns over time."""
    broken = random.choice(["log", "log", "log", "threshold", "option"])
    log = give(random, folder, samples, "log.csv", damaged=broken == "log")
    threshold = give(random, folder, samples, "threshold.json", damaged=broken == "threshold")
    words = ["watch", threshold, log, "--force", "--json", "out/r.json"]
    if random.random() < 0.6:
        words += ["--time", "seen_at", "--every", random.choice(["1d", "1h", "12h"])]
    if broken == "option":
        options = {
            "--every": ["1d", "0d", "-1d", "x", "", "1y", "99999999999d", "1ns", "1mo", "1d1h", "1i"],
            "--window": ["1", "3", "0", "-1", "9" * 18, "x"],
            "--alpha": ["0", "1", "nan", "1e-300", "0.5", "-1"],
            "--unknown-share": ["0", "1", "nan", "0.99999999", "-1", "x"],
            "--time": ["unknown_score", "prediction", "nope", "", "\x1b[31m"],
        }
        option = random.choice(list(options))
        words += [option, random.choice(options[option])]
    words += ["--report", "out/r.html"] if random.random() < 0.2 else []
    return Attempt(words)


FOLDER_KINDS = {rows_in_parts: 5.0, detection_folder: 7.0, hierarchy: 2.0, watched_log: 4.0}
