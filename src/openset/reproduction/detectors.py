"""Detectors to evaluate at each scale: simulated, a real one on hidden classes, or the user's own results."""

from collections.abc import Sequence
from pathlib import Path

from openset.detection.measure.evaluation import OpenSetEvaluation, evaluate_data
from openset.detection.measure.sets import OpenSetData, load
from openset.detection.read.coco import read_ground_truth
from openset.detection.split import split_classes, write_split
from openset.errors import OpenSetError
from openset.reproduction.options import Detector, Options
from openset.reproduction.simulated import simulate

ANIMALS = ("bird", "cat", "cow", "dog", "horse", "sheep")
SOME_ANIMALS = ("bird", "cow", "sheep")
_NOTES = {
    "smoke": "The detectors are simulated and the images do not exist: this shows that every step runs, and nothing "
    "about real detectors.",
    "cpu": "A real YOLOv2 on PASCAL VOC 2007 test, with some animals declared unknown: images that show only those "
    "are wild, and detections of those classes are left out. This detector was trained on the animals, so the figures "
    "are not those of a detector that never saw them. At most 0.25 wild images per known one, not 4.6.",
    "paper": "Evaluated from the given results, nothing is trained. The figures hold only if the detector never saw "
    "the wild classes in training, not even without labels.",
}


def note_on(options: Options) -> str:
    """What the figures are worth: those of detectors that were given are real at every scale."""
    return _NOTES["paper" if options.detectors else options.scale]


def data_of(options: Options, *, hidden: Sequence[str] = ANIMALS) -> dict[str, OpenSetData]:
    """Results of each detector, read and checked."""
    return {
        name: load(one.known_gt, one.known_dt, one.wild_gt, one.wild_dt)
        for name, one in _files(options, hidden).items()
    }


def evaluations(
    options: Options, *, recalls: Sequence[float] = (0.1, 0.3, 0.5), hidden: Sequence[str] = ANIMALS
) -> dict[str, OpenSetEvaluation]:
    """Everything about each detector."""
    n = 0 if options.scale == "smoke" else 300
    return {
        name: evaluate_data(data, recalls=recalls, bootstrap=n)
        for name, data in data_of(options, hidden=hidden).items()
    }


def _files(options: Options, hidden: Sequence[str]) -> dict[str, Detector]:
    if options.detectors:
        return dict(options.detectors)
    if options.scale == "smoke":
        return simulate(options.out / "simulated")
    if options.scale == "paper":
        raise OpenSetError(
            "Scale paper evaluates your detectors: give --known-gt, --wild-gt, and --known-dt with --wild-dt (or --dt) "
            "as NAME=FILE, where faster-rcnn, retinanet, yolov2, mask-rcnn and dropout are names of published ones."
        )
    return {"yolov2": _hidden_classes(options, hidden)}


def _hidden_classes(options: Options, hidden: Sequence[str]) -> Detector:
    """The real detector's results, divided into known and wild images.

    They are divided anew each time: it takes seconds, and what an earlier run left may come from other files.
    """
    from openset.data.place import data_root

    here = data_root(options.data_root) / "detection"
    truth_file, results = here / "voc2007_test.json.gz", here / "voc2007_test_yolov2.json.gz"
    for file in (truth_file, results):
        if not file.exists():
            raise OpenSetError(
                f"There is no {file}: put VOC 2007 test as COCO json and a detector's results there (OPENSET_DATA or "
                "--data-root name the folder above), or give your own files with --known-gt, --wild-gt and --dt."
            )
    folder: Path = options.out / "detection" / ("hidden-" + "-".join(hidden))
    truth = read_ground_truth(truth_file)
    known = [name for name in truth.class_names if name not in hidden]
    write_split(split_classes(truth, known), truth, results, folder)
    return Detector(*(folder / f"{name}.json" for name in ("known", "wild", "known_dt", "wild_dt")))
