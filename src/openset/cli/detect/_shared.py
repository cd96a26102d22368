"""What the commands on detectors have in common: options, reading, and how they speak."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from openset.errors import OpenSetError

if TYPE_CHECKING:
    from openset.detection.measure.sets import OpenSetData

KnownGt = Annotated[
    Path, typer.Option(help="Ground truth of images with known objects: COCO json, VOC or YOLO folder.")
]
WildGt = Annotated[Path, typer.Option(help="Ground truth of wild images, which show no known object.")]
KnownDt = Annotated[Path | None, typer.Option(help="COCO results on the known images.")]
WildDt = Annotated[Path | None, typer.Option(help="COCO results on the wild images, in the known class ids.")]
BothDt = Annotated[Path | None, typer.Option(help="One results file for known and wild images, instead of two.")]
Rule = Annotated[str, typer.Option(help="Matching: voc, coco, or agnostic (as the paper's program).")]
Iou = Annotated[float, typer.Option(help="IoU from which a detection is correct.")]
Recall = Annotated[
    list[float] | None,
    typer.Option(help="Recall of the operating point; may be repeated.  [default: 0.1 0.3 0.5]"),
]
Bootstrap = Annotated[int, typer.Option(min=0, help="Replicates over images for 95 % intervals; 0 for none.")]
Seed = Annotated[int, typer.Option(min=0, help="Seed of the bootstrap.")]
ExtraImages = Annotated[bool, typer.Option("--allow-extra-images", help="Leave out results on other images.")]
OtherClasses = Annotated[bool, typer.Option("--drop-other-classes", help="Leave out results of other classes.")]
JsonOut = Annotated[Path | None, typer.Option("--json", help="Write everything as JSON.")]


@contextmanager
def busy(what: str) -> Iterator[None]:
    """A spinner on a terminal, nothing elsewhere."""
    from openset._io.terminal import make_console

    console = make_console(stderr=True)
    if console.is_terminal:
        with console.status(what):
            yield
    else:
        yield


@contextmanager
def progress() -> Iterator[Callable[[str, float], None]]:
    """A progress bar on a terminal, nothing elsewhere; call it with what is being done and how far it is."""
    from rich.progress import Progress

    from openset._io.terminal import make_console

    console = make_console(stderr=True)
    with Progress(console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task("", total=1.0)
        yield lambda what, share: bar.update(task, description=what, completed=share)


def say(*things: Any) -> None:
    """Tables and sentences; wide enough for the tables when the output is not a terminal."""
    from openset._io.terminal import make_console

    console = make_console(width=None if make_console().is_terminal else 160, highlight=False)
    for thing in things:
        if isinstance(thing, str):
            console.print(thing, markup=False, soft_wrap=True)
        else:
            console.print(thing)
            console.print()


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
) -> "OpenSetData":
    from openset.detection.measure.sets import load

    lenient = {"allow_extra_images": allow_extra_images, "drop_other_classes": drop_other_classes}
    if dt is not None and (known_dt is not None or wild_dt is not None):
        raise OpenSetError("Give either --dt, for both kinds of image, or --known-dt and --wild-dt.")
    if dt is not None:
        return load(known_gt, dt, wild_gt, **lenient)
    if known_dt is None or (wild_gt is not None and wild_dt is None):
        raise OpenSetError("Give --known-dt and --wild-dt, or one results file for both with --dt.")
    if wild_gt is None and wild_dt is not None:
        raise OpenSetError("--wild-dt needs --wild-gt, which says what the wild images are.")
    return load(known_gt, known_dt, wild_gt, wild_dt, **lenient)
