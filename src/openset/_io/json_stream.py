"""Large JSON files, entry by entry: a 200 MB result file must not become a gigabyte of dictionaries.

Only what COCO files need: a list of entries, or an object whose values are lists of entries. The file is read in
blocks; whatever is complete in a block is parsed at once by the standard library and handed on.
"""

import gzip
import json
import re
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NoReturn

from openset._core.memory import free_memory
from openset._core.text import shortened
from openset._io.paths import existing, reason
from openset._io.room import as_size
from openset.errors import OpenSetError

_BLOCK = 1 << 20
_SPACE = re.compile(r"[ \t\r\n]*")
_AFTER_A_VALUE = {",", "]", "}", ":", " ", "\t", "\r", "\n"}
_DECODER = json.JSONDecoder()

Chunk = tuple[str | None, Any]
"""The key of a list (None: the file itself is the list), and some of its entries in order.

What is not a list comes whole, for the reader of the file to judge.
"""


def read_chunks(path: str | Path) -> Iterator[Chunk]:
    """Entries of the list, or of every list in the object, that a JSON file (plain or .gz) holds.

    An empty list gives one empty chunk, so that "empty" and "absent" can be told apart.
    """
    file = existing(path)
    try:
        with file.open("rb") as raw:
            packed = raw.read(2) == b"\x1f\x8b"
            raw.seek(0)
            with gzip.GzipFile(fileobj=raw) if packed else raw as stream:
                yield from _Reader(stream.read, file).chunks()
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise OpenSetError(f"{file} is cut off or damaged: {error}.") from error
    except OSError as error:
        raise OpenSetError(f"Cannot read {file}: {reason(error)}.") from error


class _Reader:
    """The part of the file that is in memory, and how far it has been understood."""

    def __init__(self, read: Callable[[int], bytes], file: Path) -> None:
        self.read, self.file = read, file
        self.text, self.at = "", 0
        self.before = 0  # characters that came before `text`
        self.rest = b""  # the start of a character that the last block cut in two
        self.ended = False
        self.place = "at its beginning"
        self.closing = "}"
        self.bad_cut = -1
        self.n_read, self.most = 0, free_memory()

    def chunks(self) -> Iterator[Chunk]:
        opening = self._peek()
        if opening == "[":
            self.closing = "]"
            yield from self._list(None)
        elif opening == "{":
            self.at += 1
            seen: set[str] = set()
            while self._peek() != "}":
                key = self._value()
                if not isinstance(key, str):
                    self._fail("a name in quotes is missing")
                if key in seen:  # half of the readers would take the first, half the second
                    raise OpenSetError(f"{self.file}: the name '{shortened(key)}' occurs twice; keep one.")
                seen.add(key)
                self._expect(":")
                if self._peek() == "[":
                    yield from self._list(key)
                else:
                    yield key, self._value()
                self._separator("}")
            self.at += 1
        else:
            raise OpenSetError(
                f"{self.file} is not a COCO file: those begin with '[' or '{{', this one with {opening!r}."
            )
        if self._peek():
            self._fail("there is more text after the end of the JSON")

    def _list(self, key: str | None) -> Iterator[Chunk]:
        self.at += 1
        n_read = 0
        self.place = "in the list" if key is None else f"in '{key}'"
        if self._peek() == "]":
            yield key, []
        while self._peek() != "]":
            self.place = f"{self.place.split(', entry')[0]}, entry {n_read}"
            entries = self._many()
            n_read += len(entries)
            self._separator("]")
            yield key, entries
        self.at += 1

    def _many(self) -> list[Any]:
        """All complete entries of the block by one parse; if that fails, the next entry alone.

        The cut after the last '},' may fall inside an entry: then brackets or quotes do not balance and the parse
        fails, so a parse that succeeds is correct. If the cut falls behind the list, the parse ends with the list.
        """
        cut = self.text.rfind("},", self.at)
        if cut > self.at and cut != self.bad_cut:
            try:
                entries, end = _DECODER.raw_decode(f"[{self.text[self.at : cut + 1]}]")
            except (ValueError, RecursionError):
                self.bad_cut = cut  # until the next block, entry by entry
            else:
                self.at += end - 2
                return list(entries)
        return [self._value()]

    def _value(self) -> Any:
        """The next value, reading on until it is complete."""
        self._peek()
        while True:
            try:
                value, end = _DECODER.raw_decode(self.text, self.at)
            except json.JSONDecodeError as error:
                if not self._more():
                    self._fail(error.msg[0].lower() + error.msg[1:], error.pos)
                continue
            except RecursionError:
                self._fail("it is nested too deeply")
            except ValueError:  # Python's own limit
                self._fail("it holds a number of thousands of digits")
            if self.text[end : end + 1] not in _AFTER_A_VALUE and self._more():  # a number goes on in the next block
                continue
            self.at = end
            return value

    def _peek(self) -> str:
        """The next character that is not a space; empty at the end of the file."""
        while True:
            found = _SPACE.match(self.text, self.at)
            self.at = found.end() if found else self.at
            if self.at < len(self.text):
                return self.text[self.at]
            if not self._more():
                return ""

    def _expect(self, character: str) -> None:
        if self._peek() != character:
            self._fail(f"{character!r} is missing")
        self.at += 1

    def _separator(self, closing: str) -> None:
        """A comma with something behind it, or the closing bracket, which stays to be read."""
        if self._peek() == ",":
            self.at += 1
            if self._peek() == closing:
                self._fail("there is a comma after the last entry")
        elif self._peek() != closing:
            self._fail(f"a comma or {closing!r} is missing")

    def _more(self) -> bool:
        """Forget what is understood and read one more block (longer ones for longer entries)."""
        if self.ended:
            return False
        block = self.read(max(_BLOCK, len(self.text) - self.at))
        self.ended = not block
        self.n_read += len(block)
        if self.most is not None and self.n_read > self.most:  # what is kept of entries takes about as much
            raise OpenSetError(
                f"{self.file} does not fit into memory: it is more than {as_size(self.n_read)} of text, unpacked, and "
                f"{as_size(self.most)} were free."
            )
        data = self.rest + block
        try:
            fresh, self.rest = data.decode("utf-8"), b""
        except UnicodeDecodeError as error:
            if self.ended or error.start < len(data) - 4:
                raise OpenSetError(f"{self.file} is not UTF-8 text {self.place}.") from error
            fresh, self.rest = data[: error.start].decode("utf-8"), data[error.start :]
        if self.before + self.at == 0:
            fresh = fresh.removeprefix("\ufeff")
        self.before += self.at
        self.text, self.at, self.bad_cut = self.text[self.at :] + fresh, 0, -1
        return not self.ended

    def _fail(self, what: str, at: int | None = None) -> NoReturn:
        """Say where it breaks; text that stops without its last bracket was cut off, most likely in copying."""
        place = self.before + (self.at if at is None else at)
        while self._more():
            pass
        at = place - self.before
        tail = self.text.rstrip()
        if at >= len(tail) or tail[-1] != self.closing:
            ending = self.before + len(self.text)
            raise OpenSetError(
                f"{self.file} is cut off {self.place}: it ends after {ending} characters. Copy it again."
            )
        raise OpenSetError(f"{self.file} is not valid JSON {self.place}: {what} (character {place}).")
