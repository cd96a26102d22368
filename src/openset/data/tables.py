"""Parquet and NPZ files: images as bytes, or feature vectors, with a label column."""

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from openset._core.fingerprint import fingerprint
from openset._io.npz import read_npz
from openset._io.parquet import read_parquet, read_schema
from openset._io.room import check_room
from openset.data.arrays import NotSmallError, StoredImages, stored
from openset.data.catalog import Card
from openset.data.checks import without_bad
from openset.data.dataset import Dataset, row_ids, skipped_note
from openset.data.fingerprints import file_state
from openset.data.images import ImageCells
from openset.data.labels import class_ids
from openset.errors import OpenSetError

if TYPE_CHECKING:
    import polars as pl

_LABELS = ("fine_label", "label", "labels", "target", "y")
_FEATURES = ("features", "embedding", "embeddings", "x")


def open_npz(path: Path, name: str, split: str) -> Dataset:
    """Feature vectors: arrays `features` (N x D) and `labels`, optionally `class_names` and `ids`."""
    arrays = {key.lower(): array for key, array in read_npz(path).items()}
    features = _pick(arrays, _FEATURES, path, "features, an array N x D")
    values = _pick(arrays, _LABELS, path, "labels, one per sample")
    if len(features) != len(values):
        raise OpenSetError(f"{path}: {len(features)} feature vectors but {len(values)} labels.")
    names = [str(word) for word in arrays["class_names"]] if "class_names" in arrays else None
    labels, class_names = class_ids(values, names, str(path))
    ids = arrays["ids"].astype(np.str_) if "ids" in arrays else row_ids(name, split, np.arange(len(labels)))
    return _of_features(path, name, split, features, labels, class_names, ids)


def open_parquet(paths: Sequence[Path], name: str, split: str, *, card: Card | None, on_corrupt: str) -> Dataset:
    """Images (a column of bytes, or of structs with `bytes`) or feature vectors, with a label column."""
    place = str(paths[0] if len(paths) == 1 else paths[0].parent / f"{split}*.parquet")
    image = _image_column(paths[0])
    if image is None:
        return _features_of_parquet(paths, name, split, card, place)
    key = [part for path in paths for part in (path.resolve(), *file_state(path.stat()))]
    if card is not None and card.large:
        return _large(paths, image, name, split, card=card, on_corrupt=on_corrupt, place=place, key=key)

    def make() -> tuple[ImageCells, NDArray[np.int64], tuple[str, ...]]:
        frame = _frame(paths, place)
        return ImageCells(frame.get_column(image), place), *_labels_of(frame, paths[0], card, place)

    try:
        found = stored(key, make, on_corrupt=on_corrupt, what=place)
    except NotSmallError:
        return _large(paths, image, name, split, card=card, on_corrupt=on_corrupt, place=place, key=key)
    return of_stored(found, name, split, card)


def of_stored(found: StoredImages, name: str, split: str, card: Card | None) -> Dataset:
    """A data set of small images from the cache of arrays."""
    return Dataset(
        name=name,
        split=split,
        labels=found.labels,
        class_names=found.class_names,
        ids=row_ids(name, split, found.rows),
        fingerprint=found.fingerprint,
        images=found.images,
        titles=card.titles if card else {},
        notes=skipped_note(found.skipped, len(found.labels)),
    )


def _features_of_parquet(paths: Sequence[Path], name: str, split: str, card: Card | None, place: str) -> Dataset:
    frame = _frame(paths, place)
    labels, class_names = _labels_of(frame, paths[0], card, place)
    ids = row_ids(name, split, np.arange(len(labels)))
    return _of_features(paths[0], name, split, _feature_matrix(frame, place), labels, class_names, ids)


def _labels_of(
    frame: "pl.DataFrame", path: Path, card: Card | None, place: str
) -> tuple[NDArray[np.int64], tuple[str, ...]]:
    column = frame.get_column(_column(frame, _LABELS, place, "label"))
    if column.dtype.is_nested():
        raise OpenSetError(f"{place}: column '{column.name}' holds {column.dtype}; a label is one number or name.")
    return class_ids(column.to_numpy(), _declared_names(path, card), place)


def _frame(paths: Sequence[Path], place: str) -> "pl.DataFrame":
    import polars as pl

    check_room(paths[0], "images", sum(path.stat().st_size for path in paths))
    try:
        frame = pl.concat([read_parquet(path) for path in paths], how="vertical_relaxed")
    except pl.exceptions.PolarsError as error:
        raise OpenSetError(f"{place}: the files have different columns.") from error
    if frame.height == 0:
        raise OpenSetError(f"{place} has no rows.")
    return frame


def _column(frame: "pl.DataFrame", choices: Sequence[str], place: str, what: str) -> str:
    by_name = {column.lower(): column for column in frame.columns}
    for choice in choices:
        if choice in by_name:
            return by_name[choice]
    raise OpenSetError(f"{place} has no column '{what}'; its columns are {', '.join(frame.columns)}.")


def _image_column(path: Path) -> str | None:
    import polars as pl

    for column, kind in read_schema(path).items():
        if kind == pl.Binary or (isinstance(kind, pl.Struct) and any(part.name == "bytes" for part in kind.fields)):
            return column
    return None


def _feature_matrix(frame: "pl.DataFrame", place: str) -> NDArray[Any]:
    import polars as pl

    lists = [
        column
        for column, kind in frame.schema.items()
        if isinstance(kind, pl.List | pl.Array) and kind.inner is not None and kind.inner.is_numeric()
    ]
    if lists:
        rows = frame.get_column(lists[0]).to_list()
        lengths = {-1 if row is None else len(row) for row in rows}
        if len(lengths) != 1:
            raise OpenSetError(f"{place}: the vectors in column '{lists[0]}' differ in length.")
        return np.array(rows, dtype=np.float32)
    label = _column(frame, _LABELS, place, "label")
    numbers = [column for column, kind in frame.schema.items() if kind.is_numeric() and column != label]
    if not numbers:
        raise OpenSetError(f"{place} has neither images nor numbers beside the label column.")
    return frame.select(numbers).to_numpy()


def _of_features(
    path: Path,
    name: str,
    split: str,
    features: NDArray[Any],
    labels: NDArray[np.int64],
    class_names: tuple[str, ...],
    ids: NDArray[np.str_],
) -> Dataset:
    if features.ndim != 2 or features.dtype.kind not in "iuf":
        raise OpenSetError(
            f"{path}: features must be numbers, N x D, got {features.dtype} with shape {features.shape}."
        )
    matrix = np.ascontiguousarray(features, dtype=np.float32)
    finite = np.isfinite(matrix).all(axis=1)
    if not finite.all():
        raise OpenSetError(f"{path}, row {int(np.argmin(finite))}: a feature is NaN or infinite.")
    if len(ids) != len(labels):
        raise OpenSetError(f"{path}: {len(ids)} ids but {len(labels)} labels.")
    return Dataset(name, split, labels, class_names, ids, fingerprint([matrix, labels]), features=matrix)


def _large(
    paths: Sequence[Path],
    image: str,
    name: str,
    split: str,
    *,
    card: Card | None,
    on_corrupt: str,
    place: str,
    key: Sequence[object],
) -> Dataset:
    """Photographs in Parquet: Arrow keeps the compressed bytes on disk and hands out rows."""
    from openset.data.hub import rows_of_parquet

    column, values = rows_of_parquet(paths, image, _LABELS, place)
    labels, class_names = class_ids(values, _declared_names(paths[0], card), place)
    cells = ImageCells(column, place)
    rows, skipped = without_bad(cells, key, on_corrupt, place)
    digest = hashlib.sha256(str([(path.name, path.stat().st_size) for path in paths]).encode()).hexdigest()[:16]
    return Dataset(
        name=name,
        split=split,
        labels=labels[rows],
        class_names=class_names,
        ids=row_ids(name, split, rows),
        fingerprint=fingerprint([labels[rows], np.frombuffer(digest.encode(), dtype=np.uint8)]),
        encoded=ImageCells(column, place, rows=rows if skipped else None),
        titles=card.titles if card else {},
        notes=skipped_note(skipped, len(rows)),
    )


def _declared_names(path: Path, card: Card | None) -> tuple[str, ...] | None:
    """Class names of the catalogue, else those that Hugging Face wrote into the file."""
    import polars as pl

    if card is not None:
        return card.class_names
    try:
        features = json.loads(pl.read_parquet_metadata(path).get("huggingface", "{}"))["info"]["features"]
        return next(tuple(feature["names"]) for feature in features.values() if feature.get("names"))
    except (KeyError, StopIteration, ValueError, AttributeError, TypeError, RecursionError):
        return None


def _pick(arrays: dict[str, NDArray[Any]], choices: Sequence[str], path: Path, what: str) -> NDArray[Any]:
    for choice in choices:
        if choice in arrays:
            return arrays[choice]
    raise OpenSetError(f"{path} has no array '{choices[0]}' ({what}); it holds {', '.join(arrays) or 'nothing'}.")
