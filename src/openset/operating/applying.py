"""A frozen threshold applied to files without labels, some rows at a time: a class or "unknown" for each sample."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from openset._io.score_files import naming
from openset._io.score_stream import Batch, ScoreStream, open_stream
from openset._io.table_sinks import write_batches
from openset.errors import OpenSetError
from openset.operating.decisions import Decider, Decisions
from openset.operating.notes import notes_on_unlabelled
from openset.operating.origin import Origin
from openset.operating.rates import Rate

if TYPE_CHECKING:
    import polars as pl

    Schema = dict[str, "type[pl.DataType]"]

SCHEMA = 1
Progress = Callable[[int], object]


@dataclass
class FileDecisions:
    """What was decided about one file, in numbers."""

    file: str
    n: int = 0
    n_unknown: int = 0
    by_class: dict[str, int] = field(default_factory=dict)
    """Accepted samples of each class, most first once all are counted."""
    origin: Origin = field(default_factory=Origin)

    @property
    def unknown(self) -> Rate:
        """The fraction of unknowns with its exact interval."""
        return Rate("unknown", "all", self.n_unknown, self.n)

    def count(self, found: Decisions) -> None:
        """Add some rows."""
        *accepted, rejected = found.counts().tolist()
        self.n += len(found)
        self.n_unknown += rejected
        for name, count in zip(found.class_names, accepted, strict=True):
            if count:
                self.by_class[name] = self.by_class.get(name, 0) + count

    def as_json(self) -> dict[str, Any]:
        """Ready for JSON."""
        ordered = dict(sorted(self.by_class.items(), key=lambda item: -item[1]))
        origin = {**self.origin.as_json(), "classes": None if self.origin.classes is None else len(self.origin.classes)}
        return {
            "file": self.file,
            "n": self.n,
            "unknown": self.unknown.as_json(),
            "accepted": ordered,
            "origin": origin,
        }


@dataclass(frozen=True)
class Applied:
    """What was decided about some files."""

    files: tuple[FileDecisions, ...]
    notes: tuple[str, ...]
    first: "pl.DataFrame"
    """The first rows, to be shown."""

    @property
    def n(self) -> int:
        """Samples in all files."""
        return sum(one.n for one in self.files)

    @property
    def unknown(self) -> Rate:
        """The fraction of unknowns in all files."""
        return Rate("unknown", "all", sum(one.n_unknown for one in self.files), self.n)

    def as_json(self) -> dict[str, Any]:
        """Ready for JSON."""
        return {
            "n": self.n,
            "unknown": self.unknown.as_json(),
            "files": [one.as_json() for one in self.files],
            "notes": list(self.notes),
        }


def decide_files(
    decider: Decider, streams: Sequence[ScoreStream], *, beside: Sequence[str] = (), progress: Progress | None = None
) -> Iterator[tuple[ScoreStream, Batch, Decisions, Origin]]:
    """Decisions on all files, row by row in their order, some rows at a time; errors name the file."""
    _check_once([Path(stream.file) for stream in streams])
    parts = [decider.needed(stream.parts, stream.file) for stream in streams]  # all are looked at before the work
    for stream, wanted in zip(streams, parts, strict=True):
        for batch in stream.batches(wanted, beside):
            try:
                found, origin = decider.decide(batch, str(stream.file))
            except OpenSetError as error:
                raise naming(stream.file, error) from error
            yield stream, batch, found, origin
            if progress is not None:
                progress(len(found))


def _check_once(files: Sequence[Path]) -> None:
    """Refuse a file that is given twice, or that a pattern finds again: its samples would count twice."""
    seen: set[Path] = set()
    for file in files:
        if file.resolve() in seen:
            raise OpenSetError(f"{file} is given twice, and each of its samples would count twice: give it once.")
        seen.add(file.resolve())


def apply_to_files(
    decider: Decider,
    files: Sequence[str | Path],
    out: str | Path | None = None,
    *,
    shown: int = 0,
    progress: Progress | None = None,
) -> Applied:
    """Decide about every sample of the files, and write the decisions to `out` where it is given.

    The file has the columns id (the row's number where a file has no ids), decision (class or "unknown"), prediction
    (best known class), unknown_score and margin (threshold minus unknown score: below 0 where a sample is rejected);
    with several files also `file`. It is CSV, TSV, Parquet or JSON by its ending. `shown` rows are kept to be shown.
    """
    import polars as pl

    if not files:
        raise OpenSetError("Give at least one file of scores or outputs.")
    streams = [open_stream(file) for file in files]
    named = any("ids" in stream.parts for stream in streams)
    single = all(stream.single and decider.score is None for stream in streams)
    schema = _schema(several=len(files) > 1, named=named, single=single)
    counted: dict[str, FileDecisions] = {}
    first: list[pl.DataFrame] = []

    def tables() -> "Iterator[pl.DataFrame]":
        for stream, batch, found, origin in decide_files(decider, streams, progress=progress):
            decided = counted.setdefault(str(stream.file), FileDecisions(str(stream.file)))
            decided.origin = origin
            decided.count(found)
            wanted = sum(one.height for one in first) < shown
            if not wanted and out is None:
                continue
            table = _table(batch, found, str(stream.file), schema)
            if wanted:
                first.append(table.head(shown))
            yield table

    if out is None:
        for _ in tables():
            pass
    else:
        metadata = {"schema": SCHEMA, "threshold": decider.threshold.as_json(), "files": [str(file) for file in files]}
        write_batches(out, tables(), schema, name="decisions", metadata=metadata)
    found = tuple(counted.values())
    return Applied(
        found, tuple(notes_on_files(decider, found)), pl.concat(first).head(shown) if first else pl.DataFrame()
    )


def _schema(*, several: bool, named: bool, single: bool) -> "Schema":
    import polars as pl

    number = pl.Float32 if single else pl.Float64
    return {
        **({"file": pl.String} if several else {}),
        "id": pl.String if named else pl.Int64,
        "decision": pl.Categorical,
        "prediction": pl.Categorical,
        "unknown_score": number,
        "margin": number,
    }


def _table(batch: Batch, found: Decisions, file: str, schema: "Schema") -> "pl.DataFrame":
    import polars as pl

    table = found.to_frame(pl.Series(batch.rows) if batch.ids is None else batch.ids)
    if "file" in schema:
        table = table.with_columns(file=pl.lit(file))
    return table.select(pl.col(name).cast(kind) if table[name].dtype != kind else name for name, kind in schema.items())


def notes_on_files(decider: Decider, files: Sequence[FileDecisions]) -> list[str]:
    """What to know before relying on the decisions."""
    found = list(decider.threshold.notes)
    for one in files:
        own = [*decider.threshold.origin.notes_for(one.origin), *notes_on_unlabelled(one.n_unknown, one.n)]
        found += [f"{one.file}: {note}" for note in own]
    return found
