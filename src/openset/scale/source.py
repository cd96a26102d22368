"""Many Parquet files as one table of scores: found by a pattern or folder, checked, read part by part."""

from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from openset._core import checks
from openset._core.checks import RESERVED_GROUPS
from openset._core.fingerprint import fingerprint
from openset._io.parquet_files import Files, files_of
from openset._io.score_files import naming, parse_metadata
from openset.errors import OpenSetError
from openset.scale.rows import Rows

if TYPE_CHECKING:
    import polars as pl

_NEEDED = ("label", "prediction", "unknown_score")
_GROUP = "group"
_ID = "id"
PART_ROWS = 1 << 22
"""Rows that are read at once, about."""
_SAMPLE = 1 << 20
"""Rows that bins are fitted to, about."""
_SAMPLES = 8  # places in a file that they are taken from


@dataclass(frozen=True)
class Part:
    """Some rows of a file that are read at once, and what the file was like when it was found."""

    file: str
    first: int
    rows: int
    size: int
    changed: int
    """When it was last written, in nanoseconds."""
    groups: tuple[int, ...] = ()
    """Rows in each group of rows of the file."""

    def where(self, row: int) -> str:
        """How an error calls a row of this part: its group of rows, and its number in the file."""
        at = self.first + row
        borders = np.cumsum(self.groups)
        return f"row {at} (row group {int(np.searchsorted(borders, at, side='right'))})"


@dataclass(frozen=True)
class Source:
    """Files that are one model's rows."""

    name: str
    """As the user wrote it."""
    parts: tuple[Part, ...]
    columns: tuple[str, ...]
    class_names: tuple[str, ...] | None
    meta: dict[str, Any]
    wide: bool
    """Whether scores are float64 in any of the files."""
    has_ids: bool = False
    """Whether every file names its samples."""

    @property
    def n_rows(self) -> int:
        """All rows."""
        return sum(part.rows for part in self.parts)

    @property
    def files(self) -> list[str]:
        """Every file once."""
        return list(dict.fromkeys(part.file for part in self.parts))

    @property
    def fingerprint(self) -> str:
        """Sixteen digits that change when a file does: of names, sizes and times, as no row is read for them."""
        states = [(Path(part.file).name, part.first, part.rows, part.size, part.changed) for part in self.parts]
        return fingerprint([np.frombuffer(repr(states).encode("utf-8", "surrogateescape"), dtype=np.uint8)])


def open_source(text: str, part_rows: int = PART_ROWS) -> Source:
    """What lies there, by the files' own accounts; no row is read."""
    parts: list[Part] = []
    first: _Described | None = None
    wide, has_ids = False, True
    files = files_of(text)
    for file in files.find(text):
        described = _describe(file, files)
        if first is None:
            first = described
        _check_alike(described, first)
        wide |= described.wide
        has_ids &= described.has_ids
        parts += _parts_of(described, part_rows, files.state(file))
    assert first is not None
    if not parts:
        raise OpenSetError(f"{text}: there are no rows.")
    return Source(text, tuple(parts), first.columns, first.class_names, first.meta, wide, has_ids)


@dataclass(frozen=True)
class _Described:
    file: str
    columns: tuple[str, ...]
    class_names: tuple[str, ...] | None
    meta: dict[str, Any]
    wide: bool
    has_ids: bool
    groups: tuple[int, ...]


def _describe(file: str, files: Files) -> _Described:
    import polars as pl

    described = files.describe(file)
    schema = described.schema
    lacking = [name for name in _NEEDED if name not in schema]
    if lacking:
        raise OpenSetError(
            f"{file}: there is no column '{lacking[0]}'. Needed are label, prediction and unknown_score (higher = more "
            "unknown), as numbers; files of logits must be scored first."
        )
    for name in ("label", "prediction"):
        if not schema[name].is_integer():
            raise OpenSetError(
                f"{file}: column '{name}' holds {schema[name]}; in many files classes must be whole numbers, which "
                "`Scores.write` makes of names."
            )
    if schema["unknown_score"] not in (pl.Float32, pl.Float64):
        raise OpenSetError(
            f"{file}: column 'unknown_score' holds {schema['unknown_score']}; it must be float32 or float64."
        )
    if _GROUP in schema and not (schema[_GROUP] == pl.String or isinstance(schema[_GROUP], pl.Categorical | pl.Enum)):
        raise OpenSetError(f"{file}: column 'group' holds {schema[_GROUP]}; it must be text.")
    try:
        names, meta = parse_metadata(described.metadata)
    except OpenSetError as error:
        raise naming(Path(file), error) from error
    columns = (*_NEEDED, *([_GROUP] if _GROUP in schema else []))
    wide, has_ids = schema["unknown_score"] == pl.Float64, _ID in schema
    return _Described(file, columns, names, meta, wide, has_ids, described.groups)


def _check_alike(one: _Described, first: _Described) -> None:
    for what, own, other in (
        ("columns", one.columns, first.columns),
        ("class names", one.class_names, first.class_names),
    ):
        if own != other:
            raise OpenSetError(
                f"{one.file} has other {what} than {first.file}: files that are one model must agree. Give them as "
                "several models, or write them anew."
            )
    if one.wide != first.wide:
        kinds = {True: "float64", False: "float32"}
        raise OpenSetError(
            f"{one.file} has unknown_score as {kinds[one.wide]}, {first.file} as {kinds[first.wide]}: equal scores "
            "would differ. Write them with one type."
        )


def _parts_of(described: _Described, part_rows: int, state: tuple[int, int]) -> list[Part]:
    """Neighbouring groups of rows up to so many rows; a larger group is divided."""
    cuts, at = [0], 0
    for rows in described.groups:
        if rows > 2 * part_rows:
            pieces = -(-rows // part_rows)
            cuts += [at + place * rows // pieces for place in range(pieces)]
        at += rows
        if at - cuts[-1] >= part_rows:
            cuts.append(at)
    cuts.append(at)
    return [
        Part(described.file, start, stop - start, *state, described.groups)
        for start, stop in pairwise(cuts)
        if stop > start
    ]


# ---- rows ----------------------------------------------------------------------------------------------------------


def read_rows(part: Part, source: Source) -> Rows:
    """The rows of a part, checked; an error names file, group of rows and row."""
    file, files = part.file, files_of(part.file)
    if files.state(file) != (part.size, part.changed):
        raise changed(file)
    table = files.read(file, part.first, part.rows, source.columns, part.groups)
    if table.height != part.rows:
        raise changed(file)
    try:
        return _checked(table, part, source)
    except OpenSetError as error:
        raise OpenSetError(f"{file}: {error}") from error


def read_ids(part: Part) -> "pl.Series":
    """The names of the samples of a part."""
    return files_of(part.file).read(part.file, part.first, part.rows, (_ID,), part.groups)[_ID]


def changed(file: str) -> OpenSetError:
    """What is said of a file that is not what it was."""
    return OpenSetError(f"{file} changed while it was being evaluated: run the command again when nobody writes to it.")


def _checked(table: "pl.DataFrame", part: Part, source: Source) -> Rows:
    import polars as pl

    for name in _NEEDED:
        if table[name].null_count():
            row = int(table[name].is_null().arg_max() or 0)
            raise OpenSetError(f"{name} is missing in {part.where(row)}; it must be a number.")
    label, prediction, score = (table[name].to_numpy() for name in _NEEDED)
    checks.check_finite(score, part.where)
    label, prediction = (_signed(one) for one in (label, prediction))
    checks.check_labels(label, part.where)
    named = None if source.class_names is None else len(source.class_names)
    checks.resolve_classes(label, prediction, named, part.where)
    if _GROUP not in table.columns:
        return Rows(label, prediction, score)
    texts = table[_GROUP].cast(pl.String).fill_null("").str.strip_chars()
    names = texts.unique().sort().to_list()
    group = texts.cast(pl.Enum(names)).to_physical().to_numpy().astype(np.int64)
    used = {names[place] for place in np.unique(group[label < 0])}
    for word in RESERVED_GROUPS:
        if word in used:
            raise OpenSetError(f"A group cannot be called '{word}', which has a meaning of its own; rename it.")
    return Rows(label, prediction, score, group, tuple(names))


def _signed(values: checks.Ints) -> checks.Ints:
    """Whole numbers with a sign."""
    return values if values.dtype.kind == "i" else values.astype(np.int64)


def sample_rows(source: Source) -> list[Rows]:
    """Some rows of every file, from several places in it: which ones does not depend on the order of the files."""
    files = source.files
    by_file: dict[str, list[Part]] = {file: [] for file in files}
    for part in source.parts:
        by_file[part.file].append(part)
    each = max(_SAMPLE // len(files), 1000)
    found = []
    for parts in by_file.values():
        some = parts[:: max(1, -(-len(parts) // _SAMPLES))]
        for part in some:
            head = Part(
                part.file, part.first, min(part.rows, each // len(some) + 1), part.size, part.changed, part.groups
            )
            found.append(read_rows(head, source))
    return found
