"""How single samples are read. Loaders travel to other processes, where they read the same samples again."""

import platform
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any
from typing import Protocol as Interface

from openset._io.pictures import decode
from openset.errors import OpenSetError

if TYPE_CHECKING:
    from openset.protocols import Part, Protocol


class Loader(Interface):
    """Reads one sample; a `BadImageError` names the one that cannot be read."""

    def __call__(self, row: int) -> Any:
        """The sample in a row."""

    def between(self, first: int, stop: int) -> "Loader":
        """For these rows alone, counted from 0."""


@dataclass(frozen=True)
class PictureFiles:
    """Image files."""

    files: Sequence[Path]

    def __call__(self, row: int) -> Any:
        """The decoded picture."""
        return decode(self.files[row], str(self.files[row]), upright=True)

    def between(self, first: int, stop: int) -> "PictureFiles":
        """Some of the files."""
        return PictureFiles(self.files[first:stop])


@dataclass(frozen=True)
class Texts:
    """Texts, which are in memory."""

    texts: Sequence[str]

    def __call__(self, row: int) -> str:
        """The text."""
        return self.texts[row]

    def between(self, first: int, stop: int) -> "Texts":
        """Some of the texts."""
        return Texts(self.texts[first:stop])


@dataclass(frozen=True)
class OfProtocol:
    """A part of a protocol. Its data does not travel: another process opens it again, and finds the same or says so."""

    name: str
    part: str
    split: int
    data_root: Path | None
    on_corrupt: str
    fingerprint: str
    first: int = 0
    opened: "Part | None" = None

    def __call__(self, row: int) -> Any:
        """A picture, or a vector."""
        part, at = self.opened or self._again(), self.first + row
        source = part.sources[part.source[at]]
        return part[at] if source.kind == "features" else source.picture(int(part.rows[at]))

    def _again(self) -> "Part":
        protocol = _load(self.name, self.split, self.data_root, self.on_corrupt)
        if protocol.fingerprint != self.fingerprint:
            raise OpenSetError(
                f"The data of {self.name} differs on {platform.node()} from where the command was given: copy it there."
            )
        return protocol.parts[self.part]

    def between(self, first: int, stop: int) -> "OfProtocol":
        """From a later sample on."""
        del stop
        return replace(self, first=self.first + first)

    def __reduce__(self) -> tuple[Any, ...]:
        return OfProtocol, tuple(getattr(self, one.name) for one in fields(self) if one.name != "opened")


@lru_cache(maxsize=1)
def _load(name: str, split: int, data_root: Path | None, on_corrupt: str) -> "Protocol":
    from openset.protocols import load

    return load(name, split=split, data_root=data_root, on_corrupt=on_corrupt)
