"""Files that are many rows of one model: the options, the choice between exact values and bounds, the progress."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from openset.cli._console import Reading, progress, say
from openset.cli._evaluated import Models, read_models
from openset.cli._splits import name_files
from openset.errors import OpenSetError

if TYPE_CHECKING:
    from openset.evaluation import Also, Evaluation
    from openset.scale.source import Source
    from openset.scores import Scores

EngineOption = Annotated[
    str | None,
    typer.Option("--engine", help="What counts many rows: local (all cores) or ray (RAY_ADDRESS, or this machine)."),
]
BoundsOption = Annotated[
    bool, typer.Option("--bounds", help="Many rows: read them once; tell what each value surely lies between.")
]
ExactOption = Annotated[
    bool, typer.Option("--exact", help="Many rows: exact values, also of very many; takes disk in --temp.")
]
TempOption = Annotated[
    Path | None,
    typer.Option("--temp", help="Folder for temporary files; finished parts stay there if the command is stopped."),
]
_ROW = 24
"""Bytes of a row in memory: label, prediction, score."""


@dataclass(frozen=True)
class Scale:
    """How many rows are to be evaluated."""

    engine: str | None = None
    bounds: bool = False
    exact: bool = False
    temp: Path | None = None

    def __post_init__(self) -> None:
        if self.bounds and self.exact:
            raise OpenSetError("--bounds and --exact exclude each other: leave one out.")
        if self.engine is not None:
            from openset.scale.engines import ENGINES

            ENGINES[self.engine]

    @property
    def asked(self) -> bool:
        """Whether an option asks for it."""
        return self.engine is not None or self.bounds or self.exact

    def open(self, text: str) -> "Source | None":
        """Files that are one model's many rows; None: a file that is read as ever."""
        from openset._io.parquet_files import is_many
        from openset.scale.source import open_source

        return open_source(text) if self.asked or is_many(text) else None

    def read_models(
        self, files: Sequence[str], reading: Reading, tune: Path | None, seed: int
    ) -> "tuple[Models, list[Scores | None], dict[int, Source]]":
        """What is to be evaluated; of each its scores, or None and, by its place, the files that are to be counted."""
        paths, sources = [Path(file) for file in files], [self.open(file) for file in files]
        if not any(sources):
            found = read_models(paths, reading, tune, seed)
            return found, list(found.scores), {}
        if tune is not None or reading != Reading(background=reading.background):
            raise OpenSetError("--score, --fit, --tune and labels as words are for single files: score the rows first.")
        models = [self.read(path, source, reading) for path, source in zip(paths, sources, strict=True)]
        counted = {
            place: source
            for place, (source, scores) in enumerate(zip(sources, models, strict=True))
            if source is not None and scores is None
        }
        return Models(name_files(paths), paths, []), models, counted

    def read(self, path: Path, source: "Source | None", reading: Reading) -> "Scores | None":
        """The rows in memory, where they are few enough and nothing else is asked for; None: they are to be counted."""
        from openset.evaluation import LARGE

        if source is None:
            return reading.read(path)
        counted = self.bounds or self.engine == "ray" or source.n_rows >= LARGE
        return None if counted else read_all(source)

    def evaluate(
        self,
        source: "Source",
        *,
        against: Sequence[str] | None,
        also: "Sequence[Also]",
        intervals: bool,
        n_resamples: int | None,
        seed: int,
    ) -> "Evaluation":
        """Every metric, with a line that says how, and progress."""
        from openset.scale.evaluation import MOST_EXACT, evaluate_source, mode_for, steps_for

        mode = "bounds" if self.bounds else "exact" if self.exact else mode_for(source.n_rows)
        how = {
            "exact": "exact values in two passes",
            "bounds": "bounds in one pass, which each value surely lies between",
        }[mode]
        hint = ""
        if not self.bounds and not self.exact:
            hint = {
                "exact": f" (up to {MOST_EXACT:,} rows; --bounds is quicker)",
                "bounds": f" (more than {MOST_EXACT:,} rows; --exact takes about four times as long)",
            }[mode]
        n_files = len(source.files)
        say(f"{source.name}: {source.n_rows:,} rows in {n_files:,} file{'s' * (n_files > 1)}; {how}{hint}.", err=True)
        with progress("Counting rows", source.n_rows * steps_for(mode), unit="rows") as advance:
            return evaluate_source(
                source,
                against=against,
                also=also,
                mode=mode,
                intervals=intervals,
                n_resamples=n_resamples,
                seed=seed,
                engine=self.engine or "local",
                temp=self.temp,
                progress=advance,
            )


def read_one(text: str, reading: Reading) -> "Scores":
    """One model's rows in memory: of a file, or of all files of a folder, a pattern or an address."""
    from openset._io.parquet_files import is_many
    from openset.scale.source import open_source

    if not is_many(text):
        return reading.read(Path(text))
    if reading != Reading():
        raise OpenSetError(f"{text}: --score, --fit and labels as words are for single files: score the rows first.")
    return read_all(open_source(text))


def found_files(texts: Sequence[str]) -> list[Path]:
    """Files by their names, and all files of folders and patterns."""
    from openset._io.parquet_files import files_of, is_address, is_many

    for text in texts:
        if is_address(text):
            raise OpenSetError(f"{text}: this command reads files on this machine alone; copy them here first.")
    return [Path(file) for text in texts for file in (files_of(text).find(text) if is_many(text) else [text])]


def read_all(source: "Source") -> "Scores":
    """All rows of few enough files, in memory."""
    import numpy as np

    from openset._io.room import check_room
    from openset.scale.source import read_rows
    from openset.scores import Scores

    check_room(Path(source.name), "Parquet", source.n_rows * _ROW)
    parts = [read_rows(part, source) for part in source.parts]
    groups = None
    if parts[0].group is not None:
        groups = np.concatenate([np.array(one.names)[one.group] for one in parts])
    try:
        return Scores(
            np.concatenate([one.label for one in parts]),
            np.concatenate([one.prediction for one in parts]),
            np.concatenate([one.score for one in parts]),
            class_names=source.class_names,
            groups=groups,
            meta=source.meta,
        )
    except OpenSetError as error:
        raise OpenSetError(f"{source.name}: {error}") from error
