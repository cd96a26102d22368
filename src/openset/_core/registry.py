"""One list per kind of thing (metrics, scores, methods, protocols), filled by decorators, read by everybody else."""

import warnings
from collections.abc import Callable, Iterator
from typing import Any, ClassVar, Generic, TypeVar

from openset.errors import OpenSetError, OpenSetWarning, did_you_mean

Entry = TypeVar("Entry")


class Registry(Generic[Entry]):
    """Entries by name, in the order they were written down.

    `group` names the entry points by which installed packages add theirs: they are loaded when a name is not found or
    all entries are asked for. `adopt(name, thing)` turns what a user wrote into an entry, or says why it is none.

    >>> fruit: Registry[int] = Registry("fruit")
    >>> fruit.add("apple", 1)
    1
    >>> fruit["appel"]
    Traceback (most recent call last):
    openset.errors.OpenSetError: There is no fruit named 'appel'. Did you mean 'apple'?
    """

    _adopting: ClassVar[dict[str, "Registry[Any]"]] = {}
    """Those that users can add to, by kind."""

    def __init__(self, kind: str, *, group: str = "", adopt: Callable[[str, Any], Entry] | None = None) -> None:
        self.kind = kind
        self._entries: dict[str, Entry] = {}
        self._adopt = adopt
        self._group = group
        """Entry points that are not loaded yet."""
        if adopt is not None:
            self._adopting[kind] = self

    @classmethod
    def of_kind(cls, kind: str) -> "Registry[Any]":
        """The one for that kind of thing, among those that users can add to."""
        return cls._adopting[kind]

    def add(self, name: str, entry: Entry) -> Entry:
        """Register `entry`; a name is given once only."""
        if name in self._entries:
            raise OpenSetError(f"There is a {self.kind} named {name!r} already: choose another name.")
        self._entries[name] = entry
        return entry

    def register(self, name: str) -> Callable[[Entry], Entry]:
        """Decorator form of `add`."""
        return lambda entry: self.add(name, entry)

    def take(self, name: str, thing: Any) -> str:
        """Register what a user wrote, under `name` unless it has registered itself; returns its name."""
        if self._adopt is None:
            raise OpenSetError(f"A {self.kind} cannot be added.")
        entry = self._adopt(name, thing)
        for known, one in self._entries.items():
            if one is entry:
                return known
        self.add(name, entry)
        return name

    def _load_installed(self) -> dict[str, Entry]:
        """All entries, also those of installed packages; one that cannot be loaded is reported and left out."""
        group, self._group = self._group, ""
        if group:
            from importlib.metadata import entry_points

            for point in sorted(entry_points(group=group), key=lambda one: one.name):
                try:
                    self.take(point.name, point.load())
                except Exception as error:
                    warnings.warn(
                        f"The {self.kind} '{point.name}' of an installed package ({point.value}) cannot be used: "
                        f"{type(error).__name__}: {error}",
                        OpenSetWarning,
                        stacklevel=3,
                    )
        return self._entries

    def __getitem__(self, name: str) -> Entry:
        if name in self._entries:
            return self._entries[name]
        entries = self._load_installed()
        if name in entries:
            return entries[name]
        own = " If it is your own, name its file: --plugin FILE.py." if self._adopt else ""
        hint = did_you_mean(name, entries)
        raise OpenSetError(f"There is no {self.kind} named {name!r}. {hint}{own if 'Choose' in hint else ''}")

    def __contains__(self, name: object) -> bool:
        return name in self._entries or name in self._load_installed()

    def __iter__(self) -> Iterator[str]:
        return iter(self._load_installed())

    def __len__(self) -> int:
        return len(self._load_installed())

    def values(self) -> Iterator[Entry]:
        """The entries."""
        return iter(self._load_installed().values())

    def items(self) -> Iterator[tuple[str, Entry]]:
        """Names with their entries."""
        return iter(self._load_installed().items())
