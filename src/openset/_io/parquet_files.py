"""Parquet files as groups of rows, on a disk or on an object store (s3://, gs://): found, described, read in parts."""

import glob
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from openset._io.parquet import readable
from openset._io.parquet_pages import check_pages, row_groups
from openset._io.paths import existing, real_path
from openset.errors import OpenSetError, missing_package

if TYPE_CHECKING:
    import polars as pl

_SIGNS = "*?["
_BETWEEN = "://"


@dataclass(frozen=True)
class Described:
    """What a file says of itself."""

    schema: "pl.Schema"
    groups: tuple[int, ...]
    """Rows in each group of rows."""
    metadata: str
    """What openset wrote into it, as JSON."""


class Files(Protocol):
    """Where files are."""

    def find(self, text: str) -> list[str]:
        """Parquet files that a pattern matches, or that lie in a folder, in the order of their names."""
        ...

    def state(self, file: str) -> tuple[int, int]:
        """Size, and time of the last change in nanoseconds."""
        ...

    def describe(self, file: str) -> Described:
        """By the file's own account; no row is read."""
        ...

    def read(self, file: str, first: int, rows: int, columns: Sequence[str], groups: Sequence[int]) -> "pl.DataFrame":
        """So many rows from the first on; `groups`: rows in each group of rows."""
        ...


def files_of(text: str) -> Files:
    """What reads a name on the command line."""
    scheme, between, _ = text.partition(_BETWEEN)
    if not between:
        return _ON_DISK
    if scheme not in _STORES:
        known = " and ".join(f"{one}://" for one in _STORES)
        raise OpenSetError(f"{text}: addresses that begin with {known} are read, and files on this machine.")
    return _on_store(scheme)


def is_address(text: str) -> bool:
    """Whether a name on the command line is that of something on an object store."""
    return _BETWEEN in text


def is_many(text: str) -> bool:
    """Whether a name on the command line is a pattern, a folder or an address: files that are one model's rows."""
    if is_address(text):
        return True
    return not Path(text).is_file() and (Path(text).is_dir() or any(sign in text for sign in _SIGNS))


def check_found(text: str, found: Sequence[str]) -> None:
    """Files of other kinds are not left out silently."""
    if not found:
        raise OpenSetError(f"Nothing matches '{text}': put the pattern in quotes, and check the folder.")
    odd = next((file for file in found if not file.lower().endswith(".parquet")), None)
    if odd is not None:
        raise OpenSetError(f"{odd} is not a .parquet file: '{text}' must match Parquet files alone.")


# ---- a disk ----------------------------------------------------------------------------------------------------------


class _OnDisk:
    def find(self, text: str) -> list[str]:
        path = Path(text)
        if path.exists() and not path.is_dir():
            return [text]
        if path.is_dir():
            found = sorted(file for file in path.rglob("*.parquet") if not file.is_dir())
            if not found:
                raise OpenSetError(f"{text} is a folder without .parquet files.")
            return list(map(str, found))
        matching = glob.glob(text, recursive=True)  # noqa: PTH207 (a pattern may begin anywhere)
        # A folder that is a link to one above it would give the same rows many times.
        once = {real_path(file): file for file in sorted(map(Path, matching), reverse=True) if file.is_file()}
        files = sorted(once.values())
        check_found(text, list(map(str, files)))
        return list(map(str, files))

    def state(self, file: str) -> tuple[int, int]:
        try:
            stat = Path(file).stat()
        except OSError as error:
            raise OpenSetError(f"{file} is gone or cannot be read any more: {error.strerror}.") from error
        return stat.st_size, stat.st_mtime_ns

    def describe(self, file: str) -> Described:
        import polars as pl

        path = existing(file)
        with readable(path):
            check_pages(path)
            schema = pl.scan_parquet(path, glob=False).collect_schema()
            return Described(schema, tuple(row_groups(path)), pl.read_parquet_metadata(path).get("openset", "{}"))

    def read(self, file: str, first: int, rows: int, columns: Sequence[str], groups: Sequence[int]) -> "pl.DataFrame":
        import polars as pl

        with readable(Path(file)):
            return pl.scan_parquet(Path(file), glob=False).slice(first, rows).select(columns).collect()


_ON_DISK = _OnDisk()


# ---- an object store -------------------------------------------------------------------------------------------------


def _s3(fs: Any) -> Any:
    """Also a server of one's own, by the variables that Amazon's tools read, which pyarrow does not."""
    return fs.S3FileSystem(
        endpoint_override=os.environ.get("AWS_ENDPOINT_URL_S3") or os.environ.get("AWS_ENDPOINT_URL")
    )


_STORES: dict[str, Callable[[Any], Any]] = {"s3": _s3, "gs": lambda fs: fs.GcsFileSystem()}
"""Object stores, and what reads them, of `pyarrow.fs`."""


@cache
def _on_store(scheme: str) -> "_OnStore":
    return _OnStore(scheme)


@dataclass(frozen=True)
class _OnStore:
    """Credentials, region and endpoint are those of the environment, as for the store's own tools."""

    scheme: str

    def find(self, text: str) -> list[str]:
        from fnmatch import fnmatchcase

        path = _path(text)
        fixed = path
        if any(sign in path for sign in _SIGNS):
            until = min(path.index(sign) for sign in _SIGNS if sign in path)
            fixed = path[:until].rpartition("/")[0]
        system = self._system  # says so where pyarrow is missing
        with _answering(text):
            from pyarrow.fs import FileSelector, FileType

            info = system.get_file_info(fixed)
            if info.type == FileType.File:
                return [text]
            listed = system.get_file_info(FileSelector(fixed, recursive=True, allow_not_found=True))
        files = sorted(one.path for one in listed if one.type == FileType.File)
        if fixed == path.rstrip("/"):
            found = [file for file in files if file.lower().endswith(".parquet")]
        else:
            depth = path.count("/")
            found = [file for file in files if fnmatchcase(file, path) and ("**" in path or file.count("/") == depth)]
        found = [f"{self.scheme}{_BETWEEN}{file}" for file in found]
        check_found(text, found)
        return found

    def state(self, file: str) -> tuple[int, int]:
        path = _path(file)
        with _answering(file):
            info = self._system.get_file_info(path)
        if not info.is_file:
            raise OpenSetError(f"{file} is gone.")
        return info.size, info.mtime_ns or 0

    def describe(self, file: str) -> Described:
        import polars as pl

        with self._parquet(file) as opened:
            schema = opened.schema_arrow
            footer = opened.metadata
            groups = tuple(footer.row_group(place).num_rows for place in range(footer.num_row_groups))
            own = (footer.metadata or {}).get(b"openset", b"{}").decode("utf-8", "replace")
            return Described(pl.from_arrow(schema.empty_table()).schema, groups, own)  # type: ignore[union-attr]

    def read(self, file: str, first: int, rows: int, columns: Sequence[str], groups: Sequence[int]) -> "pl.DataFrame":
        import polars as pl

        ends = np.cumsum(groups)
        start, stop = np.searchsorted(ends, [first, first + rows - 1], side="right").tolist()
        with self._parquet(file) as opened:
            table = opened.read_row_groups(list(range(start, stop + 1)), columns=list(columns), use_threads=False)
            frame = pl.from_arrow(table)
        assert isinstance(frame, pl.DataFrame)
        return frame.slice(first - (int(ends[start - 1]) if start else 0), rows).select(columns)

    @cached_property
    def _system(self) -> Any:
        try:
            from pyarrow import fs
        except ImportError as error:
            raise missing_package("Reading from an object store", error) from error
        return _STORES[self.scheme](fs)

    @contextmanager
    def _parquet(self, file: str) -> Iterator[Any]:
        """The file, opened: only the parts that are asked for are fetched."""
        path = _path(file)
        with _answering(file):
            from pyarrow import parquet

            with self._system.open_input_file(path) as stream, parquet.ParquetFile(stream, pre_buffer=True) as opened:
                yield opened


def _path(address: str) -> str:
    """What the store itself calls it."""
    return address.partition(_BETWEEN)[2].rstrip("/")


@contextmanager
def _answering(file: str) -> Iterator[None]:
    """One sentence for each of the ways in which a store, or what lies there, fails."""
    try:
        yield
    except OpenSetError:
        raise
    except FileNotFoundError as error:
        raise OpenSetError(f"There is no {file}.") from error
    except OSError as error:  # the store's own words name the cause: access denied, no such bucket, no answer
        raise OpenSetError(f"{file} cannot be read: {_first(error)}") from error
    except ValueError as error:  # pyarrow's own errors on broken files
        raise OpenSetError(f"{file} is not a readable Parquet file, or it is cut off: {_first(error)}") from error


def _first(error: Exception) -> str:
    return (str(error) or type(error).__name__).splitlines()[0]
