"""Reading and writing files safely: whole or not at all, and never running code from what is read."""

import hashlib
import json
import lzma
import math
import os
import shutil
import sys
import tempfile
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from openset._io.csv_layout import csv_layout
from openset.errors import OpenSetError

if TYPE_CHECKING:
    import polars as pl


@contextmanager
def replacing(path: str | Path) -> Iterator[Path]:
    """Yield a temporary path beside `path`, renamed to it only when the block succeeds: never a half file.

    A link stays one, and what it leads to is written; a pipe or a device stays what it is, and is written into.
    """
    target = Path(path)
    if is_folder(target):
        raise OpenSetError(f"Cannot write {target}: it is a folder; give a file name.")
    try:
        through = _is_written_into(target)
        if not through:
            target = target.resolve() if target.is_symlink() else target
            target.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(
            dir=None if through else target.parent, prefix=f".{target.stem[:40]}.", suffix=target.suffix[:40]
        )
    except (OSError, RuntimeError) as error:  # RuntimeError: a link that leads to itself
        raise OpenSetError(f"Cannot write {target}: {reason(error)}.") from error
    os.close(handle)
    temporary = Path(name)
    try:
        yield temporary
        if through:
            with temporary.open("rb") as source, _open_into(target) as stream:
                shutil.copyfileobj(source, stream)
            return
        mask = os.umask(0)
        os.umask(mask)
        temporary.chmod(0o666 & ~mask)  # mkstemp makes private files; a result is an ordinary one
        temporary.replace(target)
    except OSError as error:
        raise OpenSetError(f"Cannot write {target}: {reason(error)}.") from error
    finally:
        temporary.unlink(missing_ok=True)


def _is_written_into(target: Path) -> bool:
    """Whether a name stands for a pipe, a device, or an open file of this process such as /dev/stdout."""
    return target.exists() and (not target.is_file() or target.absolute().parts[1:2] in (("dev",), ("proc",)))


def _open_into(target: Path) -> BinaryIO:
    """The pipe or device to write into; this process's own output goes on where it is, also if it is a file."""
    if os.path.samestat(target.stat(), os.fstat(1)):
        sys.stdout.flush()
        return os.fdopen(os.dup(1), "wb")
    return target.open("ab")


def write_text(path: str | Path, text: str) -> None:
    """Write a text file, whole or not at all."""
    try:
        content = text.encode()
    except UnicodeEncodeError as error:
        raise OpenSetError(f"Cannot write {path}: {half_character(error)}.") from error
    with replacing(path) as temporary:
        temporary.write_bytes(content)


def half_character(error: UnicodeEncodeError) -> str:
    """What is wrong with text that UTF-8 cannot hold: JSON can spell half of a pair, which is no character."""
    around = error.object[max(0, error.start - 20) : error.end + 20]
    return f"there is half a character, which no file can hold, in {around!r}"


def write_json(path: str | Path, content: Any) -> None:
    """Write JSON that every reader accepts (no NaN, no Infinity)."""
    write_text(path, json.dumps(content, indent=2, ensure_ascii=False, allow_nan=False) + "\n")


def as_json(value: Any) -> Any:
    """`value` made of what JSON can hold: NumPy's numbers as Python's, NaN and infinity as nothing.

    >>> as_json({"loss": np.float32(0.5), "last": (1, float("nan"))})
    {'loss': 0.5, 'last': [1, None]}
    """
    if isinstance(value, np.generic | np.ndarray):
        value = value.tolist()
    if value is None or isinstance(value, bool | int):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, str):
        try:
            value.encode()
        except UnicodeEncodeError as error:
            raise TypeError(half_character(error)) from error
        return value
    if isinstance(value, Mapping):
        if not all(isinstance(key, str | int | float | bool | None) for key in value):
            raise TypeError("a key that is no text")
        return {as_json(key): as_json(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [as_json(entry) for entry in value]
    raise TypeError(f"a value of type {type(value).__name__}")


def read_json(path: str | Path) -> Any:
    """Read a JSON file; says where it breaks."""
    file = existing(path)
    try:
        return json.loads(file.read_text(encoding="utf-8"))
    except (json.JSONDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise OpenSetError(f"{file} is not valid JSON: {error}.") from error
    except ValueError as error:  # Python's own limit
        raise OpenSetError(f"{file} is damaged: it holds a number of thousands of digits.") from error
    except OSError as error:
        raise OpenSetError(f"Cannot read {file}: {reason(error)}.") from error


def is_folder(path: str | Path) -> bool:
    """Whether there is such a folder. `Path.is_dir` fails instead where a name is too long for any."""
    return os.path.isdir(path)  # noqa: PTH112


def existing(path: str | Path) -> Path:
    """`path`, if there is a file."""
    file = Path(path)
    check_name(file)
    try:
        if file.is_dir():
            raise OpenSetError(f"{file} is a folder; give the name of a file.")
        if not file.exists():
            raise OpenSetError(f"There is no file {file}.")
        if file.stat().st_size == 0:
            raise OpenSetError(f"{file} is empty.")
    except OSError as error:
        raise OpenSetError(f"Cannot read {file}: {reason(error)}.") from error
    return file


def check_name(path: Path, refused: str = "Cannot read: ") -> None:
    """A name that is not in UTF-8 could neither be shown nor written into any result."""
    try:
        str(path).encode()
    except UnicodeEncodeError as error:
        shown = os.fsencode(path).decode("utf-8", "backslashreplace")
        raise OpenSetError(f"{refused}the name of the file {shown} is not in UTF-8; rename it.") from error


def reason(error: OSError | RuntimeError) -> str:
    """What the system says, without its number and path."""
    return (getattr(error, "strerror", None) or str(error)).lower()


def fingerprint(arrays: Sequence[NDArray[Any] | None]) -> str:
    """Sixteen hexadecimal digits that change when the data changes."""
    digest = hashlib.sha256()
    for array in arrays:
        digest.update(b"|")
        if array is not None:
            digest.update(f"{array.dtype.str}{array.shape}".encode())
            digest.update(np.ascontiguousarray(array).view(np.uint8).data if array.size else b"")
    return digest.hexdigest()[:16]


def read_npz(path: str | Path) -> dict[str, NDArray[Any]]:
    """Arrays of an NPZ file; pickled objects are refused, because loading them could run code."""
    file = existing(path)
    try:
        with file.open("rb") as stream:
            if stream.read(2) not in (b"PK", b"\x93N"):  # a zip archive, or a single array, which is explained below
                raise OpenSetError(f"{file} is not an NPZ file.")
            stream.seek(0)
            archive = np.load(stream, allow_pickle=False)
            if not isinstance(archive, np.lib.npyio.NpzFile):
                raise OpenSetError(f"{file} is a single array, not an NPZ archive with named arrays.")
            return {name: archive[name] for name in archive.files}
    except OpenSetError:
        raise
    except ValueError as error:
        if "pickle" in str(error).lower():
            raise OpenSetError(
                f"{file} holds pickled Python objects, which could run code, so it is not loaded: "
                "save plain number or text arrays instead."
            ) from error
        raise OpenSetError(f"{file} is not a readable NPZ file: {error}.") from error
    except (zipfile.BadZipFile, zlib.error, lzma.LZMAError, EOFError, KeyError, TypeError, OSError) as error:
        raise OpenSetError(f"{file} is not a readable NPZ file, or it is cut off.") from error
    except RuntimeError as error:  # NotImplementedError too
        raise OpenSetError(f"{file} is not a readable NPZ file: encrypted, or packed in an unknown way.") from error
    except (MemoryError, OverflowError) as error:
        raise OpenSetError(f"{file} holds an array too large for the memory, or it is damaged.") from error


def write_npz(path: str | Path, arrays: Mapping[str, NDArray[Any]]) -> None:
    """Write named arrays, compressed, without pickle."""
    pickled = next((name for name, array in arrays.items() if array.dtype.hasobject), None)
    if pickled is not None:
        raise OpenSetError(f"Cannot write {path}: the array '{pickled}' holds Python objects; give it numbers or text.")
    with replacing(path) as temporary, temporary.open("wb") as stream:
        # Without its option allow_pickle, which NumPy 1.26 does not have and would store as one more array.
        np.savez_compressed(stream, **arrays)  # type: ignore[arg-type]


def read_table(path: str | Path, *, names: Sequence[str] = (), prefixes: Sequence[str] = ()) -> "pl.DataFrame":
    """A Parquet or CSV file as a polars frame; CSV columns are text, to be converted where the row can be named.

    A file may write the columns that are called for, `names` and those that begin with one of `prefixes`, with capitals
    and blanks: they are given back as called for. What follows a prefix is the user's own, and stays as it is.
    """
    import polars as pl

    file = existing(path)
    # A file's name is a name: without glob=False polars would read brackets and stars in it as a pattern.
    readers: dict[str, Callable[[Path], pl.DataFrame]] = {
        ".parquet": partial(pl.read_parquet, glob=False),
        ".csv": _read_csv,
    }
    if file.suffix.lower() not in readers:
        raise OpenSetError(f"{file}: cannot read '{file.suffix}' files; use .parquet, .csv or .npz.")
    try:
        table = readers[file.suffix.lower()](file)
    except UnicodeDecodeError as error:
        raise OpenSetError(f"{file} is not a text file in UTF-8; save it as CSV UTF-8.") from error
    except (KeyboardInterrupt, SystemExit):
        raise
    except BaseException as error:  # polars' own errors, and its panics on broken files, which are no Exceptions
        first = (str(error) or type(error).__name__).splitlines()[0]
        raise OpenSetError(
            f"{file} is not a readable {file.suffix[1:].upper()} file, or it is cut off: {first}"
        ) from error
    if table.height == 0:
        raise OpenSetError(f"{file} has column names but no rows.")
    plain = [_plain(name.strip(), names, prefixes) for name in table.columns]
    twice = next((name for name in plain if plain.count(name) > 1 or name.endswith("_duplicated_0")), None)
    if twice is not None:
        raise OpenSetError(f"{file} has the column '{twice.removesuffix('_duplicated_0')}' twice.")
    return table.rename(dict(zip(table.columns, plain, strict=True)))


def _plain(name: str, names: Sequence[str], prefixes: Sequence[str]) -> str:
    plain = name.lower().replace(" ", "_")
    prefix = next((one for one in prefixes if plain.startswith(one)), None)
    if prefix is not None:
        return prefix + name[len(prefix) :].strip()
    return plain if plain in names else name


def _read_csv(file: Path) -> "pl.DataFrame":
    """CSV as spreadsheets write it: comma, semicolon or tab; a byte order mark; blanks around the names."""
    import polars as pl

    layout = csv_layout(file)
    return pl.read_csv(
        file,
        separator=layout.separator,
        eol_char=layout.line_end,
        skip_rows=layout.n_skipped,
        infer_schema=False,
        glob=False,
    )
