"""What files of scores and logits hold, as arrays: numbers as people write them, classes by number or by name."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from openset._core import checks
from openset._core.labels import OPEN_WORDS, Column, LabelWords, TextColumn, read_labels, refuse_numbers, whole
from openset._core.memory import free_memory
from openset._core.text import shortened
from openset.errors import OpenSetError

if TYPE_CHECKING:
    import polars as pl

COLUMNS = ("label", "prediction", "unknown_score", "id", "group", "open_class")
BLOCKS = ("prob", "logit", "feature")
Where = Callable[[int], str]


@dataclass(frozen=True)
class ScoreColumns:
    """What a file of any kind holds, before it is known to be scores or logits; what it lacks is None."""

    labels: NDArray[Any] | None = None
    predictions: NDArray[Any] | None = None
    unknown_score: NDArray[Any] | None = None
    probabilities: NDArray[Any] | None = None
    logits: NDArray[Any] | None = None
    features: NDArray[Any] | None = None
    weight: NDArray[Any] | None = None
    bias: NDArray[Any] | None = None
    class_names: tuple[str, ...] | None = None
    ids: NDArray[Any] | None = None
    groups: NDArray[Any] | None = None
    open_classes: NDArray[Any] | None = None
    meta: dict[str, Any] | None = None
    where: Where = checks.name_row
    """How an error calls a row: lines of a text file have other numbers."""


def from_table(
    table: "pl.DataFrame",
    where: Where,
    *,
    words: LabelWords,
    class_names: tuple[str, ...] | None = None,
    decimal_commas: bool = False,
) -> ScoreColumns:
    """What the columns hold; `where` names a row's place in errors."""
    blocks = {prefix: _block(table, prefix, where, decimal_commas) for prefix in BLOCKS}
    heads = _names_of(blocks)
    columns = {name: _label_column(table, name, decimal_commas, heads) for name in ("label", "prediction")}
    if heads is not None:
        texts = {name: column for name, column in columns.items() if isinstance(column, TextColumn)}
        refuse_numbers(texts, heads, where)
    numbered = next((prefix for prefix in ("logit", "prob") if blocks[prefix][0] is not None), None)
    nameless = f"columns are numbered; name them {numbered}_{{}} and so on, or use numbers as labels."
    found = read_labels(
        columns["label"],
        columns["prediction"],
        heads or class_names,
        words=words,
        where=where,
        nameless=nameless if numbered else "",
    )
    score = _floats(table, "unknown_score", where, decimal_commas)
    if found.labels is not None:
        checks.check_labels(found.labels, where)
        if found.predictions is not None:
            known = found.class_names or blocks["prob"][1]
            checks.resolve_classes(found.labels, found.predictions, None if known is None else len(known), where)
    if score is not None:
        checks.check_finite(score, where)
    optional = {name: _optional_text(table, name, where) for name in ("id", "group", "open_class")}
    return ScoreColumns(
        labels=found.labels,
        predictions=found.predictions,
        unknown_score=score,
        probabilities=blocks["prob"][0],
        logits=blocks["logit"][0],
        features=blocks["feature"][0],
        class_names=found.class_names,
        ids=optional["id"],
        groups=optional["group"],
        open_classes=optional["open_class"],
        where=where,
    )


def _names_of(blocks: dict[str, tuple[NDArray[Any] | None, tuple[str, ...] | None]]) -> tuple[str, ...] | None:
    """Class names in the headers of columns; where two blocks have them, the second is put into their order."""
    found: tuple[str, ...] | None = None
    for prefix in ("prob", "logit"):
        values, names = blocks[prefix]
        if values is None or names is None or all(map(_is_number, names)):
            continue
        reserved = next((name for name in names if name.lower() in OPEN_WORDS), None)
        if reserved is not None:
            raise OpenSetError(
                f"column {prefix}_{reserved} cannot be a known class: '{reserved}' marks open-set samples. "
                "For a background class number the columns and use --background."
            )
        if found is None:
            found = names
        elif set(names) != set(found):
            odd = min(set(names) ^ set(found))
            raise OpenSetError(
                f"the columns prob_... and logit_... name different classes, '{shortened(odd)}' for one."
            )
        else:
            blocks[prefix] = values[:, [names.index(name) for name in found]], found
    return found


def _label_column(
    table: "pl.DataFrame", name: str, decimal_commas: bool, heads: tuple[str, ...] | None
) -> Column | None:
    """Whole numbers where the column has nothing else, otherwise its texts; also where some `heads` are numbers."""
    import polars as pl

    if name not in table.columns:
        return None
    column = table[name]
    if column.dtype.is_integer() or column.dtype == pl.String:
        numbers = column.cast(pl.Int64, strict=False)
        if not numbers.null_count() and not any(whole(head) is not None for head in heads or ()):
            return numbers.to_numpy()
    elif not (column.dtype.is_float() or column.dtype.is_decimal() or column.dtype in (pl.Categorical, pl.Enum)):
        raise OpenSetError(f"column '{name}' holds {column.dtype}; use whole numbers or class names.")
    texts = column.cast(pl.String).fill_null("").str.strip_chars()
    if decimal_commas:
        texts = texts.str.replace(r"^([-+]?\d+),(0+)$", "${1}.${2}")  # 3,0 as a spreadsheet may write 3
    return TextColumn(tuple(texts.unique().sort().to_list()), texts.rank("dense").to_numpy().astype(np.int64) - 1)


def _optional_text(table: "pl.DataFrame", name: str, where: Where) -> NDArray[Any] | None:
    import polars as pl

    if name not in table.columns:
        return None
    column = table[name]
    if column.dtype.is_nested() or column.dtype in (pl.Binary, pl.Object):
        raise OpenSetError(f"column '{name}' holds {column.dtype}; use text or numbers.")
    texts = ["" if value is None else str(value).strip() for value in column.to_list()]
    longest, free = max(map(len, texts)), free_memory()
    if free is not None and 4 * longest * len(texts) > free:  # arrays have room for the longest text in every row
        row = next(row for row, text in enumerate(texts) if len(text) == longest)
        raise OpenSetError(
            f"{name} has {longest:,} characters in {where(row)}: with {len(texts):,} rows of that length the column "
            "does not fit into memory; shorten it."
        )
    return np.array(texts, dtype=np.str_)


def _floats(table: "pl.DataFrame", name: str, where: Any, decimal_commas: bool) -> NDArray[Any] | None:
    import polars as pl

    if name not in table.columns:
        return None
    column = table[name]
    if column.dtype == pl.Float32 and not column.null_count():
        return column.to_numpy()
    if not (column.dtype.is_numeric() or column.dtype in (pl.String, pl.Null)):
        raise OpenSetError(f"column '{name}' holds {column.dtype}; it must be numbers.")
    values = column.cast(pl.Float64, strict=False)
    if values.null_count() and column.dtype == pl.String:
        texts = column.str.strip_chars()
        if decimal_commas and _commas_are_decimal(texts):  # as in many countries' spreadsheets
            texts = texts.str.replace(",", ".", literal=True)
        values = texts.cast(pl.Float64, strict=False)
    if values.null_count():
        row = int(values.is_null().arg_max() or 0)
        cell = column[row]
        found = "missing" if cell is None or not str(cell).strip() else f"'{shortened(str(cell))}'"
        hint = ", with a decimal point and nothing between thousands" if "," in found else ""
        raise OpenSetError(f"{name} is {found} in {where(row)}; it must be a number{hint}.")
    return values.to_numpy()


def _commas_are_decimal(texts: "pl.Series") -> bool:
    """Whether no cell of a column speaks against it: a point, or whole numbers beside others that end in ,000."""
    with_comma = texts.filter(texts.str.contains(",", literal=True).fill_null(False))
    thousands = with_comma.str.contains(r"^[-+]?[1-9]\d{0,2}(,\d{3})+$").all()
    whole = texts.str.contains(r"^[-+]?\d+$").any()
    return not (texts.str.contains(".", literal=True).any() or (thousands and whole))


def _is_number(name: str) -> bool:
    """Whether a column has the number of a class, not a name of many digits."""
    return name.isascii() and name.isdigit() and len(name) < 10


def _block(
    table: "pl.DataFrame", prefix: str, where: Any, decimal_commas: bool
) -> tuple[NDArray[Any] | None, tuple[str, ...] | None]:
    """Columns prefix_0, prefix_1, ... (or prefix_cat, prefix_dog, ...) as one matrix, and what follows the prefix."""
    columns = [name for name in table.columns if name.startswith(f"{prefix}_")]
    if not columns:
        return None, None
    names = [name.removeprefix(f"{prefix}_") for name in columns]
    if all(map(_is_number, names)):
        names = sorted(names, key=int)
        if [int(name) for name in names] != list(range(len(names))):
            raise OpenSetError(f"columns {prefix}_0 to {prefix}_{names[-1]} have gaps; number them without one.")
    stacked = [_floats(table, f"{prefix}_{name}", where, decimal_commas) for name in names]
    return np.column_stack([column for column in stacked if column is not None]), tuple(names)
