"""Columns of a table as arrays: numbers as people write them, classes by number or by name, words for the unknown."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from openset._core import checks
from openset.errors import OpenSetError

if TYPE_CHECKING:
    import polars as pl

COLUMNS = ("label", "prediction", "unknown_score", "id", "group", "open_class")
BLOCKS = ("prob", "logit", "feature")
_WORDS = {"negative": checks.NEGATIVE, "unknown": checks.UNKNOWN}
_MISSING = ("", "nan", "na", "n/a", "null", "none")
_NUMBER = re.compile(r"[-+]?\.?\d+(\.\d*)?([eE][-+]?\d+)?$")


@dataclass(frozen=True)
class Content:
    """What a file of any kind holds, before it is known to be scores or logits."""

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


def from_table(
    table: "pl.DataFrame", where: Any, *, class_names: tuple[str, ...] | None = None, decimal_commas: bool = False
) -> Content:
    """What the columns hold; `where` names a row's place in errors."""
    blocks = {prefix: _block(table, prefix, where, decimal_commas) for prefix in BLOCKS}
    heads = _names_of(blocks)
    named = heads or class_names
    columns = {name: _label_column(table, name, decimal_commas, heads) for name in ("label", "prediction")}
    if heads is not None:
        _refuse_numbers({name: column for name, column in columns.items() if isinstance(column, list)}, heads, where)
    if named is None:
        words = {word for column in columns.values() if isinstance(column, list) for word in column}
        classes = sorted(word for word in words if not _NUMBER.match(word) and word.lower() not in (*_WORDS, *_MISSING))
        if classes:
            numbered = [prefix for prefix in ("logit", "prob") if blocks[prefix][0] is not None]
            if numbered:
                raise OpenSetError(
                    f"labels are names ('{classes[0]}') but columns are numbered; name them "
                    f"{numbered[0]}_{classes[0]} and so on, or use numbers as labels."
                )
            named = tuple(classes)
            _refuse_numbers(columns, named, where)
    label_numbers = _numbers(columns["label"], "label", named, where, open_words=True)
    prediction_numbers = _numbers(columns["prediction"], "prediction", named, where, open_words=False)
    score = _floats(table, "unknown_score", where, decimal_commas)
    if label_numbers is not None:
        checks.check_labels(label_numbers, where)
        if prediction_numbers is not None:
            known = named or blocks["prob"][1]
            checks.resolve_classes(label_numbers, prediction_numbers, None if known is None else len(known), where)
    if score is not None:
        checks.check_finite(score, where)
    optional = {name: _optional_text(table, name) for name in ("id", "group", "open_class")}
    return Content(
        labels=label_numbers,
        predictions=prediction_numbers,
        unknown_score=score,
        probabilities=blocks["prob"][0],
        logits=blocks["logit"][0],
        features=blocks["feature"][0],
        class_names=named,
        ids=optional["id"],
        groups=optional["group"],
        open_classes=optional["open_class"],
    )


def _names_of(blocks: dict[str, tuple[NDArray[Any] | None, tuple[str, ...] | None]]) -> tuple[str, ...] | None:
    """Class names that stand at the head of columns; where two blocks have them, the second is put into their order."""
    found: tuple[str, ...] | None = None
    for prefix in ("prob", "logit"):
        values, names = blocks[prefix]
        if values is None or names is None or all(name.isdecimal() for name in names):
            continue
        reserved = next((name for name in names if name.lower() in _WORDS), None)
        if reserved is not None:
            raise OpenSetError(
                f"column {prefix}_{reserved} cannot be a known class: '{reserved}' marks open-set samples. "
                "For a background class number the columns and use --background."
            )
        if found is None:
            found = names
        elif set(names) != set(found):
            odd = min(set(names) ^ set(found))
            raise OpenSetError(f"the columns prob_... and logit_... name different classes, '{_short(odd)}' for one.")
        else:
            blocks[prefix] = values[:, [names.index(name) for name in found]], found
    return found


def _refuse_numbers(
    columns: Mapping[str, NDArray[np.int64] | list[str] | None], named: tuple[str, ...], where: Any
) -> None:
    """Where classes have names, a number of a class cannot be told from a mistake."""
    for column, values in columns.items():
        for row, value in enumerate([] if values is None else values):
            number = _whole(value) if isinstance(value, str) else int(value)
            if number is not None and number >= 0 and value not in named:
                raise OpenSetError(
                    f"{column} is {_short(str(value))} in {where(row)}, but classes have names here "
                    f"('{_short(named[0])}'): use either."
                )


def _label_column(
    table: "pl.DataFrame", name: str, decimal_commas: bool, heads: tuple[str, ...] | None
) -> NDArray[np.int64] | list[str] | None:
    """Whole numbers where the column has nothing else, otherwise its texts; also where some `heads` are numbers."""
    import polars as pl

    if name not in table.columns:
        return None
    column = table[name]
    if column.dtype.is_integer() or column.dtype == pl.String:
        numbers = column.cast(pl.Int64, strict=False)
        if not numbers.null_count() and not any(_whole(head) is not None for head in heads or ()):
            return numbers.to_numpy()
    elif not (column.dtype.is_float() or column.dtype.is_decimal() or column.dtype in (pl.Categorical, pl.Enum)):
        raise OpenSetError(f"column '{name}' holds {column.dtype}; use whole numbers or class names.")
    texts = _texts(table, name)
    if texts is None or not decimal_commas:
        return texts
    return [re.sub(r"^([-+]?\d+),(0+)$", r"\1.\2", text) for text in texts]  # 3,0 as a spreadsheet may write 3


def _texts(table: "pl.DataFrame", name: str) -> list[str] | None:
    import polars as pl

    if name not in table.columns:
        return None
    column = table[name]
    if column.dtype.is_nested() or column.dtype in (pl.Binary, pl.Object):
        raise OpenSetError(f"column '{name}' holds {column.dtype}; use text or numbers.")
    return ["" if value is None else str(value).strip() for value in column.to_list()]


def _optional_text(table: "pl.DataFrame", name: str) -> NDArray[Any] | None:
    texts = _texts(table, name)
    return None if texts is None else np.array(texts, dtype=np.str_)


def _whole(word: str) -> int | None:
    """The whole number a cell holds, also as a spreadsheet may write it (3.0)."""
    try:
        return int(word)
    except ValueError:
        try:
            value = float(word)
        except ValueError:
            return None
        return int(value) if value.is_integer() else None


def _numbers(
    texts: NDArray[np.int64] | list[str] | None,
    column: str,
    named: tuple[str, ...] | None,
    where: Any,
    *,
    open_words: bool,
) -> NDArray[np.int64] | None:
    if texts is None or isinstance(texts, np.ndarray):
        return texts
    meaning: dict[str, int] = {name: number for number, name in enumerate(named or ())}
    for row, word in enumerate(texts):
        if word in meaning:
            continue
        number = _WORDS.get(word.lower()) if open_words else None
        if number is None:
            number = _whole(word)
        if number is None:
            raise OpenSetError(_bad_word(word, column, named, where(row)))
        meaning[word] = number
    numbers = [meaning[word] for word in texts]
    if max(numbers) >= checks.MOST_CLASSES or min(numbers) < -checks.MOST_CLASSES:
        row = int(np.argmax([abs(number) >= checks.MOST_CLASSES for number in numbers]))
        raise OpenSetError(
            f"{column} is '{_short(texts[row])}' in {where(row)}, which is too large for the number of a class."
        )
    return np.array(numbers, dtype=np.int64)


def _bad_word(word: str, column: str, named: tuple[str, ...] | None, place: str) -> str:
    if word.lower() in _MISSING:
        return f"{column} is missing in {place}."
    if word.lower() in _WORDS:
        return (
            f"prediction is '{word}' in {place}; a prediction is the best known class, "
            "and whether the sample is rejected follows from unknown_score."
        )
    near = next((name for name in named or () if name.lower() == word.lower()), None)
    hint = f" Did you mean '{near}'?" if near is not None else ""
    return f"{column} is '{_short(word)}' in {place}, which is neither a number nor a class name.{hint}"


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
        found = "missing" if cell is None or not str(cell).strip() else f"'{_short(str(cell))}'"
        hint = ", with a decimal point and nothing between thousands" if "," in found else ""
        raise OpenSetError(f"{name} is {found} in {where(row)}; it must be a number{hint}.")
    return values.to_numpy()


def _commas_are_decimal(texts: "pl.Series") -> bool:
    """Whether no cell of a column speaks against it: a point, or whole numbers beside others that end in ,000."""
    with_comma = texts.filter(texts.str.contains(",", literal=True).fill_null(False))
    thousands = with_comma.str.contains(r"^[-+]?[1-9]\d{0,2}(,\d{3})+$").all()
    whole = texts.str.contains(r"^[-+]?\d+$").any()
    return not (texts.str.contains(".", literal=True).any() or (thousands and whole))


def _short(cell: str) -> str:
    """What a cell holds, as far as it fits into a sentence."""
    return cell if len(cell) <= 60 else f"{cell[:50]}... ({len(cell):,} characters)"


def _block(
    table: "pl.DataFrame", prefix: str, where: Any, decimal_commas: bool
) -> tuple[NDArray[Any] | None, tuple[str, ...] | None]:
    """Columns prefix_0, prefix_1, ... (or prefix_cat, prefix_dog, ...) as one matrix, and what follows the prefix."""
    columns = [name for name in table.columns if name.startswith(f"{prefix}_")]
    if not columns:
        return None, None
    names = [name.removeprefix(f"{prefix}_") for name in columns]
    if all(name.isdecimal() for name in names):
        names = sorted(names, key=int)
        if [int(name) for name in names] != list(range(len(names))):
            raise OpenSetError(f"columns {prefix}_0 to {prefix}_{names[-1]} have gaps; number them without one.")
    stacked = [_floats(table, f"{prefix}_{name}", where, decimal_commas) for name in names]
    return np.column_stack([column for column in stacked if column is not None]), tuple(names)
