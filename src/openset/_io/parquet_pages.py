"""What a Parquet file says of its own pages, checked before a library believes it.

Each page begins with the number of values and bytes in it, and readers make room for what it says: a damaged number
ends in an abort, which nobody can catch. The headers are in Thrift's compact form, of which only numbers matter here.
"""

import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

_MARK = b"PAR1"
_TRUE, _FALSE, _BYTE, _DOUBLE, _TEXT, _LIST, _SET, _MAP, _STRUCT = 1, 2, 3, 7, 8, 9, 10, 11, 12
_DEEPEST = 40
_HEADER = 1 << 16
"""Bytes in which the header of a page ends; texts in it are the smallest and largest value."""


class PagesError(ValueError):
    """A number that cannot be."""


def check_pages(file: Path) -> None:
    """Raise `PagesError` if a page claims more values or bytes than its column can have."""
    with file.open("rb") as stream:
        for column in _columns(stream):
            _check_column(stream, column)


def row_groups(file: Path) -> list[int]:
    """Numbers of rows of the groups of rows, by the file's own account."""
    with file.open("rb") as stream:
        return [_number(_struct(group).get(3)) for group in _list(_file_metadata(stream).get(4))]


def _columns(stream: BinaryIO) -> Iterator[dict[int, Any]]:
    """What the end of the file says of each column of each group of rows."""
    for group in _list(_file_metadata(stream).get(4)):
        for chunk in _list(_struct(group).get(1)):
            column = _struct(chunk).get(3)
            if _struct(chunk).get(1) is None and column is not None:  # not in another file, not encrypted
                yield _struct(column)


def _file_metadata(stream: BinaryIO) -> dict[int, Any]:
    """What the end of the file says."""
    size = stream.seek(0, 2)
    stream.seek(max(0, size - 8))
    length, mark = struct.unpack("<I4s", stream.read(8)) if size >= 12 else (0, b"")
    if mark != _MARK:
        raise PagesError("the mark at its end is missing")
    if length > size - 12:
        raise PagesError("its description is longer than the file")
    stream.seek(size - 8 - length)
    return _Compact(stream.read(length)).struct()


def _check_column(stream: BinaryIO, column: dict[int, Any]) -> None:
    values, unpacked, packed, first = (_number(column.get(field)) for field in (5, 6, 7, 9))
    at = min(first, _number(column[11])) if column.get(11) else first
    end, seen = at + packed, 0
    while at < end and seen < values:
        stream.seek(at)
        reader = _Compact(stream.read(min(_HEADER, end - at)))
        header = reader.struct()
        in_page, stored = _number(header.get(2)), _number(header.get(3))
        if in_page > unpacked or stored > end - at:
            raise PagesError(f"a page claims {max(in_page, stored):,} bytes")
        data, dictionary = header.get(5) or header.get(8), header.get(7)
        count = _number(_struct(data or dictionary or {}).get(1, 0))
        if count > (in_page if data is None else values - seen):
            raise PagesError(f"a page claims {count:,} values")
        seen += 0 if data is None else count
        at += reader.at + stored


def _number(value: Any) -> int:
    if not isinstance(value, int) or value < 0:
        raise PagesError("a number is missing or negative")
    return value


def _struct(value: Any) -> dict[int, Any]:
    if not isinstance(value, dict):
        raise PagesError("a part of its description is missing")
    return value


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


class _Compact:
    """Thrift's compact protocol: fields by number, whole numbers as zigzag varints."""

    def __init__(self, data: bytes) -> None:
        self.data, self.at, self.depth = data, 0, 0

    def struct(self) -> dict[int, Any]:
        self.depth += 1
        if self.depth > _DEEPEST:
            raise PagesError("its description is nested too deeply")
        found: dict[int, Any] = {}
        field = 0
        while (head := self._byte()) != 0:
            field = field + (head >> 4) if head >> 4 else self._signed()
            found[field] = self._value(head & 15)
        self.depth -= 1
        return found

    def _value(self, kind: int) -> Any:
        if kind in (_TRUE, _FALSE):
            return kind == _TRUE
        if kind == _BYTE:
            return self._byte()
        if kind < _DOUBLE:
            return self._signed()
        if kind in (_DOUBLE, _TEXT):
            return self._skip(8 if kind == _DOUBLE else self._varint())
        if kind in (_LIST, _SET):
            head = self._byte()
            count = head >> 4 if head >> 4 < 15 else self._varint()
            return [self._element(head & 15) for _ in range(self._possible(count))]
        if kind == _STRUCT:
            return self.struct()
        raise PagesError("its description is damaged")  # maps do not occur

    def _element(self, kind: int) -> Any:
        return self._byte() == 1 if kind in (_TRUE, _FALSE) else self._value(kind)

    def _possible(self, count: int) -> int:
        """A number of bytes or elements that are still to come."""
        if count > len(self.data) - self.at:
            raise PagesError("its description is cut off")
        return count

    def _skip(self, count: int) -> None:
        self.at += self._possible(count)

    def _byte(self) -> int:
        self._possible(1)
        self.at += 1
        return self.data[self.at - 1]

    def _varint(self) -> int:
        total = shift = 0
        while True:
            byte = self._byte()
            total |= (byte & 127) << shift
            if byte < 128:
                return total
            shift += 7
            if shift > 63:
                raise PagesError("a number is too long")

    def _signed(self) -> int:
        number = self._varint()
        return (number >> 1) ^ -(number & 1)
