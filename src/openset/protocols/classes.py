"""Which classes play which role in one split: found by name, checked to exist once and in one role only."""

import hashlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from openset.data import CATALOG
from openset.errors import OpenSetError, did_you_mean
from openset.protocols.definition import ClassKey, Definition, RandomRoles, Roles, Source

NamesOf = Callable[[str], tuple[str, ...]]


@dataclass(frozen=True)
class RoleClasses:
    """Classes of one data set that play one role together."""

    role: str
    data: str
    classes: tuple[str, ...]
    group: str = ""
    halves_of: str = ""


@dataclass(frozen=True)
class ClassLists:
    """Everybody's role in one split; the known classes in label order."""

    known: RoleClasses
    negative: tuple[RoleClasses, ...]
    unknown: tuple[RoleClasses, ...]

    def __iter__(self) -> Iterator[RoleClasses]:
        yield self.known
        yield from self.negative
        yield from self.unknown

    @property
    def counts(self) -> tuple[int, int, int]:
        """Numbers of known, negative and unknown classes."""
        negative = sum(len(members.classes) for members in self.negative)
        unknown = sum(len(members.classes) for members in self.unknown)
        return len(self.known.classes), negative, unknown


def class_lists(definition: Definition, split: int, names_of: NamesOf, *, unknown: bool = True) -> ClassLists:
    """The classes of one split; `names_of` tells the classes of a data set. Without `unknown`, those are left out.

    Data that only unknown classes come from is then not asked for its names.
    """
    if not 0 <= split < definition.n_splits:
        last = definition.n_splits - 1
        raise OpenSetError(f"{definition.name} has no split {split}: its splits are numbered 0 to {last}.")
    if isinstance(definition.splits, RandomRoles):
        roles = _drawn(definition.splits, split, names_of(definition.data), definition.name)
    else:
        roles = definition.splits[split]
    if not unknown:
        learned = {source.data for source in (roles.known, *roles.negative)}
        roles = replace(roles, unknown=tuple(source for source in roles.unknown if source.data in learned))
    taken: dict[tuple[str, str], str] = {}
    given = {
        source: _named(source, names_of(source.data), role, definition.name)
        for role, source in _by_role(roles)
        if source.classes is not None
    }
    for role, source in _by_role(roles):
        for name in given.get(source, ()):
            _take(taken, source.data, name, _label(role, source), definition.name)
    by_role: dict[str, list[RoleClasses]] = {"known": [], "negative": [], "unknown": []}
    for role, source in _by_role(roles):
        classes = given.get(source)
        if classes is None:
            classes = tuple(name for name in names_of(source.data) if (source.data, name) not in taken)
            if not classes:
                raise OpenSetError(f"{definition.name}: no class of {source.data} is left to be {role}.")
            for name in classes:
                _take(taken, source.data, name, _label(role, source), definition.name)
        by_role[role].append(RoleClasses(role, source.data, classes, source.group, source.halves_of))
    lists = ClassLists(by_role["known"][0], tuple(by_role["negative"]), tuple(by_role["unknown"]) if unknown else ())
    _refuse_namesakes(lists, definition)
    return lists


def same_known(definition: Definition) -> list[tuple[int, int]]:
    """Pairs of splits whose known classes are the same set; the published lists have some."""
    if isinstance(definition.splits, RandomRoles):
        return []
    sets = [frozenset(roles.known.classes or ()) for roles in definition.splits]
    return [(a, b) for b in range(len(sets)) for a in range(b) if sets[a] == sets[b]]


def _by_role(roles: Roles) -> Iterator[tuple[str, Source]]:
    yield "known", roles.known
    yield from (("negative", source) for source in roles.negative)
    yield from (("unknown", source) for source in roles.unknown)


def _label(role: str, source: Source) -> str:
    return f"{role} ({source.group})" if source.group else role


def _named(source: Source, names: tuple[str, ...], role: str, protocol: str) -> tuple[str, ...]:
    return tuple(_class_name(entry, names, source.data, role, protocol) for entry in source.classes or ())


def _class_name(entry: ClassKey, names: Sequence[str], data: str, role: str, protocol: str) -> str:
    """A name as it is written; a number as a name if there is one like it, else as a class id."""
    if str(entry) in names:
        return str(entry)
    if isinstance(entry, int):
        if 0 <= entry < len(names):
            return names[entry]
        raise OpenSetError(
            f"{protocol}: {role} class {entry} does not exist: {data} has classes 0 to {len(names) - 1}."
        )
    titles = CATALOG[data].titles if data in CATALOG else {}
    meant = [name for name, title in titles.items() if title == entry]
    if len(meant) == 1:
        return meant[0]
    raise OpenSetError(
        f"{protocol}: {data} has no class '{entry}' ({role}). {did_you_mean(entry, [*names, *titles.values()])}"
    )


def _take(taken: dict[tuple[str, str], str], data: str, name: str, role: str, protocol: str) -> None:
    before = taken.get((data, name))
    if before == role:
        raise OpenSetError(f"{protocol}: class '{name}' of {data} is listed twice as {role}.")
    if before is not None:
        raise OpenSetError(f"{protocol}: class '{name}' of {data} is both {before} and {role}; a class has one role.")
    taken[data, name] = role


def _refuse_namesakes(lists: ClassLists, definition: Definition) -> None:
    """A user's known class under the same name among the open-set classes of another folder is a mistake."""
    if definition.folder is None:
        return
    known = set(lists.known.classes)
    for members in (*lists.negative, *lists.unknown):
        both = next((name for name in members.classes if name in known and not name.isdigit()), None)
        if both is not None and members.data not in CATALOG:
            raise OpenSetError(
                f"{definition.name}: class '{both}' is both known ({lists.known.data}) and {members.role} "
                f"({members.data}); a class has one role."
            )


def _drawn(random: RandomRoles, split: int, names: tuple[str, ...], protocol: str) -> Roles:
    """Order the classes by a hash of seed, split and name: the same on every machine and for every version."""
    if random.known + random.negative >= len(names):
        raise OpenSetError(
            f"{protocol}: {random.known} known and {random.negative} negative classes leave no unknown one "
            f"among the {len(names)} of {random.data}."
        )
    order = sorted(names, key=lambda name: hashlib.sha256(f"{random.seed}/{split}/{name}".encode()).digest())
    known, negative = order[: random.known], order[random.known : random.known + random.negative]
    data = random.data
    return Roles(
        Source(data, tuple(known)),
        (Source(data, tuple(negative)),) if negative else (),
        (Source(data, tuple(order[random.known + random.negative :])),),
    )
