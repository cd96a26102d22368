"""What the page of an evaluation shows beside results: frozen thresholds, and pictures or texts of samples."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from openset.errors import OpenSetError

if TYPE_CHECKING:
    from openset._io.sample_contents import SampleContents
    from openset.operating import Threshold
    from openset.scores import Scores

SamplesOption = Annotated[
    Path | None,
    typer.Option(
        "--samples",
        help="What the samples on the page look like, by their ids: a folder of images, or a table with the columns id "
        "and text (or image).",
    ),
]
FrozenOption = Annotated[
    Path | None,
    typer.Option(
        "--threshold",
        help="A threshold file to mark on the page; else the threshold.json of the run folder that a file lies in.",
    ),
]


def open_samples(path: Path | None) -> "SampleContents | None":
    """What the samples look like, if it was asked for."""
    from openset._io.sample_contents import open_contents

    return None if path is None else open_contents(path)


def frozen_thresholds(
    files: Sequence[Path], models: Sequence["Scores"], given: Path | None
) -> "list[Threshold | None]":
    """The threshold of each model: the one given, which must fit all, else the one beside its file, if it fits."""
    from openset.operating import Threshold

    if given is not None:
        threshold = Threshold.read(given)
        for scores in models:
            threshold.check(scores)
        return [threshold] * len(models)
    return [_beside(file, scores) for file, scores in zip(files, models, strict=True)]


def _beside(file: Path, scores: "Scores") -> "Threshold | None":
    from openset.operating import Threshold

    path = file.parent / "threshold.json"
    if not path.is_file():
        return None
    try:
        threshold = Threshold.read(path)
        threshold.check(scores)
    except OpenSetError:  # nobody asked for it
        return None
    return threshold
