"""Files of scores and of outputs, some rows at a time: the same files as in `score_files`, of any length.

Labels are not needed, and not read.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from openset._core import checks
from openset._core.labels import LabelWords
from openset._io.csv_layout import csv_layout
from openset._io.npz_rows import NpzRows
from openset._io.paths import existing
from openset._io.score_columns import BLOCKS, COLUMNS, ScoreColumns, Where, from_table
from openset._io.score_files import METADATA, columns_of, naming, parse_metadata, read_columns
from openset._io.tables import TableRows
from openset.errors import OpenSetError, did_you_mean

if TYPE_CHECKING:
    import polars as pl

_MOST_ROWS, _LEAST_ROWS, _CELLS = 2**17, 2**8, 2**22
"""Rows at a time: as many as hold so many numbers."""
_NO_WORDS = LabelWords()
_PARTS = {"prediction": "predictions", "unknown_score": "unknown_score", "id": "ids"}
_BLOCKS = {"prob": "probabilities", "logit": "logits", "feature": "features"}
_HEAD = ("weight", "bias", "class_names", METADATA)
PARTS = (*_PARTS.values(), *_BLOCKS.values())
"""What can be read of a file, row by row."""


@dataclass(frozen=True)
class Batch:
    """Some rows of a file."""

    columns: ScoreColumns
    """What they hold, but for the ids."""
    classes: tuple[str, ...] | None
    """Names of all known classes; None where only those that are predicted in these rows are told."""
    rows: NDArray[np.int64]
    """Their numbers in the file."""
    ids: "pl.Series | None" = None
    """As text."""
    beside: "Mapping[str, pl.Series]" = field(default_factory=dict)
    """Other columns that were asked for, as they stand in the file."""


class ScoreStream(Protocol):
    """A file that is read some rows at a time."""

    @property
    def file(self) -> Path:
        """Where it is."""
        ...

    @property
    def parts(self) -> frozenset[str]:
        """Which of `PARTS` it has."""
        ...

    @property
    def single(self) -> bool:
        """Whether its unknown scores are stored in single precision."""
        ...

    def batches(self, parts: Collection[str], beside: Sequence[str] = ()) -> Iterator[Batch]:
        """Rows in their order, with these parts and other columns; errors name the file."""
        ...


def open_stream(path: str | Path) -> ScoreStream:
    """A Parquet, CSV, TSV, NPZ or NPY file, to be read some rows at a time."""
    file = existing(path)
    kind = file.suffix.lower()
    if kind not in _STREAMS:
        ending = file.suffix or "a file without extension"
        raise OpenSetError(f"{file}: cannot read '{ending}'; use {', '.join(_STREAMS)}.")
    return _STREAMS[kind].open(file)


def _rows_at_a_time(width: int) -> int:
    return int(np.clip(_CELLS // max(1, width), _LEAST_ROWS, _MOST_ROWS))


# ---- tables ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Table:
    file: Path
    parts: frozenset[str]
    single: bool
    rows: TableRows
    class_names: tuple[str, ...] | None = None
    meta: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def open(cls, file: Path) -> "_Table":
        import polars as pl

        rows = TableRows.open(file, names=COLUMNS, prefixes=[f"{block}_" for block in BLOCKS])
        parts = {part for name in rows.kinds if (part := _part_of(name))}
        names: tuple[str, ...] | None = None
        meta: dict[str, Any] = {}
        if file.suffix.lower() == ".parquet":
            names, meta = parse_metadata(pl.read_parquet_metadata(file).get(METADATA, "{}"))
        return cls(file, frozenset(parts), rows.kinds.get("unknown_score") == pl.Float32, rows, names, meta)

    def batches(self, parts: Collection[str], beside: Sequence[str] = ()) -> Iterator[Batch]:
        for name in beside:
            if name not in self.rows.kinds:
                raise OpenSetError(f"{self.file} has no column '{name}'. {did_you_mean(name, self.rows.kinds)}")
        wanted = [name for name in self.rows.kinds if _part_of(name) in parts]
        start = 0
        for table in self.rows.batches(list(dict.fromkeys([*wanted, *beside])), _rows_at_a_time(len(wanted))):
            try:
                yield from self._batch(table, wanted, beside, start)
            except OpenSetError as error:
                raise naming(self.file, error) from error
            start += table.height

    def _batch(
        self, table: "pl.DataFrame", wanted: Sequence[str], beside: Sequence[str], start: int
    ) -> Iterator[Batch]:
        is_text = self.file.suffix.lower() != ".parquet"
        place = np.arange(start, start + table.height)
        if is_text:  # spreadsheets leave empty rows behind; the numbers of the others stay
            filled = _filled(table)
            table, place = table.filter(filled), place[filled.to_numpy()]
            if not table.height:
                return
        layout = csv_layout(self.file) if is_text else None

        def where(row: int) -> str:
            number = int(place[row])
            return checks.name_row(number) if layout is None else f"line {layout.line(number)}"

        columns = from_table(
            table.select([name for name in wanted if name != "id"]),
            where,
            words=_NO_WORDS,
            class_names=self.class_names,
            decimal_commas=layout is not None and layout.has_decimal_commas,
        )
        ids = _as_ids(table["id"]) if "id" in wanted else None
        others = {name: table[name] for name in beside}
        headed = columns.logits is not None or columns.probabilities is not None
        classes = columns.class_names if headed else self.class_names
        yield Batch(replace(columns, meta=dict(self.meta)), classes, place, ids, others)


def _part_of(name: str) -> str | None:
    block, sign, _ = name.partition("_")
    return _PARTS.get(name) or (_BLOCKS.get(block) if sign else None)


def _filled(table: "pl.DataFrame") -> "pl.Series":
    import polars as pl

    blank = pl.all_horizontal((pl.all().is_null()) | (pl.all().str.strip_chars() == ""))
    return table.select(~blank).to_series()


def _as_ids(column: "pl.Series") -> "pl.Series":
    import polars as pl

    if column.dtype.is_nested() or column.dtype in (pl.Binary, pl.Object):
        raise OpenSetError(f"column 'id' holds {column.dtype}; use text or numbers.")
    texts = column if column.dtype == pl.String else column.cast(pl.String)
    return texts.fill_null("") if texts.null_count() else texts


# ---- arrays ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Archive:
    file: Path
    parts: frozenset[str]
    single: bool
    rows: NpzRows

    @classmethod
    def open(cls, file: Path) -> "_Archive":
        rows = NpzRows.open(file)
        score = rows.arrays.get("unknown_score")
        single = score is not None and score.dtype in (np.float16, np.float32)
        return cls(file, frozenset(set(PARTS) & set(rows.arrays)), single, rows)

    def batches(self, parts: Collection[str], beside: Sequence[str] = ()) -> Iterator[Batch]:
        import polars as pl

        for name in beside:
            if name not in self.rows.arrays:
                raise OpenSetError(f"{self.file} has no array '{name}'. {did_you_mean(name, self.rows.arrays)}")
        head = self.rows.read(_HEAD)
        wanted = list(dict.fromkeys([*(part for part in PARTS if part in parts and part in self.parts), *beside]))
        width = sum(self.rows.arrays[name].row_size for name in wanted) // 4
        start = 0
        for arrays in self.rows.batches(wanted, _rows_at_a_time(width)):
            height = len(next(iter(arrays.values())))
            try:
                columns = columns_of({**head, **{n: a for n, a in arrays.items() if n != "ids"}}, _NO_WORDS)
                ids = pl.Series(checks.as_text("ids", arrays["ids"])) if "ids" in arrays else None
                others = {name: pl.Series(arrays[name]) for name in beside}
            except OpenSetError as error:
                raise naming(self.file, error) from error
            columns = replace(columns, where=_counting_from(start))
            named = {"class_names", METADATA} & set(head)
            yield Batch(columns, columns.class_names if named else None, np.arange(start, start + height), ids, others)
            start += height


def _counting_from(start: int) -> Where:
    return lambda row: checks.name_row(start + row)


@dataclass(frozen=True)
class _Single:
    """One array, with the label in its first column: short enough to be read whole."""

    file: Path
    parts: frozenset[str]
    single: bool
    columns: ScoreColumns

    @classmethod
    def open(cls, file: Path) -> "_Single":
        columns = read_columns(file, _NO_WORDS)
        parts = {part for part in PARTS if getattr(columns, part) is not None}
        return cls(file, frozenset(parts), False, replace(columns, labels=None))

    def batches(self, parts: Collection[str], beside: Sequence[str] = ()) -> Iterator[Batch]:
        if beside:
            raise OpenSetError(f"{self.file} is a single array and has no column '{beside[0]}'.")
        height = max(len(values) for part in self.parts if (values := getattr(self.columns, part)) is not None)
        left_out: dict[str, Any] = dict.fromkeys(self.parts - set(parts))
        yield Batch(replace(self.columns, **left_out), None, np.arange(height))


_STREAMS: dict[str, Any] = {".parquet": _Table, ".csv": _Table, ".tsv": _Table, ".npz": _Archive, ".npy": _Single}
