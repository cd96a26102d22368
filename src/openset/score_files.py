"""Files of scores and of logits: Parquet, CSV as spreadsheets make it, NPZ without pickle.

Columns (Parquet, CSV): `label`, `prediction`, `unknown_score`, and if there is more: `prob_0`, `prob_1`, ..., `id`,
`group`, `open_class`. A file with `label` and `logit_0`, `logit_1`, ... instead (also `feature_0`, ...) is turned into
scores. In place of the numbers there may be the names of the classes, `prob_polar bear`. Labels are numbers or class
names; the words `negative` and `unknown` mean -1 and -2.
Arrays (NPZ): `labels`, `predictions`, `unknown_score`, ...; or `labels` and `logits`; or `gt` and `logits`, the form
that openset-imagenet writes.
"""

import json
import re
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from openset import checks
from openset.csv_layout import csv_layout
from openset.errors import OpenSetError
from openset.files import existing, read_npz, read_table, replacing, write_npz
from openset.posthoc import SCORES, Outputs
from openset.scores import Scores

if TYPE_CHECKING:
    import polars as pl

_WORDS = {"negative": checks.NEGATIVE, "unknown": checks.UNKNOWN}
_MISSING = ("", "nan", "na", "n/a", "null", "none")
_SUFFIXES = (".parquet", ".csv", ".npz")
_COLUMNS = ("label", "prediction", "unknown_score", "id", "group", "open_class")
_BLOCKS = ("prob", "logit", "feature")
_NUMBER = re.compile(r"[-+]?\.?\d+(\.\d*)?([eE][-+]?\d+)?$")


@dataclass(frozen=True)
class _Content:
    """What a file of any kind holds, before it is known to be scores or logits."""

    labels: NDArray[Any] | None = None
    predictions: NDArray[Any] | None = None
    unknown_score: NDArray[Any] | None = None
    probabilities: NDArray[Any] | None = None
    logits: NDArray[Any] | None = None
    features: NDArray[Any] | None = None
    class_names: tuple[str, ...] | None = None
    ids: NDArray[Any] | None = None
    groups: NDArray[Any] | None = None
    open_classes: NDArray[Any] | None = None
    meta: dict[str, Any] | None = None


def read_scores(
    path: str | Path, *, score: str | None = None, background: bool = False, fit: str | Path | None = None
) -> Scores:
    """Scores from a file of scores, or of logits, which `score` (default max_logit) turns into scores.

    A file of probabilities alone is scored by the largest one.

    `background`: the model has a background class. It is the last column of logits; probabilities are those of the
    known classes alone.
    """
    file = existing(path)
    trained = None if fit is None else read_outputs(fit, background=background)
    try:
        content = _read(file)
        if score is None and content.unknown_score is not None:
            return _as_scores(content, background=background)
        if content.labels is None:
            raise OpenSetError("there is no column 'label' (in NPZ files: 'labels' or 'gt').")
        if content.logits is None and content.probabilities is not None and score in (None, "msp"):
            return _as_scores(_by_probability(content), background=background)
        if content.logits is None:
            raise OpenSetError(_what_is_missing(content, score))
        return Scores.from_logits(
            content.labels,
            content.logits,
            score=score or "max_logit",
            background=background,
            features=content.features,
            fit=trained,
            class_names=content.class_names,
            ids=content.ids,
            groups=content.groups,
            open_classes=content.open_classes,
            meta=content.meta,
        )
    except OpenSetError as error:
        raise _named(file, error) from error


def _named(file: Path, error: OpenSetError) -> OpenSetError:
    """The error with the file's name in front, once."""
    return error if str(file) in str(error) else OpenSetError(f"{file}: {error}")


def read_outputs(path: str | Path, *, background: bool = False) -> Outputs:
    """Logits and features with their labels, for scores that learn from the training part."""
    file = existing(path)
    try:
        content = _read(file)
    except OpenSetError as error:
        raise _named(file, error) from error
    labels = None if content.labels is None else checks.as_ints("labels", content.labels)
    checks.check_lengths(labels=labels, logits=content.logits, features=content.features)
    return Outputs(labels, content.logits, content.features, background=background, name=str(file))


def _what_is_missing(content: _Content, score: str | None) -> str:
    if score is not None:
        SCORES[score]  # a misspelt name is the likelier mistake
        return f"score '{score}' is made from logits, and the file has none (columns logit_0, logit_1, ...)."
    lacking = "unknown_score" if content.predictions is not None else "prediction and unknown_score"
    return (
        f"there is no column {lacking}. Needed are label, prediction and unknown_score (higher = more unknown), "
        "or label and logit_0, logit_1, ... or prob_0, prob_1, ..."
    )


def _by_probability(content: _Content) -> _Content:
    """What `predict_proba` gives: the class with the largest probability, and the more unknown the smaller that is."""
    probabilities = np.asarray(content.probabilities)
    return replace(
        content,
        predictions=probabilities.argmax(axis=1) if content.predictions is None else content.predictions,
        unknown_score=1 - probabilities.max(axis=1),
        meta={**(content.meta or {}), "score": "msp"},
    )


def _as_scores(content: _Content, *, background: bool) -> Scores:
    if content.labels is None or content.predictions is None:
        raise OpenSetError(f"there is no column '{'label' if content.labels is None else 'prediction'}'.")
    assert content.unknown_score is not None
    return Scores(
        content.labels,
        content.predictions,
        content.unknown_score,
        content.probabilities,
        content.class_names,
        ids=content.ids,
        groups=content.groups,
        open_classes=content.open_classes,
        # Not every file can say it, a CSV for one, and gamma depends on it.
        meta={**(content.meta or {}), "background": True} if background else content.meta,
    )


def _read(file: Path) -> _Content:
    suffix = file.suffix.lower()
    if suffix == ".npz":
        return _from_npz(read_npz(file))
    if suffix == ".parquet":
        import polars as pl

        table = _table(file)
        return _from_table(table, pl.read_parquet_metadata(file).get("openset", "{}"), lambda row: f"row {row}")
    if suffix == ".csv":
        import polars as pl

        table = _table(file)
        blank = pl.all_horizontal((pl.all().is_null()) | (pl.all().str.strip_chars() == ""))
        filled = np.flatnonzero(~table.select(blank).to_series().to_numpy())
        if not len(filled):
            raise OpenSetError("there are no rows.")
        # Spreadsheets leave empty rows behind; the line numbers of the others stay.
        layout = csv_layout(file)
        where = lambda row: f"line {layout.line(int(filled[row]))}"  # noqa: E731
        return _from_table(table[filled], "{}", where, decimal_commas=layout.has_decimal_commas)
    raise OpenSetError(f"cannot read '{suffix or 'a file without extension'}'; use {', '.join(_SUFFIXES)}.")


def _table(file: Path) -> "pl.DataFrame":
    return read_table(file, names=_COLUMNS, prefixes=[f"{block}_" for block in _BLOCKS])


# ---- NPZ -----------------------------------------------------------------------------------------------------------


def _from_npz(arrays: dict[str, NDArray[Any]]) -> _Content:
    foreign = "gt" in arrays and "labels" not in arrays  # openset-imagenet: gt, logits, scores (softmax), features
    about = _parse_about(str(arrays["openset"])) if "openset" in arrays else {}
    return _Content(
        labels=arrays.get("gt" if foreign else "labels"),
        predictions=arrays.get("predictions"),
        unknown_score=arrays.get("unknown_score"),
        probabilities=arrays.get("probabilities"),
        logits=arrays.get("logits"),
        features=arrays.get("features"),
        class_names=_names(about),
        ids=arrays.get("ids"),
        groups=arrays.get("groups"),
        open_classes=arrays.get("open_classes"),
        meta=about.get("meta"),
    )


def _parse_about(text: str) -> dict[str, Any]:
    try:
        about = json.loads(text, parse_constant=lambda _: None)  # NaN and Infinity are no JSON
    except (json.JSONDecodeError, RecursionError) as error:
        raise OpenSetError(f"its 'openset' entry is not valid JSON: {error}.") from error
    except ValueError as error:  # Python's own limit
        raise OpenSetError("its 'openset' entry holds a number of thousands of digits.") from error
    if not isinstance(about, dict):
        return {}
    return {"class_names": about.get("class_names"), "meta": m if isinstance(m := about.get("meta"), dict) else {}}


def _names(about: dict[str, Any]) -> tuple[str, ...] | None:
    names = about.get("class_names")
    return tuple(str(name) for name in names) if isinstance(names, list) else None


# ---- tables --------------------------------------------------------------------------------------------------------


def _from_table(table: "pl.DataFrame", about_text: str, where: Any, *, decimal_commas: bool = False) -> _Content:
    about = _parse_about(about_text)
    named = _names(about)
    blocks = {prefix: _block(table, prefix, where, decimal_commas) for prefix in _BLOCKS}
    for prefix in ("prob", "logit"):
        names = blocks[prefix][1]
        if names is not None and not all(name.isdecimal() for name in names):
            reserved = next((name for name in names if name.lower() in _WORDS), None)
            if reserved is not None:
                raise OpenSetError(
                    f"column {prefix}_{reserved} cannot be a known class: '{reserved}' marks open-set samples. "
                    "For a background class number the columns and use --background."
                )
            named = names
    columns = {name: _label_column(table, name) for name in ("label", "prediction")}
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
    return _Content(
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
        meta=about.get("meta"),
    )


def _refuse_numbers(
    columns: dict[str, NDArray[np.int64] | list[str] | None], named: tuple[str, ...], where: Any
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


def _label_column(table: "pl.DataFrame", name: str) -> NDArray[np.int64] | list[str] | None:
    """Whole numbers where the column has nothing else, otherwise its texts."""
    import polars as pl

    if name not in table.columns:
        return None
    column = table[name]
    if column.dtype.is_integer() or column.dtype == pl.String:
        numbers = column.cast(pl.Int64, strict=False)
        if not numbers.null_count():
            return numbers.to_numpy()
    elif not (column.dtype.is_float() or column.dtype.is_decimal() or column.dtype in (pl.Categorical, pl.Enum)):
        raise OpenSetError(f"column '{name}' holds {column.dtype}; use whole numbers or class names.")
    return _texts(table, name)


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


# ---- writing -------------------------------------------------------------------------------------------------------


def write_scores(scores: Scores, path: str | Path) -> None:
    """Write a scores file of the kind its name asks for."""
    file = Path(path)
    suffix = file.suffix.lower()
    if suffix not in _SUFFIXES:
        raise OpenSetError(f"Cannot write '{file}': use a name that ends in {', '.join(_SUFFIXES)}.")
    about = json.dumps({"class_names": scores.class_names, "meta": scores.meta}, allow_nan=False)
    if suffix == ".npz":
        arrays = {
            "labels": scores.labels,
            "predictions": scores.predictions,
            "unknown_score": scores.unknown_score,
            "probabilities": scores.probabilities,
            "ids": scores.ids,
            "groups": scores.groups,
            "open_classes": scores.open_classes,
            "openset": np.array(about),
        }
        write_npz(file, {name: array for name, array in arrays.items() if array is not None})
        return
    import polars as pl
    from polars import selectors

    table = _as_table(scores)
    with replacing(file) as temporary:
        if suffix == ".parquet":
            table.write_parquet(temporary, metadata={"openset": about})
        else:
            # A float32 is written with the digits of a float64, which is what readers of text make of it: the few
            # that tell it from its neighbours give another number there, on the other side of a threshold.
            table.with_columns(selectors.float().cast(pl.Float64)).write_csv(temporary)


def _as_table(scores: Scores) -> "pl.DataFrame":
    import polars as pl

    columns: dict[str, NDArray[Any]] = {
        "label": scores.labels,
        "prediction": scores.predictions,
        "unknown_score": scores.unknown_score,
    }
    if scores.probabilities is not None:
        columns |= {f"prob_{number}": column for number, column in enumerate(scores.probabilities.T)}
    texts = {"id": scores.ids, "group": scores.groups, "open_class": scores.open_classes}
    columns |= {name: values for name, values in texts.items() if values is not None}
    return pl.DataFrame(columns)
