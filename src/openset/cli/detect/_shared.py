"""What the commands on detectors have in common: options and reading."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from openset.cli._console import console
from openset.errors import OpenSetError

if TYPE_CHECKING:
    from openset.detection.measure.sets import OpenSetData

KnownGt = Annotated[
    Path, typer.Option(help="Ground truth of images with known objects: COCO json, VOC or YOLO folder.")
]
WildGt = Annotated[Path, typer.Option(help="Ground truth of wild images, which show no known object.")]
KnownDt = Annotated[Path | None, typer.Option(help="Results on the known images: COCO json or a folder.")]
WildDt = Annotated[Path | None, typer.Option(help="Results on the wild images, in the known class ids.")]
BothDt = Annotated[Path | None, typer.Option(help="One results file for known and wild images, instead of two.")]
Matching = Annotated[
    str, typer.Option(help="How detections are matched: voc, coco, or agnostic (as the paper's program).")
]
Iou = Annotated[float, typer.Option(help="IoU from which a detection is correct.")]
MaxDetections = Annotated[
    int | None,
    typer.Option(min=1, help="Keep so many detections of an image and class (COCO's maxDets: 100).  [default: all]"),
]
Recall = Annotated[
    list[float] | None,
    typer.Option(help="Recall of the operating point; may be repeated.  [default: 0.1 0.3 0.5]"),
]
Bootstrap = Annotated[int, typer.Option(min=0, help="Draws of images for the 95 % intervals of AWI; 0 for none.")]
Seed = Annotated[int, typer.Option(min=0, help="Seed of the bootstrap.")]
ExtraImages = Annotated[bool, typer.Option("--allow-extra-images", help="Leave out results on other images.")]
OtherClasses = Annotated[bool, typer.Option("--drop-other-classes", help="Leave out results of other classes.")]
Classes = Annotated[
    Path | None,
    typer.Option(
        help="Names of the detector's classes by its own numbers, where those are not the ids of the known ground "
        "truth: one per line, from 0, or a JSON list with ids."
    ),
]
Force = Annotated[
    bool,
    typer.Option(
        "--force", help="Apply frozen thresholds although they were chosen with other --matching, --iou or limits."
    ),
]


@contextmanager
def stages() -> Iterator[Callable[[str, float], None]]:
    """A progress bar on a terminal, nothing elsewhere; call it with what is being done and how far it is."""
    from rich.progress import Progress

    from openset._io.terminal import make_console

    watching = make_console(stderr=True)
    with Progress(console=watching, transient=True, disable=not watching.is_terminal) as bar:
        task = bar.add_task("", total=1.0)
        yield lambda what, done: bar.update(task, description=what, completed=done)


def say(*sentences: str) -> None:
    """Print sentences as they are."""
    out = console()
    for sentence in sentences:
        out.print(sentence, markup=False, highlight=False, soft_wrap=True)


def noted(*data: "OpenSetData") -> list[str]:
    """What a reader should know about the files of one or more detectors, in sentences to say."""
    return [f"Note: {note}." for note in dict.fromkeys(note for one in data for note in one.notes)]


def load_data(
    known_gt: Path,
    known_dt: Path | None,
    wild_gt: Path | None,
    wild_dt: Path | None,
    dt: Path | None,
    *,
    allow_extra_images: bool,
    drop_other_classes: bool,
    fully_annotated: bool = False,
    classes: Path | None = None,
) -> "OpenSetData":
    """The ground truths and results that a user named."""
    from openset.detection.measure.sets import load

    lenient: dict[str, Any] = {
        "allow_extra_images": allow_extra_images,
        "drop_other_classes": drop_other_classes,
        "fully_annotated": fully_annotated,
        "classes": classes,
    }
    if dt is not None and (known_dt is not None or wild_dt is not None):
        raise OpenSetError("Give either --dt, for both kinds of image, or --known-dt and --wild-dt.")
    if dt is not None:
        return load(known_gt, dt, wild_gt, **lenient)
    if known_dt is None or (wild_gt is not None and wild_dt is None):
        raise OpenSetError("Give --known-dt and --wild-dt, or one results file for both with --dt.")
    if wild_gt is None and wild_dt is not None:
        raise OpenSetError("--wild-dt needs --wild-gt, which says what the wild images are.")
    return load(known_gt, known_dt, wild_gt, wild_dt, **lenient)
