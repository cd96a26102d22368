"""Small images as one uint8 array on disk: decoded once, memory-mapped ever after."""

import contextlib
import hashlib
import json
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from openset._core.fingerprint import fingerprint
from openset._io.paths import reason
from openset._io.pictures import BadImageError
from openset._io.terminal import make_console
from openset.data.images import Encoded, Pixels, fitted
from openset.data.place import cache_folder
from openset.errors import OpenSetError, check_choice

SMALL = 96  # longest side, in pixels, of images that are kept decoded
_FORMAT = "1"  # raise when what is stored changes
_PROBES = 32
_NAMED = 3  # bad images named in a message; the rest is counted


@dataclass(frozen=True)
class StoredImages:
    """Decoded images with their labels, as they lie in the cache."""

    images: Pixels
    labels: NDArray[np.int64]
    rows: NDArray[np.int64]
    """Row of the source that each image comes from; differs from 0, 1, 2, ... where bad images were skipped."""
    class_names: tuple[str, ...]
    fingerprint: str
    skipped: tuple[str, ...]


class NotSmallError(Exception):
    """Images that do not fit into one array of small pictures."""


def stored(
    key: Sequence[object],
    make: Callable[[], tuple[Encoded, NDArray[np.int64], tuple[str, ...]]],
    *,
    on_corrupt: str,
    what: str,
) -> StoredImages:
    """The array kept under `key`; built with `make` (images, labels, class names) when it is not there yet."""
    folder = cache_folder() / "arrays" / key_digest([_FORMAT, on_corrupt, *key])
    found = _read(folder)
    if found is None:
        encoded, labels, class_names = make()
        found = _build(folder, encoded, labels, class_names, on_corrupt=on_corrupt, what=what)
    return found


def is_stored(key: Sequence[object]) -> bool:
    """Whether an array is kept under `key`, whatever is done with corrupt images."""
    choices = ("stop", "skip")
    return any((cache_folder() / "arrays" / key_digest([_FORMAT, choice, *key])).is_dir() for choice in choices)


def key_digest(key: Iterable[object]) -> str:
    """The name under which the cache keeps what was made of `key`."""
    return hashlib.sha256(json.dumps([str(part) for part in key]).encode()).hexdigest()[:32]


def _read(folder: Path) -> StoredImages | None:
    """What is stored, or None if it is not there or damaged (then it is built again)."""
    try:
        meta = json.loads((folder / "meta.json").read_text(encoding="utf-8"))
        if meta.get("not_small"):
            raise NotSmallError
        images = np.load(folder / "images.npy", mmap_mode="r", allow_pickle=False)
        labels = np.load(folder / "labels.npy", allow_pickle=False)
        rows = np.load(folder / "rows.npy", allow_pickle=False)
        names, skipped = tuple(meta["class_names"]), tuple(meta["skipped"])
        return StoredImages(images, labels, rows, names, meta["fingerprint"], skipped)
    except (OSError, ValueError, KeyError, EOFError, AttributeError, TypeError, RecursionError):
        return None


def _build(
    folder: Path,
    encoded: Encoded,
    labels: NDArray[np.int64],
    class_names: tuple[str, ...],
    *,
    on_corrupt: str,
    what: str,
) -> StoredImages:
    with _filling(folder) as temporary:
        try:
            rows, bad = _decode_all(encoded, temporary, on_corrupt=on_corrupt, what=what)
        except NotSmallError:
            (temporary / "meta.json").write_text(json.dumps({"not_small": True}), encoding="utf-8")
            (temporary / "images.npy").unlink(missing_ok=True)
        else:
            np.save(temporary / "labels.npy", labels[rows], allow_pickle=False)
            np.save(temporary / "rows.npy", rows, allow_pickle=False)
            images = np.load(temporary / "images.npy", mmap_mode="r", allow_pickle=False)
            meta = {
                "class_names": list(class_names),
                "fingerprint": fingerprint([images, labels[rows]]),
                "skipped": bad,
            }
            (temporary / "meta.json").write_text(json.dumps(meta), encoding="utf-8")
            del images
    found = _read(folder)
    if found is None:
        raise OpenSetError(f"The decoded images of {what} cannot be read back from {folder}: is the disk full?")
    return found


@contextlib.contextmanager
def _filling(folder: Path) -> Iterator[Path]:
    """A temporary folder that becomes `folder` when the block succeeds; another process may be faster."""
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        temporary = Path(tempfile.mkdtemp(dir=folder.parent, prefix=".building-"))
    except OSError as error:
        raise OpenSetError(
            f"Cannot keep decoded images in {folder.parent}: {reason(error)}; name another folder with OPENSET_CACHE."
        ) from error
    try:
        yield temporary
        if folder.is_dir() and _readable(folder):
            return
        shutil.rmtree(folder, ignore_errors=True)
        with contextlib.suppress(OSError):
            temporary.rename(folder)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def _readable(folder: Path) -> bool:
    try:
        return _read(folder) is not None
    except NotSmallError:
        return True


def _decode_all(encoded: Encoded, folder: Path, *, on_corrupt: str, what: str) -> tuple[NDArray[np.int64], list[str]]:
    """Decode into `images.npy`; returns the rows that could be decoded and the sentences about the others."""
    colour = any(
        _mode(encoded, row) == "RGB" for row in np.unique(np.linspace(0, len(encoded) - 1, _PROBES).astype(int))
    )
    target: Any = None
    shape = (0, 0, 0)
    rows: list[int] = []
    bad: list[str] = []
    for row in progress(range(len(encoded)), f"decoding {what}"):
        try:
            image = encoded.load(row)
        except BadImageError as error:
            bad.append(str(error))
            continue
        if target is None:
            shape = (image.height, image.width, 3 if colour else 1)
            if max(shape) > SMALL:
                raise NotSmallError
            target = np.lib.format.open_memmap(
                folder / "images.npy", mode="w+", dtype=np.uint8, shape=(len(encoded), *shape)
            )
        if (image.height, image.width) != shape[:2] or (image.mode == "RGB" and not colour):
            raise NotSmallError
        target[len(rows)] = fitted(image, shape)
        rows.append(row)
    report_bad(bad, len(encoded), what, on_corrupt)
    if bad:
        kept = np.array(target[: len(rows)])
        del target
        np.save(folder / "images.npy", kept, allow_pickle=False)
    else:
        target.flush()
    return np.array(rows, dtype=np.int64), bad


def _mode(encoded: Encoded, row: int) -> str:
    try:
        return encoded.load(int(row)).mode
    except BadImageError:
        return ""


def report_bad(bad: Sequence[str], total: int, what: str, on_corrupt: str) -> None:
    """Stop, naming and counting the bad images, unless the caller asked to skip them and some good ones remain."""
    check_choice("open_dataset", "on_corrupt", on_corrupt, ["stop", "skip"])
    if not bad or (on_corrupt == "skip" and len(bad) < total):
        return
    named = "; ".join(bad[:_NAMED]) + (f"; and {len(bad) - _NAMED} more" if len(bad) > _NAMED else "")
    raise OpenSetError(
        f"{what}: {len(bad)} of {total} images cannot be used: {named}. "
        "Replace them, or leave them out with on_corrupt='skip' (--skip-corrupt)."
    )


def progress(items: Sequence[int] | range, title: str) -> Iterable[int]:
    """A progress bar on a terminal; plain iteration elsewhere."""
    if not sys.stderr.isatty():
        return items
    from rich.progress import track

    return track(items, description=title, console=make_console(stderr=True), transient=True)
