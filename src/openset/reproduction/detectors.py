"""Detectors to evaluate at each scale: simulated, real ones on real wild images, or the user's own results."""

from collections.abc import Sequence
from pathlib import Path

from openset.data.place import data_root
from openset.detection.measure.evaluation import evaluate_data
from openset.detection.measure.result import OpenSetEvaluation
from openset.detection.measure.sets import OpenSetData, load
from openset.detection.read.coco import read_ground_truth
from openset.detection.split import split_classes, write_split
from openset.errors import OpenSetError
from openset.reproduction.options import Detector, Options
from openset.reproduction.simulated import simulate

ANIMALS = ("bird", "cat", "cow", "dog", "horse", "sheep")
SOME_ANIMALS = ("bird", "cow", "sheep")
HIDDEN = "yolov2, animals hidden"
"""What the detector is called whose wild images are those of hidden classes."""
_SIMULATED = """\
The detectors are simulated and the images do not exist: this shows that every step runs, and nothing about real ones.
"""
_HIDDEN = """\
A real YOLOv2 on PASCAL VOC 2007 test, with some animals declared unknown: images that show only those are wild, and
 detections of those classes are left out. This detector was trained on the animals, so the results are not those of a
 detector that never saw them. At most 0.25 wild images per known one, not 4.6; published values are of other data.
"""
_WILD = """\
Real detectors of the objectness family, trained on PASCAL VOC, meet real wild images: 2,500 images of VOC 2007 test and
 5,964 images of COCO train2017 that show no VOC class, so ratios go up to 2.3, not 4.6.
Nothing here can be compared with a published value. The detectors are far smaller than the paper's; every image was
 squashed to 256 x 256 pixels before detection; the known ones were rebuilt from drawings with boxes in them. All are
 one-stage detectors, so what the paper says of two-stage ones cannot be tested.
Only 74 of the wild images have annotated objects: elsewhere an unknown object and plain background cannot be told
 apart.
yolo-lite never saw the wild classes in training; the starting weights of fastest-v2 are unknown; nano-yolov3 began as a
 COCO detector, so it has seen them, and its results are too good.
"""
_OWN = """\
Evaluated from the given results, nothing is trained. The results hold only if the detector never saw the wild classes
 in training, not even without labels.
"""


def limits_of(options: Options) -> tuple[str, ...]:
    """What the results are worth, to be said before them: those of given detectors are real at every scale."""
    if options.detectors or options.scale == "paper":
        text = _OWN
    elif options.scale == "smoke":
        text = _SIMULATED
    else:
        text = _HIDDEN if _wild_folder(options) is None else _WILD
    return tuple(text.replace("\n ", " ").splitlines())


def data_of(options: Options, *, hidden: Sequence[str] = ANIMALS, with_hidden: bool = False) -> dict[str, OpenSetData]:
    """Results of each detector, read and checked.

    Without real wild images, those of `hidden` classes stand in for them; `with_hidden` adds these to the real ones.
    """
    return {
        name: load(one.known_gt, one.known_dt, one.wild_gt, one.wild_dt)
        for name, one in _files(options, hidden, with_hidden).items()
    }


def evaluations(
    options: Options,
    *,
    recalls: Sequence[float] = (0.1, 0.3, 0.5),
    hidden: Sequence[str] = ANIMALS,
    with_hidden: bool = False,
    variant: str = "paper",
    bootstrap: int = 300,
) -> dict[str, OpenSetEvaluation]:
    """Everything about each detector."""
    n = 0 if options.scale == "smoke" else bootstrap
    return {
        name: evaluate_data(data, recalls=recalls, variant=variant, bootstrap=n)
        for name, data in data_of(options, hidden=hidden, with_hidden=with_hidden).items()
    }


def _files(options: Options, hidden: Sequence[str], with_hidden: bool) -> dict[str, Detector]:
    if options.detectors:
        return dict(options.detectors)
    if options.scale == "smoke":
        return simulate(options.out / "simulated")
    if options.scale == "paper":
        raise OpenSetError(
            "Scale paper evaluates your detectors: give --known-gt, --wild-gt, and --known-dt with --wild-dt (or --dt) "
            "as NAME=FILE, where faster-rcnn, retinanet, yolov2, mask-rcnn and dropout are names of published ones."
        )
    folder, files = _wild_folder(options), _hidden_files(options)
    if folder is None and files is None:
        root = data_root(options.data_root)
        raise OpenSetError(
            f"There are no results of detectors: put known_gt.json.gz, wild_gt.json.gz, NAME_known.json.gz and "
            f"NAME_wild.json.gz into {root / 'wild'}, or voc2007_test.json.gz and voc2007_test_yolov2.json.gz into "
            f"{root / 'detection'} (OPENSET_DATA or --data-root name the folder above), or give your own files with "
            "--known-gt, --wild-gt and --dt."
        )
    found = {} if folder is None else _wild_files(folder)
    if files is not None and (folder is None or with_hidden):
        found[HIDDEN] = _hidden_classes(options, hidden, *files)
    return found


def _wild_folder(options: Options) -> Path | None:
    """Where ground truth and results on real wild images are."""
    root = data_root(options.data_root)
    places = (root / "wild", root / "detection" / "wild")
    return next((place for place in places if (place / "wild_gt.json.gz").is_file()), None)


def _wild_files(folder: Path) -> dict[str, Detector]:
    """Every detector with results on known and on wild images there."""
    truths = folder / "known_gt.json.gz", folder / "wild_gt.json.gz"
    found = {}
    for wild in sorted(folder.glob("*_wild.json.gz")):
        name = wild.name.removesuffix("_wild.json.gz")
        known = sorted(folder.glob(f"{name}_known*.json.gz"))
        if known:
            found[name] = Detector(*truths, known[0], wild)
    if not found:
        raise OpenSetError(f"{folder} has no results of a detector: NAME_known.json.gz and NAME_wild.json.gz.")
    return found


def _hidden_files(options: Options) -> tuple[Path, Path] | None:
    here = data_root(options.data_root) / "detection"
    files = here / "voc2007_test.json.gz", here / "voc2007_test_yolov2.json.gz"
    return files if all(file.is_file() for file in files) else None


def _hidden_classes(options: Options, hidden: Sequence[str], truth_file: Path, results: Path) -> Detector:
    """The real detector's results, divided into known and wild images.

    They are divided anew each time: it takes seconds, and what an earlier run left may come from other files.
    """
    folder: Path = options.out / "detection" / ("hidden-" + "-".join(hidden))
    truth = read_ground_truth(truth_file)
    known = [name for name in truth.class_names if name not in hidden]
    write_split(split_classes(truth, known), truth, results, folder)
    return Detector(*(folder / f"{name}.json" for name in ("known", "wild", "known_dt", "wild_dt")))
