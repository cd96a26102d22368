"""One list per kind of thing (metrics, scores, methods, protocols), filled by decorators, read by everybody else."""

from collections.abc import Callable, Iterator
from typing import Generic, TypeVar

from openset.errors import OpenSetError, did_you_mean

Entry = TypeVar("Entry")


class Registry(Generic[Entry]):
    """Entries by name, in the order they were written down.

    >>> fruit: Registry[int] = Registry("fruit")
    >>> fruit.add("apple", 1)
    1
    >>> fruit["appel"]
    Traceback (most recent call last):
    openset.errors.OpenSetError: There is no fruit named 'appel'. Did you mean 'apple'?
    """

    def __init__(self, kind: str) -> None:
        self.kind = kind
        self._entries: dict[str, Entry] = {}

    def add(self, name: str, entry: Entry) -> Entry:
        """Register `entry`; a name is given once only."""
        if name in self._entries:
            raise RuntimeError(f"{self.kind} {name!r} is registered twice")
        self._entries[name] = entry
        return entry

    def register(self, name: str) -> Callable[[Entry], Entry]:
        """Decorator form of `add`."""
        return lambda entry: self.add(name, entry)

    def __getitem__(self, name: str) -> Entry:
        if name in self._entries:
            return self._entries[name]
        raise OpenSetError(f"There is no {self.kind} named {name!r}. {did_you_mean(name, self._entries)}")

    def __contains__(self, name: object) -> bool:
        return name in self._entries

    def __iter__(self) -> Iterator[str]:
        return iter(self._entries)

    def __len__(self) -> int:
        return len(self._entries)

    def values(self) -> Iterator[Entry]:
        """The entries."""
        return iter(self._entries.values())

    def items(self) -> Iterator[tuple[str, Entry]]:
        """Names with their entries."""
        return iter(self._entries.items())
