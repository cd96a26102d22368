"""Which models a command evaluates: one per file, or one per file and score."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from openset.cli._console import Reading
from openset.cli._splits import name_files
from openset.errors import OpenSetError

if TYPE_CHECKING:
    from openset.posthoc import ScoreSpec
    from openset.scores import Scores


@dataclass(frozen=True)
class Models:
    """What is to be evaluated."""

    names: list[str]
    files: list[Path]
    """Where each was read from."""
    scores: "list[Scores]"
    several: bool = False
    """Whether they are several scores of the same outputs."""
    remarks: tuple[str, ...] = ()
    chosen: str | None = None
    """The score that validation data chose among several."""


def read_models(files: Sequence[Path], reading: Reading, tune: Path | None = None, seed: int = 0) -> Models:
    """The models of the files; `tune` is a file of validation outputs, on which parameters of scores are chosen."""
    from openset.scoring import asks_for_several

    if tune is None and not asks_for_several(reading.score):
        return Models(name_files(files), list(files), [reading.read(file) for file in files])
    return _several(files, reading, tune, seed)


def _several(files: Sequence[Path], reading: Reading, tune: Path | None, seed: int) -> Models:
    from openset.reading import read_fit
    from openset.scoring import score_file, tune_scores

    if reading.score is None:
        raise OpenSetError("--tune chooses parameters of scores: name one or several with --score, or --score all.")
    words = reading.words
    fit = None if reading.fit is None else read_fit(reading.fit, reading.background, words)
    scores: str | Sequence[ScoreSpec] = reading.score
    remarks: list[str] = []
    metadata = chosen = None
    if tune is not None:
        tuned = tune_scores(tune, reading.score, fit, background=reading.background, words=words, seed=seed)
        for file in files:
            tuned.check_other(file, words)
        scores, metadata = tuned.specs, tuned.metadata
        chosen = str(tuned.tuning.best)
        remarks.append(tuned.sentence)
        remarks += [f"{name} is left out: {why}" for name, why in tuned.failed.items()]
    names, given, models = [], [], []
    for file, called in zip(files, name_files(files), strict=True):
        found = score_file(file, scores, fit, background=reading.background, words=words, metadata=metadata)
        where = f" of {called}" if len(files) > 1 else ""
        for score, made in found.models.items():
            names.append(f"{score}{where}")
            given.append(file)
            models.append(made)
        remarks += [f"{called}: {note}" if where else note for note in found.remarks]
    return Models(names, given, models, len(models) > 1, tuple(remarks), chosen if chosen in names else None)
