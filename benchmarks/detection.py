"""Speed and memory of the open-set evaluation beside the plain mAP of public tools, on the same data in the same run.

    python benchmarks/detection.py                 # 27,960 images, 10 k and 100 k, scaling, reading 200 MB
    python benchmarks/detection.py --images 27960  # one size
    python benchmarks/detection.py --images 27960 --tools openset faster-coco-eval   # those whose names begin so
    python benchmarks/detection.py --bootstrap     # what 1,000 draws of images add
    python benchmarks/detection.py --reading       # scaling and reading only

Ours is the full evaluation (3 recalls, all wilderness ratios, errors, confusion, OWOD's metrics, three mAPs), without
and with 1,000 draws of the bootstrap. Theirs is mAP: as they do it by default, over ten IoUs and four ranges of area,
and doing the same work as ours, one IoU and all areas. All times are after imports and reading. Each runs in a process
of its own, so that peak memory (of that process, reading included) is its own. Data are simulated: some 4 detections
per image, of 20 classes, near the objects or anywhere; of 27,960 images 4,952 are known, as in the paper, the rest
wild.
"""

import argparse
import contextlib
import io
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

SHARE_KNOWN = 4952 / 27960  # as in the paper: 4,952 known and 23,008 wild images
TOOLS = (
    "openset",
    "openset, bootstrap",
    "faster-coco-eval, one IoU",
    "faster-coco-eval",
    "pycocotools, one IoU",
    "pycocotools",
    "tide",
)


def simulate(n_images: int, folder: Path, per_image: float, seed: int = 0) -> None:
    """COCO files for known and wild images, and both in one for the tools that know no wild images."""
    random = np.random.default_rng(seed)
    n_known = round(n_images * SHARE_KNOWN)
    categories = [{"id": i, "name": f"known {i}"} for i in range(1, 21)]
    other = [{"id": i, "name": f"wild {i}"} for i in range(1, 61)]
    n_objects = {"known": round(3.0 * n_known), "wild": round(4.0 * (n_images - n_known))}
    first, results, known_objects = {"known": 0, "wild": n_known}, {}, []
    for kind, n in (("known", n_known), ("wild", n_images - n_known)):
        ids = np.arange(first[kind], first[kind] + n) + 1
        images = [{"id": int(i), "width": 640, "height": 480, "file_name": f"{i}.jpg"} for i in ids]
        owner = random.choice(ids, n_objects[kind])
        corner, size = (random.uniform(*span, (n_objects[kind], 2)) for span in ((0, 400), (20, 200)))
        box = np.column_stack([corner, size])
        label = random.integers(1, 21 if kind == "known" else 61, n_objects[kind])
        objects = [
            {"id": i + 1, "image_id": int(owner[i]), "category_id": int(label[i]), "bbox": box[i].round(2).tolist(),
             "area": float(box[i, 2] * box[i, 3]), "iscrowd": 0}
            for i in range(n_objects[kind])
        ]  # fmt: skip
        m = round(per_image * n)
        like = np.arange(m) % n_objects[kind]
        near = random.random(m) < (0.8 if kind == "known" else 0.2)
        moved = box[like] + np.tile(size[like], 2) * random.normal(0, 0.07, (m, 4))
        place = np.where(near[:, None], moved, random.uniform(20, 300, (m, 4)))
        right = near & (random.random(m) < 0.8) & (kind == "known")
        claim = np.where(right, label[like], random.integers(1, 21, m))
        score = np.clip(random.beta(2, 5, m) + 0.4 * right, 0, 1)
        image = np.where(near, owner[like], random.choice(ids, m))
        results[kind] = [
            {"image_id": int(image[i]), "category_id": int(claim[i]), "bbox": np.abs(place[i]).round(2).tolist(),
             "score": round(float(score[i]), 6)}
            for i in range(m)
        ]  # fmt: skip
        names = categories if kind == "known" else other
        content = {"images": images, "annotations": objects, "categories": names}
        (folder / f"{kind}_gt.json").write_text(json.dumps(content))
        (folder / f"{kind}_dt.json").write_text(json.dumps(results[kind]))
        known_objects += objects if kind == "known" else []
    images = [{"id": i + 1, "width": 640, "height": 480, "file_name": f"{i}.jpg"} for i in range(n_images)]
    both = {"images": images, "annotations": known_objects, "categories": categories, "info": {}, "licenses": []}
    (folder / "both_gt.json").write_text(json.dumps(both))
    for one in known_objects:  # TIDE does not read boxes without an outline
        x, y, w, h = one["bbox"]
        one["segmentation"] = [[x, y, x + w, y, x + w, y + h, x, y + h]]
    (folder / "tide_gt.json").write_text(json.dumps(both))
    (folder / "both_dt.json").write_text(json.dumps(results["known"] + results["wild"]))


def run_openset(folder: Path, bootstrap: int) -> tuple[float, float]:
    """Reading and evaluation time of this package; what it imports at first use is imported before, as theirs is."""
    import scipy.special  # noqa: F401

    from openset.detection.measure.evaluation import evaluate_data
    from openset.detection.measure.sets import load

    start = time.perf_counter()
    data = load(*(folder / f"{name}.json" for name in ("known_gt", "known_dt", "wild_gt", "wild_dt")))
    read = time.perf_counter()
    result = evaluate_data(data, bootstrap=bootstrap)
    end = time.perf_counter()
    assert len(result.wilderness) == 3
    return read - start, end - read


def run_coco(folder: Path, module: str, *, one_iou: bool) -> tuple[float, float]:
    """The same for pycocotools or faster-coco-eval."""
    if module == "pycocotools":
        from pycocotools.coco import COCO
        from pycocotools.cocoeval import COCOeval as Evaluation
    else:
        from faster_coco_eval import COCO
        from faster_coco_eval import COCOeval_faster as Evaluation

    start = time.perf_counter()
    truth = COCO(str(folder / "both_gt.json"))
    found = truth.loadRes(str(folder / "both_dt.json"))
    read = time.perf_counter()
    evaluation = Evaluation(truth, found, "bbox")
    if one_iou:
        evaluation.params.iouThrs = np.array([0.5])
        evaluation.params.areaRng, evaluation.params.areaRngLbl = [[0, 1e10]], ["all"]
    evaluation.evaluate()
    evaluation.accumulate()
    return read - start, time.perf_counter() - read


def run_tide(folder: Path) -> tuple[float, float]:
    """The same for TIDE."""
    from tidecv import TIDE, datasets

    start = time.perf_counter()
    truth = datasets.COCO(str(folder / "tide_gt.json"))
    found = datasets.COCOResult(str(folder / "both_dt.json"))
    read = time.perf_counter()
    TIDE().evaluate(truth, found, mode=TIDE.BOX)
    return read - start, time.perf_counter() - read


def peak_megabytes() -> float:
    """The most memory this process had; `getrusage` would inherit the peak of the process that started it."""
    [line] = [line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmHWM")]
    return int(line.split()[1]) / 1024


def measure(tool: str, folder: Path) -> None:
    """Run one tool in this process and print what it took."""
    with contextlib.redirect_stdout(io.StringIO()):
        name, _, mode = tool.partition(", ")
        if name == "openset":
            reading, evaluating = run_openset(folder, 1000 if mode else 0)
        elif name == "tide":
            reading, evaluating = run_tide(folder)
        else:
            reading, evaluating = run_coco(folder, name, one_iou=bool(mode))
    peak = peak_megabytes()
    print(json.dumps({"reading": reading, "evaluating": evaluating, "peak": peak}))


def measure_reading(file: Path) -> None:
    """Time and peak memory of reading one results file."""
    from openset.detection import read_detections, read_ground_truth

    truth = read_ground_truth(file.parent / "both_gt.json")
    start = time.perf_counter()
    found = read_detections(file, truth)
    seconds = time.perf_counter() - start
    print(json.dumps({"seconds": seconds, "rows": len(found), "peak": peak_megabytes()}))


def child(*words: str) -> dict[str, float] | None:
    """Run this file in a process of its own; None if that fails."""
    run = subprocess.run([sys.executable, __file__, *words], capture_output=True, text=True, check=False)
    if run.returncode:
        print(f"  failed: {run.stderr.strip().splitlines()[-1] if run.stderr.strip() else 'no message'}")
        return None
    return dict(json.loads(run.stdout.strip().splitlines()[-1]))


def compare(
    n_images: int, per_image: float, repeats: int, repeats_of_others: int, tools: list[str]
) -> dict[str, float]:
    """All tools on one simulated data set, each the best of some runs."""
    best: dict[str, float] = {}
    with tempfile.TemporaryDirectory() as name:
        simulate(n_images, Path(name), per_image)
        runs_said = f"best of {repeats}; others {repeats_of_others}"
        print(f"\n{n_images:,} images, {round(per_image * n_images):,} detections ({runs_said})")
        print(f"  {'tool':28}{'reading s':>10}{'evaluating s':>14}{'peak MB':>10}{'x ours':>8}")
        for tool in (one for one in TOOLS if one.startswith(tuple(tools))):
            times = repeats if tool.startswith("openset") else repeats_of_others
            runs = [run for _ in range(times) if (run := child("--tool", tool, "--folder", name))]
            if not runs:
                print(f"  {tool:28} did not run")
                continue
            least = {key: min(run[key] for run in runs) for key in runs[0]}
            best[tool] = least["evaluating"]
            ratio = least["evaluating"] / best.get("openset", float("nan"))
            print(f"  {tool:28}{least['reading']:10.2f}{least['evaluating']:14.2f}{least['peak']:10.0f}{ratio:8.1f}")
    return best


def scaling(n_images: int, per_image: float) -> None:
    """Ten times the data, both in this process and by turns, so that a busy machine disturbs both alike."""
    from openset.detection.measure.evaluation import evaluate_data
    from openset.detection.measure.sets import load

    data = []
    for n in (n_images, 10 * n_images):
        with tempfile.TemporaryDirectory() as name:
            simulate(n, Path(name), per_image)
            data.append(load(*(Path(name) / f"{part}.json" for part in ("known_gt", "known_dt", "wild_gt", "wild_dt"))))
    seconds: list[list[float]] = [[], []]
    for _ in range(5):
        for one, times in zip(data, seconds, strict=True):
            start = time.process_time()
            evaluate_data(one, bootstrap=0)
            times.append(time.process_time() - start)
    small, large = (min(times) for times in seconds)
    print(
        f"\n{n_images:,} images {small:.3f} s, {10 * n_images:,} images {large:.3f} s of processor time (best of 5): "
        f"10 x the data takes {large / small:.1f} x the time"
    )


def bootstrap(n_images: int, per_image: float) -> None:
    """With and without 1,000 draws of images, in this process and by turns."""
    from openset.detection.measure.evaluation import evaluate_data
    from openset.detection.measure.sets import load

    with tempfile.TemporaryDirectory() as name:
        simulate(n_images, Path(name), per_image)
        data = load(*(Path(name) / f"{part}.json" for part in ("known_gt", "known_dt", "wild_gt", "wild_dt")))
    evaluate_data(data, bootstrap=0)
    seconds: dict[int, list[float]] = {0: [], 1000: []}
    for _ in range(8):
        for n, times in seconds.items():
            start = time.process_time()
            evaluate_data(data, bootstrap=n)
            times.append(time.process_time() - start)
    without, drawn = (min(times) for times in seconds.values())
    print(
        f"\n{n_images:,} images {without:.3f} s, with 1,000 draws {drawn:.3f} s of processor time (best of 8): "
        f"{drawn / without:.1f} x"
    )


def reading(megabytes: int) -> None:
    """Reading a large results file: time, and memory as a multiple of the file."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        simulate(1000, folder, 3)
        rows = (folder / "both_dt.json").read_bytes()[1:-1]
        file = folder / "large.json"
        with file.open("wb") as stream:
            stream.write(b"[")
            stream.write(b", ".join([rows] * (megabytes * 10**6 // len(rows))))
            stream.write(b"]")
        size = file.stat().st_size / 1e6
        took = child("--read", str(file))
        if took:
            print(
                f"\nreading {size:.0f} MB of results ({took['rows']:,.0f} rows): {took['seconds']:.1f} s, peak "
                f"{took['peak']:.0f} MB, {took['peak'] * 1.048576 / size:.2f} x the file"
            )


def main() -> None:
    """Read the options and measure."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--images", type=int, help="one size only")
    parser.add_argument("--per-image", type=float, default=4.0, help="detections per image")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--tools", nargs="+", default=[""], help="only those whose names begin so")
    parser.add_argument("--bootstrap", action="store_true", help="with and without the bootstrap only")
    parser.add_argument("--reading", action="store_true", help="scaling and reading only")
    parser.add_argument("--tool", choices=TOOLS, help=argparse.SUPPRESS)
    parser.add_argument("--folder", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--read", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.tool:
        measure(options.tool, options.folder)
    elif options.read:
        measure_reading(options.read)
    elif options.bootstrap:
        bootstrap(27_960, options.per_image)
    elif options.reading:
        scaling(10_000, options.per_image)
        reading(200)
    elif options.images:
        compare(options.images, options.per_image, options.repeats, options.repeats, options.tools)
    else:
        compare(27_960, options.per_image, options.repeats, options.repeats, options.tools)
        compare(10_000, options.per_image, options.repeats, options.repeats, options.tools)
        compare(100_000, options.per_image, options.repeats, 1, options.tools)
        scaling(10_000, options.per_image)
        reading(200)


if __name__ == "__main__":
    main()
