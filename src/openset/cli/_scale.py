"""Files that are many rows of one model: the options, the choice between exact values and bounds, the progress."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from openset.cli._console import Reading, progress, say
from openset.cli._evaluated import Models, read_models
from openset.cli._splits import name_files
from openset.errors import OpenSetError

if TYPE_CHECKING:
    from openset.evaluation import Also, Evaluation
    from openset.intervals import Comparison
    from openset.operating import Rates, Threshold
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

    def read_one(self, text: str, reading: Reading) -> "Scores | Source":
        """One model's rows in memory, or the files of rows that are to be counted."""
        source = self.open(text)
        if source is not None and reading != Reading():
            raise OpenSetError(
                f"{text}: --score, --fit and labels as words are for single files: score the rows first."
            )
        return self.read(Path(text), source, reading) or source  # type: ignore[return-value]

    def compare(
        self,
        sources: "tuple[Source, Source]",
        metrics: "Sequence[tuple[str, Mapping[str, Any]]]",
        *,
        against: str,
        n_resamples: int | None,
        seed: int,
    ) -> "tuple[list[Comparison], list[Evaluation]]":
        """The differences of two models whose rows are counted, with a line that says how, and progress."""
        from openset.scale.comparison import COMPARING, compare_sources

        for source in sources:
            say(f"{_many(source)}; exact values in two passes, and one pass over the rows of both models.", err=True)
        with progress("Counting rows", sources[0].n_rows * COMPARING, unit="rows") as advance:
            return compare_sources(
                *sources,
                metrics,
                against=against,
                n_resamples=n_resamples,
                seed=seed,
                engine=self.engine or "local",
                temp=self.temp,
                progress=advance,
            )

    def read_pair(self, texts: Sequence[str], reading: Reading) -> "list[Scores] | tuple[Source, Source]":
        """Two models: both in memory, or both as files of rows that are to be counted."""
        from openset.scale.source import Source, open_source
        from openset.scores import Scores

        found = [self.read_one(text, reading) for text in texts]
        in_memory = [one for one in found if isinstance(one, Scores)]
        if len(in_memory) == len(found):
            return in_memory
        first, second = (
            one if isinstance(one, Source) else open_source(text) for one, text in zip(found, texts, strict=True)
        )
        return first, second

    def choose(self, rows: "Scores | Source", rule: str, against: str, unknown_share: float | None) -> "Threshold":
        """A threshold by a rule; of rows that are counted with a line that says how, and progress."""
        from openset.operating import choose
        from openset.scale.thresholds import CHOOSING, choose_from
        from openset.scores import Scores

        if isinstance(rows, Scores):
            return choose(rows, rule, against=against, unknown_share=unknown_share)
        say(f"{_many(rows)}; the exact threshold in two passes.", err=True)
        with progress("Counting rows", rows.n_rows * CHOOSING, unit="rows") as advance:
            return choose_from(
                rows,
                rule,
                against=against,
                unknown_share=unknown_share,
                engine=self.engine or "local",
                temp=self.temp,
                progress=advance,
            )

    def apply(self, rows: "Scores | Source", threshold: "Threshold", *, against: str, force: bool = False) -> "Rates":
        """What a threshold does to the rows."""
        from openset.scale.thresholds import apply_to
        from openset.scores import Scores

        if isinstance(rows, Scores):
            return threshold.apply(rows, against=against, force=force)
        engine = self.engine or "local"
        with progress("Deciding", rows.n_rows, unit="rows") as advance:
            return apply_to(rows, threshold, against=against, force=force, engine=engine, progress=advance)

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
        say(f"{_many(source)}; {how}{hint}.", err=True)
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


def _many(source: "Source") -> str:
    n_files = len(source.files)
    return f"{source.name}: {source.n_rows:,} rows in {n_files:,} file{'s' * (n_files > 1)}"


def in_memory(rows: "Mapping[Path, Scores | Source]") -> "dict[Path, Scores]":
    """Without the files that are counted."""
    from openset.scores import Scores

    return {file: one for file, one in rows.items() if isinstance(one, Scores)}


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
