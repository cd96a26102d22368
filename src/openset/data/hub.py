"""Hugging Face `datasets`: data sets by hub name, and Parquet too large to decode in advance."""

import logging
import os
import socket
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import urlparse
from urllib.request import getproxies

import numpy as np
from numpy.typing import NDArray

from openset._core.fingerprint import fingerprint
from openset.data.arrays import stored
from openset.data.catalog import Card
from openset.data.checks import without_bad
from openset.data.dataset import Dataset, row_ids, skipped_note
from openset.data.images import ImageCells
from openset.data.labels import class_ids
from openset.data.place import DATA_VARIABLE, cache_folder
from openset.data.tables import of_stored
from openset.errors import OpenSetError, needing

_IMAGES = ("image", "img")
_LABELS = ("fine_label", "label", "labels")


def cache_key(card: Card, split: str) -> list[object]:
    """The name under which decoded images of the hub's copy are kept."""
    return ["hub", card.hub, card.config, split]


def open_hub(card: Card, split: str, *, root: Path, on_corrupt: str) -> Dataset:
    """One part of a data set on the hub; small images need the network only the first time."""
    key = cache_key(card, split)
    if not card.large:
        found = stored(key, lambda: _download(card, split, root), on_corrupt=on_corrupt, what=card.title)
        return of_stored(found, card.name, split, card)
    encoded, labels, class_names = _download(card, split, root)
    rows, skipped = without_bad(encoded, key, on_corrupt, card.title)
    return Dataset(
        name=card.name,
        split=split,
        labels=labels[rows],
        class_names=class_names,
        ids=row_ids(card.name, split, rows),
        fingerprint=fingerprint([labels[rows], np.frombuffer(str(key).encode(), dtype=np.uint8)]),
        encoded=replace(encoded, rows=rows) if skipped else encoded,
        titles=card.titles,
        notes=skipped_note(skipped, len(rows)),
    )


def from_table(table: Any, card: Card, split: str) -> tuple[ImageCells, NDArray[np.int64], tuple[str, ...]]:
    """Images and class ids of a `datasets.Dataset`, ids in the order of the catalogue."""
    place = f"{card.hub}, {split}"
    column = _first_column(table.column_names, _IMAGES, place)
    label = _first_column(table.column_names, _LABELS, place)
    names = getattr(table.features[label], "names", None)
    ids = np.asarray(table.with_format("numpy")[label][:], dtype=np.int64)
    cells = ImageCells(_undecoded(table, column)[column], place, transposed=card.transposed)
    if names is not None:
        ours = [card.hub_renames.get(name, name) for name in names]
        if set(ours) == set(card.class_names):  # the same classes, perhaps in another order: go by name
            order = {name: position for position, name in enumerate(card.class_names)}
            ids = np.array([order[name] for name in ours], dtype=np.int64)[ids]
    labels, class_names = class_ids(ids, card.class_names, place)
    return cells, labels, class_names


def rows_of_parquet(paths: Sequence[Path], image: str, labels: Sequence[str], place: str) -> tuple[Any, NDArray[Any]]:
    """The image column of Parquet files, memory-mapped by Arrow, and the labels."""
    datasets = _library()
    with _quiet(datasets):
        table = datasets.Dataset.from_parquet([str(path) for path in paths], cache_dir=str(cache_folder() / "arrow"))
    label = _first_column(table.column_names, labels, place)
    return _undecoded(table, image)[image], np.asarray(table.with_format("numpy")[label][:])


def in_hub_cache(card: Card) -> bool:
    """Whether the hub's own cache on this machine has the data set."""
    home = Path(os.environ.get("HF_HOME") or Path.home() / ".cache" / "huggingface")
    hub = Path(os.environ.get("HF_HUB_CACHE") or home / "hub")
    return bool(card.hub) and (hub / f"datasets--{str(card.hub).replace('/', '--')}" / "snapshots").is_dir()


def _undecoded(table: Any, column: str) -> Any:
    """Hand out compressed bytes; we decode them ourselves, naming the row of a bad image."""
    datasets = _library()
    if isinstance(table.features[column], datasets.Image):
        return table.cast_column(column, datasets.Image(decode=False))
    return table


def _download(card: Card, split: str, root: Path) -> tuple[ImageCells, NDArray[np.int64], tuple[str, ...]]:
    datasets = _library()
    reachable = hub_is_reachable()
    part = card.hub_test if split == "test" else split
    try:
        with _quiet(datasets), nullcontext() if reachable else _offline(datasets):
            table = datasets.load_dataset(card.hub, card.config, split=part)
    except Exception as error:  # many kinds, depending on what failed; all mean: no data
        raise OpenSetError(_not_found(card, root, error, reachable=reachable)) from error
    return from_table(table, card, split)


def _not_found(card: Card, root: Path, error: Exception, *, reachable: bool) -> str:
    folder = root / card.name
    layout = f"train/<class>/ and {card.test_folder}/<class>/ folders of images, or " if card.large else ""
    why = "the Hugging Face hub cannot be reached"
    if reachable:
        why = f"the hub's copy '{card.hub}' cannot be loaded ({type(error).__name__})"
        if card.gated:
            why += "; it asks for an account: accept its terms on the hub and run `hf auth login`"
    return (
        f"{card.title} is not on this machine, and {why}: put it into {folder} "
        f"({layout}train.parquet and test.parquet with the columns image and label), "
        f"or name the folder above it with --data-root or {DATA_VARIABLE}."
    )


def hub_is_reachable() -> bool:
    """Whether the hub's address is known to this machine; a proxy is trusted to know it."""
    if getproxies():
        return True
    host = urlparse(os.environ.get("HF_ENDPOINT") or "https://huggingface.co").hostname
    try:
        socket.getaddrinfo(host, 443)
    except OSError:
        return False
    return True


def _library() -> Any:
    with needing("Reading this data"):
        import datasets
    return datasets


@contextmanager
def _offline(datasets: Any) -> Iterator[None]:
    """What the hub's cache has is found, and nobody waits for retries that cannot succeed."""
    from huggingface_hub import constants

    before = constants.HF_HUB_OFFLINE, datasets.config.HF_HUB_OFFLINE
    constants.HF_HUB_OFFLINE = datasets.config.HF_HUB_OFFLINE = True
    try:
        yield
    finally:
        constants.HF_HUB_OFFLINE, datasets.config.HF_HUB_OFFLINE = before


@contextmanager
def _quiet(datasets: Any) -> Iterator[None]:
    """Without the library's bars off a terminal and its retry messages; our own sentence says what is wrong."""
    logger = logging.getLogger("huggingface_hub")
    level, bars = logger.level, datasets.are_progress_bars_disabled()
    logger.setLevel(logging.ERROR)
    if not sys.stderr.isatty():
        datasets.disable_progress_bars()
    try:
        yield
    finally:
        logger.setLevel(level)
        if not bars:
            datasets.enable_progress_bars()


def _first_column(columns: Sequence[str], choices: Sequence[str], place: str) -> str:
    for choice in choices:
        if choice in columns:
            return choice
    raise OpenSetError(f"{place} has no column '{choices[0]}'; its columns are {', '.join(columns)}.")
