"""What a protocol says, before any data is opened: one form for the bundled lists, a user's YAML and folders."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from reprlib import Repr
from typing import Any

from openset._core.checks import RESERVED_GROUPS
from openset.errors import OpenSetError, check_share, did_you_mean

ClassKey = str | int

_brief = Repr()
_brief.maxlevel, _brief.maxstring = 2, 100
short = _brief.repr
"""What an error shows of a value: a small file can name a list whose whole text would fill the memory."""


@dataclass(frozen=True)
class Source:
    """Some classes of one data set."""

    data: str
    classes: tuple[ClassKey, ...] | None
    """Names or ids; None means every class that no other role takes."""
    group: str = ""
    halves_of: str = ""
    """A part whose rows are shared out: of each class the first half trains, the second half tests."""


@dataclass(frozen=True)
class Roles:
    """Who plays what in one split."""

    known: Source
    negative: tuple[Source, ...]
    unknown: tuple[Source, ...]


@dataclass(frozen=True)
class RandomRoles:
    """Known classes drawn at random; always the same ones for the same seed."""

    data: str
    known: int
    negative: int
    splits: int
    seed: int


@dataclass(frozen=True)
class Definition:
    """A protocol as written down."""

    name: str
    title: str
    data: str
    splits: tuple[Roles, ...] | RandomRoles
    paper: str = ""
    validation: float = 0.1
    """Fraction of the training samples kept for validation, where the data has no part of its own for it."""
    validation_by: str = "hash"
    test: float = 0.2
    """Fraction of the samples kept for testing, where the data has no part of its own for it."""
    notes: tuple[str, ...] = ()
    superclasses: Mapping[str, Sequence[str]] = field(default_factory=dict)
    published_samples: Mapping[str, Sequence[int]] = field(default_factory=dict)
    folder: Path | None = None
    """Where relative data paths start; None for bundled protocols."""
    trained_as: str = ""
    """A bundled protocol's: another one with the same known classes and training samples, whose training serves it."""

    @property
    def n_splits(self) -> int:
        """How many splits there are."""
        return self.splits.splits if isinstance(self.splits, RandomRoles) else len(self.splits)

    @property
    def needs(self) -> tuple[str, ...]:
        """The data sets it takes samples from."""
        if isinstance(self.splits, RandomRoles):
            return (self.data,)
        roles = self.splits[0]
        return tuple(dict.fromkeys(source.data for source in (roles.known, *roles.negative, *roles.unknown)))


_ROLES = ("known", "negative", "unknown")
_FIELDS = {
    "name",
    "title",
    "paper",
    "data",
    "splits",
    "random",
    "validation",
    "validation_by",
    "test",
    "notes",
    "superclasses",
    "published_samples",
    *_ROLES,
}


def parse(content: Any, *, name: str, where: str, folder: Path | None = None) -> Definition:
    """Check a mapping as read from JSON or YAML and turn it into a definition."""
    if not isinstance(content, Mapping):
        raise OpenSetError(f"{where}: expected fields such as 'data:' and 'known:', found {type(content).__name__}.")
    _check_fields(content, _FIELDS | ({"trained_as"} if folder is None else set()), where)
    data = content.get("data")
    if not isinstance(data, str) or not data:
        raise OpenSetError(f"{where}: the field 'data' is missing: name the data set that holds the known classes.")
    shares = {
        key: check_share(where, key, _number(content[key], key, where), one=False)
        for key in ("validation", "test")
        if key in content
    }
    return Definition(
        name=_text(content, "name", name, where),
        title=_text(content, "title", _text(content, "name", name, where), where),
        data=data,
        splits=_splits(content, data, where),
        paper=_text(content, "paper", "", where),
        validation_by=_text(content, "validation_by", "hash", where),
        notes=_notes(content.get("notes", ()), where),
        superclasses=_superclasses(content.get("superclasses", {}), where),
        published_samples=_published(content.get("published_samples", {}), where),
        folder=folder,
        trained_as=str(content.get("trained_as", "")),
        **shares,
    )


def _text(content: Mapping[str, Any], key: str, default: str, where: str) -> str:
    value = content.get(key, default)
    if not isinstance(value, str | int | float):
        raise OpenSetError(f"{where}: '{key}' must be a text, got {short(value)}.")
    return str(value)


def _notes(content: Any, where: str) -> tuple[str, ...]:
    notes = [content] if isinstance(content, str) else content
    if not isinstance(notes, list | tuple) or not all(isinstance(note, str | int | float) for note in notes):
        raise OpenSetError(f"{where}: 'notes' must be a text or a list of texts, got {short(content)}.")
    return tuple(str(note) for note in notes)


def _superclasses(content: Any, where: str) -> Mapping[str, Sequence[str]]:
    lists = content.values() if isinstance(content, Mapping) else [None]
    if not all(isinstance(members, list) and all(isinstance(name, str | int) for name in members) for members in lists):
        raise OpenSetError(f"{where}: 'superclasses' must name lists of classes, got {short(content)}.")
    return {str(name): [str(member) for member in members] for name, members in content.items()}


def _published(content: Any, where: str) -> Mapping[str, Sequence[int]]:
    rows = content.values() if isinstance(content, Mapping) else [None]
    if not all(isinstance(row, list) and len(row) == 3 and all(isinstance(n, int) for n in row) for row in rows):
        raise OpenSetError(
            f"{where}: 'published_samples' must give 3 numbers for each part, of known, negative and unknown samples, "
            f"got {short(content)}."
        )
    return {str(part): row for part, row in content.items()}


def _splits(content: Mapping[str, Any], data: str, where: str) -> tuple[Roles, ...] | RandomRoles:
    forms = [form for form in ("splits", "random") if form in content]
    if len(forms) > 1:
        raise OpenSetError(f"{where}: give either 'splits' or 'random', not both.")
    if forms and any(role in content for role in _ROLES):
        raise OpenSetError(f"{where}: give either '{forms[0]}' or 'known', 'negative' and 'unknown', not both.")
    if "random" in content:
        return _random(content["random"], data, where)
    if "splits" not in content:
        return (_roles(content, data, where),)
    splits = content["splits"]
    if not isinstance(splits, list) or not splits:
        raise OpenSetError(f"{where}: 'splits' must be a list with one entry of known and unknown classes per split.")
    for number, split in enumerate(splits):
        if not isinstance(split, Mapping):
            raise OpenSetError(f"{where}: split {number} must have fields such as 'known:', found {short(split)}.")
        _check_fields(split, set(_ROLES), f"{where}, split {number}")
    return tuple(_roles(split, data, f"{where}, split {number}") for number, split in enumerate(splits))


def _random(content: Any, data: str, where: str) -> RandomRoles:
    if not isinstance(content, Mapping):
        raise OpenSetError(f"{where}: write 'random: {{known: 6, splits: 5, seed: 0}}', found {short(content)}.")
    _check_fields(content, {"known", "negative", "splits", "seed"}, f"{where}, random")
    numbers = {
        key: content.get(key, default) for key, default in (("known", 0), ("negative", 0), ("splits", 1), ("seed", 0))
    }
    for key, value in numbers.items():
        lowest = 1 if key in {"known", "splits"} else 0
        if not isinstance(value, int) or isinstance(value, bool) or value < lowest:
            raise OpenSetError(
                f"{where}: 'random' needs a whole number from {lowest} up as '{key}', got {short(value)}."
            )
    return RandomRoles(data, **numbers)


def _roles(content: Mapping[str, Any], data: str, where: str) -> Roles:
    known = Source(data, _class_list(content["known"], "known", where) if "known" in content else None)
    negative = _sources(content["negative"], data, "negative", where) if "negative" in content else ()
    unknown = _sources(content["unknown"], data, "unknown", where) if "unknown" in content else None
    if unknown is None:
        unknown = (Source(data, None),)  # the rest
        if known.classes is None:
            raise OpenSetError(
                f"{where}: say which classes are known or which are unknown; the rest is the other kind."
            )
    return Roles(known, negative, unknown)


def _sources(content: Any, data: str, role: str, where: str) -> tuple[Source, ...]:
    """A list of classes; `{data: ..., classes: [...]}`; or groups by name, each one of these two."""
    if isinstance(content, Mapping) and "data" not in content:
        if not content:
            raise OpenSetError(f"{where}: '{role}' has no groups.")
        # The scores would refuse it too, but only when everything is trained.
        reserved = next((group for group in content if str(group) in RESERVED_GROUPS), None)
        if reserved is not None:
            raise OpenSetError(
                f"{where}: a group of '{role}' cannot be called '{reserved}', which has a meaning of its own; "
                "rename it, for example to 'near'."
            )
        return tuple(
            _source(entry, data, f"{role}, group '{group}'", where, str(group)) for group, entry in content.items()
        )
    return (_source(content, data, role, where, ""),)


def _source(content: Any, data: str, what: str, where: str, group: str) -> Source:
    if not isinstance(content, Mapping):
        return Source(data, _class_list(content, what, where), group)
    _check_fields(content, {"data", "classes", "halves_of"}, f"{where}, {what}")
    if not isinstance(content.get("data"), str):
        raise OpenSetError(f"{where}: '{what}' needs a list of classes, or 'data' and 'classes'.")
    classes = _class_list(content["classes"], what, where) if "classes" in content else None
    return Source(content["data"], classes, group, str(content.get("halves_of", "")))


def _class_list(content: Any, what: str, where: str) -> tuple[ClassKey, ...]:
    if not isinstance(content, list) or not content:
        raise OpenSetError(f"{where}: '{what}' must be a list of class names, got {short(content)}.")
    for entry in content:
        if isinstance(entry, bool) or not isinstance(entry, str | int):
            hint = " Put it in quotes." if isinstance(entry, bool) else ""
            raise OpenSetError(f"{where}: '{what}' holds {short(entry)}, which is no class name.{hint}")
    return tuple(content)


def _check_fields(content: Mapping[str, Any], allowed: set[str], where: str) -> None:
    strange = next((key for key in content if key not in allowed), None)
    if strange is not None:
        raise OpenSetError(f"{where}: there is no field '{strange}'. {did_you_mean(str(strange), allowed)}")


def _number(value: Any, key: str, where: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise OpenSetError(f"{where}: '{key}' must be a fraction such as 0.1, got {short(value)}.")
    return float(value)
