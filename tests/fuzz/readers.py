"""Slow readers of their own for what `openset` reads: nothing here is shared with it, and every value is looked at."""

import csv
import io
import json
import re
import unicodedata
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

_OPEN = {"unknown": -2, "negative": -1}


@dataclass(frozen=True)
class Read:
    """What a scores file says: of each row a class by name or number, -1 or -2; and the classes."""

    labels: list[str | int]
    classes: set[str] | int
    """Names, or how many there are."""


class UnreadableError(Exception):
    """The slow reader cannot say what the file means."""


def read_scores_slowly(file: Path) -> Read:
    """Labels and classes of a scores file of any kind."""
    kind = file.suffix.lower()
    if kind in {".csv", ".tsv"}:
        return _of_columns(*_csv_columns(file))
    if kind == ".parquet":
        return _of_columns(*_parquet_columns(file))
    if kind == ".npz":
        return _of_arrays(file)
    if kind == ".npy":
        array = np.load(file, allow_pickle=False)
        return Read([int(value) for value in array[:, 0]], array.shape[1] - 1)
    raise UnreadableError(kind)


def _csv_columns(file: Path) -> tuple[dict[str, list[Any]], list[str] | None]:
    text = file.read_bytes().decode("utf-8-sig")
    if "\n" not in text:  # old programs end lines with a carriage return alone
        text = text.replace("\r", "\n")
    lines = text.lstrip("\r\n").split("\n", 1) if not text.lower().startswith("sep=") else text.split("\n", 1)
    if lines[0].lower().startswith("sep="):
        text = lines[1]
    head = text.lstrip("\r\n").split("\n", 1)[0]
    counts = {mark: head.count(mark) for mark in ",;\t"}
    separator = "\t" if file.suffix.lower() == ".tsv" else max(",;\t", key=lambda mark: counts[mark])
    csv.field_size_limit(2**30)
    rows = [row for row in csv.reader(io.StringIO(text, newline=""), delimiter=separator) if row]
    names = [_column_name(cell) for cell in rows[0]]
    filled = [row for row in rows[1:] if any(cell.strip() for cell in row)]
    if any(len(row) > len(names) for row in filled):
        raise UnreadableError("a row has more cells than there are columns")
    columns = {name: [row[place] if place < len(row) else "" for row in filled] for place, name in enumerate(names)}
    for name in ("label", "prediction"):
        if name in columns:
            columns[name] = [_unguarded(cell).strip() for cell in columns[name]]
            if separator != ",":
                columns[name] = [re.sub(r"^([-+]?\d+),(0+)$", r"\1.\2", cell) for cell in columns[name]]
    return columns, None


def _column_name(cell: str) -> str:
    name = _unguarded(cell).strip()
    plain = name.lower().replace(" ", "_")
    for prefix in ("prob_", "logit_", "feature_"):
        if plain.startswith(prefix):
            return prefix + name[len(prefix) :].strip()
    return plain


def _unguarded(cell: str) -> str:
    return cell[1:] if re.match(r"'+[=+\-@\t\r]", cell) else cell


def _parquet_columns(file: Path) -> tuple[dict[str, list[Any]], list[str] | None]:
    import pyarrow
    import pyarrow.parquet

    try:
        table = pyarrow.parquet.read_table(file)
        columns = {_column_name(name): table[name].to_pylist() for name in dict.fromkeys(table.column_names)}
    except (pyarrow.ArrowException, OSError, ValueError) as error:
        raise UnreadableError(str(error)) from error
    metadata = json.loads((pyarrow.parquet.read_metadata(file).metadata or {}).get(b"openset", b"{}"))
    named = metadata.get("class_names") if isinstance(metadata, dict) else None
    return columns, [str(name) for name in named] if isinstance(named, list) else None


def count_parts_slowly(folder: Path) -> dict[str, int]:
    """Samples of each kind in all Parquet files of a folder."""
    files = [file for file in sorted(folder.glob("*.parquet")) if file.is_file()]
    labels = [label for file in files for label in _parquet_columns(file)[0]["label"]]
    return {
        "n_known": sum(label >= 0 for label in labels),
        "n_negative": labels.count(-1),
        "n_unknown": labels.count(-2),
    }


def _of_columns(columns: dict[str, list[Any]], named: list[str] | None) -> Read:
    heads = None
    width = 0
    for prefix in ("logit_", "prob_"):
        tails = [name[len(prefix) :] for name in columns if name.startswith(prefix)]
        if tails and not all(re.fullmatch(r"[0-9]{1,9}", tail) for tail in tails):
            heads = tails
        width = max(width, len(tails))
    return _classes(columns["label"], columns.get("prediction"), heads or named, width)


def _classes(labels: Sequence[Any], predictions: Sequence[Any] | None, named: list[str] | None, width: int) -> Read:
    told = [_label(cell, named) for cell in labels]
    printed = [_label(cell, named, words=False) for cell in predictions or []]
    names = {one for one in [*told, *printed] if isinstance(one, str)}
    if named is not None:
        numbered = [named[one] if isinstance(one, int) and 0 <= one < len(named) else one for one in told]
        return Read(numbered, set(named))
    if names:
        return Read(told, names)
    return Read(told, width or 1 + max(one for one in [*told, *printed] if isinstance(one, int)))


def _label(cell: Any, named: list[str] | None, *, words: bool = True) -> str | int:
    if isinstance(cell, bool) or cell is None:
        raise UnreadableError(f"a label {cell!r}")
    text = str(cell).strip()
    if named is not None and text in named:
        return text
    seen = "".join(one for one in text if unicodedata.category(one) not in ("Cc", "Cf")).casefold().strip()
    if words and seen in _OPEN:
        return _OPEN[seen]
    try:
        number = float(text)
    except ValueError:
        return text
    return int(text) if re.fullmatch(r"[-+]?\d+", text) else int(number) if number.is_integer() else text


def _of_arrays(file: Path) -> Read:
    arrays = {}
    with zipfile.ZipFile(file) as archive:
        for name in archive.namelist():
            with archive.open(name) as stream:
                arrays[name.removesuffix(".npy")] = np.lib.format.read_array(stream, allow_pickle=False)
    labels = arrays["labels"] if "labels" in arrays else arrays["gt"]
    named = None
    if "openset" in arrays and arrays["openset"].size == 1 and arrays["openset"].dtype.kind == "U":
        metadata = json.loads(str(arrays["openset"].reshape(-1)[0]))
        found = metadata.get("class_names") if isinstance(metadata, dict) else None
        named = [str(name) for name in found] if isinstance(found, list) else None
    if named is None and "class_names" in arrays:
        named = [str(name) for name in arrays["class_names"].tolist()]
    # Scores are made from logits where there are none: what else stands beside them is not looked at.
    order = ("probabilities", "logits") if "unknown_score" in arrays else ("logits", "probabilities")
    matrix = next((arrays[name] for name in order if name in arrays), None)
    predictions = arrays["predictions"].tolist() if "predictions" in arrays else None
    return _classes(_plain(labels), predictions, named, 0 if matrix is None else matrix.shape[1])


def _plain(array: Any) -> list[Any]:
    return [one.decode() if isinstance(one, bytes) else one for one in array.tolist()]


def read_detections_slowly(folder: Path) -> dict[str, dict[str, int]]:
    """How many images and detections of each kind there are; lists that stand twice are refused."""

    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        twice = {key for key, value in pairs if isinstance(value, list) and [name for name, _ in pairs].count(key) > 1}
        if twice:
            raise UnreadableError(f"the list {min(twice)} occurs twice")
        return dict(pairs)

    made: dict[str, dict[str, int]] = {"images": {}, "detections": {}}
    for part in ("known", "wild"):
        truth = json.loads((folder / f"{part}.json").read_bytes(), object_pairs_hook=once)
        found = json.loads((folder / f"{part}_found.json").read_bytes(), object_pairs_hook=once)
        made["images"][part] = len(truth["images"])
        made["detections"][part] = len(found if isinstance(found, list) else found["annotations"])
    return made
