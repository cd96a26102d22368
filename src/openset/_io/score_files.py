"""Files of scores and of logits: Parquet, CSV and TSV as spreadsheets make them, NPZ and NPY without pickle.

Columns (Parquet, CSV, TSV): `label`, `prediction`, `unknown_score`, and if there is more: `prob_0`, `prob_1`, ...,
`id`, `group`, `open_class`. Logits stand in `logit_0`, `logit_1`, ..., features in `feature_0`, .... In place of the
numbers there may be the names of the classes, `prob_polar bear`. Labels are numbers or class names; the words
`negative` and `unknown` mean -1 and -2.
Arrays (NPZ): `labels`, `predictions`, `unknown_score`, `probabilities`, ...; or `labels` and `logits`; or `gt` and
`logits`, the form that openset-imagenet writes. `features` and the last layer, `weight` and `bias`, may stand beside
logits; `class_names` names the classes.
One array (NPY): the label in column 0, logits in the others, as GHOST's authors store them; features where the name
ends in `_FV` or `_features`, which are also found beside `NAME_logits.npy`.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from openset._core import checks
from openset._core.labels import LabelWords, as_column, read_labels
from openset._io.csv_layout import csv_layout
from openset._io.json_files import parse_json
from openset._io.npz import read_npy, read_npz, write_npz
from openset._io.parquet import write_parquet
from openset._io.paths import existing
from openset._io.score_columns import BLOCKS, COLUMNS, ScoreColumns, from_table
from openset._io.tables import read_table, write_csv
from openset.errors import OpenSetError

if TYPE_CHECKING:
    import polars as pl

METADATA = "openset"
"""Under this name NPZ and Parquet files keep class names and meta."""
_FEATURES = ("_fv", "_features")
_PREDICTED = ("_preds", "_predictions")


def read_columns(path: str | Path, words: LabelWords) -> ScoreColumns:
    """What a file of scores or logits holds; errors name the file."""
    file = existing(path)
    try:
        if file.suffix.lower() not in _READERS:
            kind = file.suffix or "a file without extension"
            raise OpenSetError(f"cannot read '{kind}'; use {', '.join(_READERS)}.")
        return _READERS[file.suffix.lower()](file, words)
    except OpenSetError as error:
        raise naming(file, error) from error


def naming(file: str | Path, error: OpenSetError) -> OpenSetError:
    """The error with the file's name in front, once."""
    return error if str(file) in str(error) else OpenSetError(f"{file}: {error}")


# ---- tables --------------------------------------------------------------------------------------------------------


def _read_parquet(file: Path, words: LabelWords) -> ScoreColumns:
    import polars as pl

    table = _table(file)
    names, meta = parse_metadata(pl.read_parquet_metadata(file).get(METADATA, "{}"))
    return replace(from_table(table, checks.name_row, words=words, class_names=names), meta=meta)


def _read_text(file: Path, words: LabelWords) -> ScoreColumns:
    import polars as pl

    table = _table(file)
    blank = pl.all_horizontal((pl.all().is_null()) | (pl.all().str.strip_chars() == ""))
    filled = np.flatnonzero(~table.select(blank).to_series().to_numpy())
    if not len(filled):
        raise OpenSetError("there are no rows.")
    # Spreadsheets leave empty rows behind; the line numbers of the others stay.
    layout = csv_layout(file)
    where = lambda row: f"line {layout.line(int(filled[row]))}"  # noqa: E731
    return from_table(table[filled], where, words=words, decimal_commas=layout.has_decimal_commas)


def _table(file: Path) -> "pl.DataFrame":
    return read_table(file, names=COLUMNS, prefixes=[f"{block}_" for block in BLOCKS])


# ---- arrays --------------------------------------------------------------------------------------------------------


def _read_npz(file: Path, words: LabelWords) -> ScoreColumns:
    return columns_of(read_npz(file), words)


def columns_of(arrays: Mapping[str, NDArray[Any]], words: LabelWords) -> ScoreColumns:
    """What the arrays of an NPZ file, or some rows of them, hold."""
    foreign = "gt" in arrays and "labels" not in arrays  # openset-imagenet: gt, logits, scores (softmax), features
    names, meta = parse_metadata(_single_text(arrays[METADATA])) if METADATA in arrays else (None, {})
    if names is None and "class_names" in arrays:
        names = tuple(checks.as_text("class_names", arrays["class_names"]).tolist())
    labels, predictions = arrays.get("gt" if foreign else "labels"), arrays.get("predictions")
    found = read_labels(
        None if labels is None else as_column("labels", labels),
        None if predictions is None else as_column("predictions", predictions),
        names,
        words=words,
        nameless="there is no array 'class_names' that says which column is whose: add it."
        if {"logits", "probabilities"} & set(arrays)
        else "",
    )
    return ScoreColumns(
        labels=found.labels,
        predictions=found.predictions,
        unknown_score=arrays.get("unknown_score"),
        probabilities=arrays.get("probabilities"),
        logits=arrays.get("logits"),
        features=arrays.get("features"),
        weight=arrays.get("weight"),
        bias=arrays.get("bias"),
        class_names=found.class_names,
        ids=arrays.get("ids"),
        groups=arrays.get("groups"),
        open_classes=arrays.get("open_classes"),
        meta=meta,
    )


def _single_text(array: NDArray[Any]) -> str:
    return str(checks.as_text(f"the '{METADATA}' entry", array.reshape(-1))[0]) if array.size == 1 else "{}"


def _read_npy(file: Path, words: LabelWords) -> ScoreColumns:
    stem = file.stem.lower()
    if stem.endswith(_PREDICTED):
        raise OpenSetError(
            "by its name it holds predictions; give the logits, or a table with label, prediction and unknown_score "
            "(higher = more unknown)."
        )
    labels, values = _label_first(file)
    found = read_labels(labels, None, None, words=words).labels
    if stem.endswith(_FEATURES):
        return ScoreColumns(labels=found, features=values)
    beside = _features_beside(file)
    if beside is None:
        return ScoreColumns(labels=found, logits=values)
    other, features = _label_first(beside)
    if not np.array_equal(labels, other):
        raise OpenSetError(f"the features in {beside} are of other samples: their labels differ.")
    return ScoreColumns(labels=found, logits=values, features=features)


def _label_first(file: Path) -> tuple[checks.Ints, NDArray[Any]]:
    array = read_npy(file)
    if array.ndim != 2 or array.shape[1] < 2 or array.dtype.kind not in "fiu":
        raise OpenSetError(
            f"an .npy file has one row for each sample, the label in column 0 and logits in the others; this one has "
            f"shape {array.shape} of {array.dtype}."
        )
    return checks.as_ints("column 0 (the label)", array[:, 0]), array[:, 1:]


def _features_beside(file: Path) -> Path | None:
    if not file.stem.lower().endswith("_logits"):
        return None
    wanted = {f"{file.stem[: -len('_logits')]}{ending}".lower() for ending in _FEATURES}
    return next((one for one in file.parent.glob("*.npy") if one.stem.lower() in wanted), None)


_READERS: dict[str, Callable[[Path, LabelWords], ScoreColumns]] = {
    ".parquet": _read_parquet,
    ".csv": _read_text,
    ".tsv": _read_text,
    ".npz": _read_npz,
    ".npy": _read_npy,
}


def parse_metadata(text: str) -> tuple[tuple[str, ...] | None, dict[str, Any]]:
    """Class names and meta; what else might stand there is not ours."""
    metadata = parse_json(text, f"its '{METADATA}' entry")
    if not isinstance(metadata, dict):
        return None, {}
    names, meta = metadata.get("class_names"), metadata.get("meta")
    return (
        tuple(str(name) for name in names) if isinstance(names, list) else None,
        meta if isinstance(meta, dict) else {},
    )


# ---- writing -------------------------------------------------------------------------------------------------------

_WRITTEN = (".parquet", ".csv", ".tsv", ".npz")


def write_columns(columns: ScoreColumns, path: str | Path) -> None:
    """Write a scores file of the kind its name asks for."""
    file = Path(path)
    suffix = file.suffix.lower()
    if suffix not in _WRITTEN:
        raise OpenSetError(f"Cannot write '{file}': use a name that ends in {', '.join(_WRITTEN)}.")
    metadata = json.dumps({"class_names": columns.class_names, "meta": columns.meta}, allow_nan=False)
    if suffix == ".npz":
        names = ("labels", "predictions", "unknown_score", "probabilities", "ids", "groups", "open_classes")
        arrays = {name: getattr(columns, name) for name in names} | {METADATA: np.array(metadata)}
        write_npz(file, {name: array for name, array in arrays.items() if array is not None})
        return
    table = _as_table(columns)
    if suffix != ".parquet":
        write_csv(file, table, separator="\t" if suffix == ".tsv" else ",")
        return
    write_parquet(file, table, {METADATA: metadata})


def _as_table(columns: ScoreColumns) -> "pl.DataFrame":
    import polars as pl

    made: dict[str, NDArray[Any] | None] = {
        "label": columns.labels,
        "prediction": columns.predictions,
        "unknown_score": columns.unknown_score,
    }
    if columns.probabilities is not None:
        made |= {f"prob_{number}": column for number, column in enumerate(columns.probabilities.T)}
    made |= {"id": columns.ids, "group": columns.groups, "open_class": columns.open_classes}
    return pl.DataFrame({name: values for name, values in made.items() if values is not None})
