"""Archives of named arrays: pickled objects are neither read nor written."""

import lzma
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from tokenize import TokenError
from typing import Any

import numpy as np
from numpy.typing import NDArray

from openset._core.text import shortened
from openset._io.atomic import replacing
from openset._io.paths import existing
from openset._io.room import check_room
from openset.errors import OpenSetError


def read_npz(path: str | Path) -> dict[str, NDArray[Any]]:
    """Arrays of an NPZ file; pickled objects are refused, because loading them could run code."""
    file = existing(path)
    with plainly(file, "NPZ"), file.open("rb") as stream:
        if stream.read(2) not in (b"PK", b"\x93N"):  # a zip archive, or a single array, which is explained below
            raise OpenSetError(f"{file} is not an NPZ file.")
        stream.seek(0)
        if zipfile.is_zipfile(stream):
            with zipfile.ZipFile(stream) as members:
                check_room(file, "NPZ", sum(one.file_size for one in members.infolist()))
        stream.seek(0)
        archive = np.load(stream, allow_pickle=False)
        if not isinstance(archive, np.lib.npyio.NpzFile):
            raise OpenSetError(f"{file} is a single array, not an NPZ archive with named arrays.")
        arrays = {name: archive[name] for name in archive.files}
        if broken := next((name for name, array in arrays.items() if not isinstance(array, np.ndarray)), None):
            # NumPy hands on the bytes of what does not begin as an array does.
            raise OpenSetError(f"{file} is damaged: '{shortened(broken)}' in it is not an array.")
        return arrays


def read_npy(path: str | Path) -> NDArray[Any]:
    """The array of an NPY file, without pickled objects."""
    file = existing(path)
    with plainly(file, "NPY"), file.open("rb") as stream:
        if stream.read(6) != b"\x93NUMPY":
            raise OpenSetError(f"{file} is not an NPY file.")
        stream.seek(0)
        check_room(file, "NPY", file.stat().st_size)
        return np.asarray(np.load(stream, allow_pickle=False))


@contextmanager
def plainly(file: Path, kind: str) -> Iterator[None]:
    """One sentence for each of the many ways in which reading such a file can fail."""
    try:
        yield
    except OpenSetError:
        raise
    except ValueError as error:
        if "pickle" in str(error).lower():
            raise OpenSetError(
                f"{file} holds pickled Python objects, which could run code, so it is not loaded: "
                "save plain number or text arrays instead."
            ) from error
        raise OpenSetError(f"{file} is not a readable {kind} file: {shortened(str(error).rstrip('.'))}.") from error
    except (zipfile.BadZipFile, zlib.error, lzma.LZMAError, EOFError, KeyError, TypeError, OSError) as error:
        raise OpenSetError(f"{file} is not a readable {kind} file, or it is cut off.") from error
    except (MemoryError, OverflowError) as error:
        raise OpenSetError(f"{file} holds an array too large for the memory, or it is damaged.") from error
    except (SyntaxError, RecursionError, TokenError) as error:  # a header is read as Python's own literals are
        raise OpenSetError(f"{file} is not a readable {kind} file: an array's header is damaged.") from error
    except RuntimeError as error:  # NotImplementedError too
        raise OpenSetError(f"{file} is not a readable {kind} file: encrypted, or packed in an unknown way.") from error


def write_npz(path: str | Path, arrays: Mapping[str, NDArray[Any]]) -> None:
    """Write named arrays, compressed, without pickle."""
    pickled = next((name for name, array in arrays.items() if array.dtype.hasobject), None)
    if pickled is not None:
        raise OpenSetError(f"Cannot write {path}: the array '{pickled}' holds Python objects; give it numbers or text.")
    with replacing(path) as temporary, temporary.open("wb") as stream:
        # Without its option allow_pickle, which NumPy 1.26 does not have and would store as one more array.
        np.savez_compressed(stream, **arrays)  # type: ignore[arg-type]
