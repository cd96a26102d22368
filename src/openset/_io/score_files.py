"""Files of scores and of logits: Parquet, CSV as spreadsheets make it, NPZ without pickle.

Columns (Parquet, CSV): `label`, `prediction`, `unknown_score`, and if there is more: `prob_0`, `prob_1`, ..., `id`,
`group`, `open_class`. A file with `label` and `logit_0`, `logit_1`, ... instead (also `feature_0`, ...) is turned into
scores. In place of the numbers there may be the names of the classes, `prob_polar bear`. Labels are numbers or class
names; the words `negative` and `unknown` mean -1 and -2.
Arrays (NPZ): `labels`, `predictions`, `unknown_score`, ...; or `labels` and `logits`; or `gt` and `logits`, the form
that openset-imagenet writes.
"""

import json
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from openset._core import checks
from openset._io.atomic import replacing
from openset._io.csv_layout import csv_layout
from openset._io.npz import read_npz, write_npz
from openset._io.paths import existing
from openset._io.score_columns import BLOCKS, COLUMNS, Content, from_table
from openset._io.tables import read_table
from openset.errors import OpenSetError
from openset.posthoc import SCORES, Outputs, as_matrix
from openset.scores import Scores

if TYPE_CHECKING:
    import polars as pl

_SUFFIXES = (".parquet", ".csv", ".npz")
_ROUNDING = 1e-3
"""Where rows of probabilities add up to 1 up to this, no share of a background class is missing."""


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
            return _as_scores(_by_probability(content, background=background), background=background)
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
        labels = None if content.labels is None else checks.as_ints("labels", content.labels)
        checks.check_lengths(labels=labels, logits=content.logits, features=content.features)
        matrices = {
            name: None if values is None else as_matrix(name, values)
            for name, values in (("logits", content.logits), ("features", content.features))
        }
    except OpenSetError as error:
        raise _named(file, error) from error
    return Outputs(labels, **matrices, background=background, name=str(file))


def _what_is_missing(content: Content, score: str | None) -> str:
    if score is not None:
        SCORES[score]  # a misspelt name is the likelier mistake
        return f"score '{score}' is made from logits, and the file has none (columns logit_0, logit_1, ...)."
    lacking = "unknown_score" if content.predictions is not None else "prediction and unknown_score"
    return (
        f"there is no column {lacking}. Needed are label, prediction and unknown_score (higher = more unknown), "
        "or label and logit_0, logit_1, ... or prob_0, prob_1, ..."
    )


def _by_probability(content: Content, *, background: bool) -> Content:
    """What `predict_proba` gives: the class with the largest probability, and the more unknown the smaller that is."""
    assert content.probabilities is not None
    probabilities = checks.as_probabilities(content.probabilities).astype(np.float64)
    best = probabilities.argmax(axis=1)
    unknown_score = 1 - probabilities.max(axis=1)
    if not background and np.abs(probabilities.sum(axis=1) - 1).max() <= _ROUNDING:
        # The same, from the other classes' shares: samples at probability 0.99999999999 still differ.
        others = probabilities.copy()
        others[np.arange(len(others)), best] = 0.0
        unknown_score = others.sum(axis=1)
    return replace(
        content,
        predictions=best if content.predictions is None else content.predictions,
        unknown_score=unknown_score,
        meta={**(content.meta or {}), "score": "msp"},
    )


def _as_scores(content: Content, *, background: bool) -> Scores:
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


def _read(file: Path) -> Content:
    suffix = file.suffix.lower()
    if suffix == ".npz":
        return _from_npz(read_npz(file))
    if suffix == ".parquet":
        import polars as pl

        table = _table(file)
        metadata = _parse_metadata(pl.read_parquet_metadata(file).get("openset", "{}"))
        content = from_table(table, lambda row: f"row {row}", class_names=_names(metadata))
        return replace(content, meta=metadata.get("meta"))
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
        return from_table(table[filled], where, decimal_commas=layout.has_decimal_commas)
    raise OpenSetError(f"cannot read '{suffix or 'a file without extension'}'; use {', '.join(_SUFFIXES)}.")


def _table(file: Path) -> "pl.DataFrame":
    return read_table(file, names=COLUMNS, prefixes=[f"{block}_" for block in BLOCKS])


# ---- NPZ -----------------------------------------------------------------------------------------------------------


def _from_npz(arrays: dict[str, NDArray[Any]]) -> Content:
    foreign = "gt" in arrays and "labels" not in arrays  # openset-imagenet: gt, logits, scores (softmax), features
    metadata = _parse_metadata(str(arrays["openset"])) if "openset" in arrays else {}
    return Content(
        labels=arrays.get("gt" if foreign else "labels"),
        predictions=arrays.get("predictions"),
        unknown_score=arrays.get("unknown_score"),
        probabilities=arrays.get("probabilities"),
        logits=arrays.get("logits"),
        features=arrays.get("features"),
        class_names=_names(metadata),
        ids=arrays.get("ids"),
        groups=arrays.get("groups"),
        open_classes=arrays.get("open_classes"),
        meta=metadata.get("meta"),
    )


def _parse_metadata(text: str) -> dict[str, Any]:
    try:
        metadata = json.loads(text, parse_constant=lambda _: None)  # NaN and Infinity are no JSON
    except (json.JSONDecodeError, RecursionError) as error:
        raise OpenSetError(f"its 'openset' entry is not valid JSON: {error}.") from error
    except ValueError as error:  # Python's own limit
        raise OpenSetError("its 'openset' entry holds a number of thousands of digits.") from error
    if not isinstance(metadata, dict):
        return {}
    return {
        "class_names": metadata.get("class_names"),
        "meta": m if isinstance(m := metadata.get("meta"), dict) else {},
    }


def _names(metadata: dict[str, Any]) -> tuple[str, ...] | None:
    names = metadata.get("class_names")
    return tuple(str(name) for name in names) if isinstance(names, list) else None


# ---- writing -------------------------------------------------------------------------------------------------------


def write_scores(scores: Scores, path: str | Path) -> None:
    """Write a scores file of the kind its name asks for."""
    file = Path(path)
    suffix = file.suffix.lower()
    if suffix not in _SUFFIXES:
        raise OpenSetError(f"Cannot write '{file}': use a name that ends in {', '.join(_SUFFIXES)}.")
    metadata = json.dumps({"class_names": scores.class_names, "meta": scores.meta}, allow_nan=False)
    if suffix == ".npz":
        arrays = {
            "labels": scores.labels,
            "predictions": scores.predictions,
            "unknown_score": scores.unknown_score,
            "probabilities": scores.probabilities,
            "ids": scores.ids,
            "groups": scores.groups,
            "open_classes": scores.open_classes,
            "openset": np.array(metadata),
        }
        write_npz(file, {name: array for name, array in arrays.items() if array is not None})
        return
    import polars as pl
    from polars import selectors

    table = _as_table(scores)
    with replacing(file) as temporary:
        if suffix == ".parquet":
            table.write_parquet(temporary, metadata={"openset": metadata})
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
