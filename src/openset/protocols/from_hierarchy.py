"""Protocols from a hierarchy: named parents become known, negative or unknown, as the ImageNet protocols were made."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any

from openset._io.atomic import write_text
from openset._io.json_files import write_json
from openset.errors import OpenSetError, check_choice, needing
from openset.protocols.hierarchy import Hierarchy

ROLES = ("known", "negative", "unknown")


@dataclass(frozen=True)
class Division:
    """A parent whose classes are shared out between roles: contiguous parts of their sorted ids, in this order."""

    parent: str
    shares: Mapping[str, Fraction]


@dataclass(frozen=True)
class Made:
    """Classes by role, and what a reader should know about them."""

    classes: Mapping[str, tuple[str, ...]]
    superclasses: Mapping[str, tuple[str, ...]]
    """Classes by the parent that gave them their role."""
    notes: tuple[str, ...] = field(default=())

    def content(self, data: str, title: str) -> dict[str, Any]:
        """As a protocol's YAML or JSON file holds it."""
        made: dict[str, Any] = {"title": title, "data": data}
        made |= {"notes": list(self.notes)} if self.notes else {}
        made |= {role: list(self.classes[role]) for role in ROLES if self.classes[role]}
        return made | {"superclasses": {name: list(members) for name, members in self.superclasses.items()}}


def parse_division(text: str) -> Division:
    """Read `PARENT=role:part,role:part`; parts are of any size, and 1 where they are left out.

    `unknown:0` takes those classes alone that have no training samples.

    >>> parse_division("hunting dog=known,negative").shares
    {'known': Fraction(1, 2), 'negative': Fraction(1, 2)}
    """
    parent, sign, rest = text.rpartition("=")
    weights: dict[str, Fraction] = {}
    for entry in rest.split(","):
        role, _, part = (piece.strip() for piece in entry.partition(":"))
        if not sign or not parent.strip() or role not in ROLES or role in weights:
            raise OpenSetError(
                f"--divide '{text}' is not understood; write for example 'hunting dog=known,negative' or "
                "'animal=known:2,negative:1,unknown:1'."
            )
        try:
            weights[role] = Fraction(part or 1)
        except (ValueError, ZeroDivisionError):
            weights[role] = Fraction(-1)
        if weights[role] < 0:
            raise OpenSetError(f"--divide '{text}': '{part}' is not a part; write a number such as 1 or 0.5.")
    whole = sum(weights.values(), Fraction(0))
    if not whole:
        raise OpenSetError(f"--divide '{text}': all parts are 0.")
    return Division(parent.strip(), {role: weight / whole for role, weight in weights.items()})


def make_protocol(
    classes: Sequence[str],
    tree: Hierarchy,
    *,
    parents: Mapping[str, Sequence[str]],
    divisions: Sequence[Division] = (),
    trained: Collection[str] | None = None,
) -> Made:
    """Give each class the role of its nearest named ancestor; classes below none of them take no part.

    `parents` names those of each role, `divisions` those that are shared out. `trained` are the classes that have
    training images: others can only be unknown, and are left out where they would be known or negative. Two named
    ancestors at the same distance that disagree are an error.
    """
    named: dict[str, str | Division] = {}
    strange = next((one for one in classes if one not in tree.parents), None)
    if strange is not None:
        raise OpenSetError(f"The class '{strange}' of the data is not in {tree.source}.")
    above = {node for one in classes for node in tree.distances(one)}
    for role, words in parents.items():
        for word in words:
            _name(named, tree, word, above, check_choice("make_protocol", "role", role, ROLES))
    for division in divisions:
        _name(named, tree, division.parent, above, division)
    if not named:
        raise OpenSetError("Name at least one parent: --known, --negative, --unknown or --divide.")
    members: dict[str, list[str]] = {node: [] for node in named}
    for one in sorted(set(classes)):
        parent = _nearest(one, tree, named)
        if parent is not None:
            members[parent].append(one)
    found: dict[str, list[str]] = {role: [] for role in ROLES}
    for node, below in members.items():
        if not below:
            raise OpenSetError(f"No class of the data is below '{tree.title(node)}' ({node}) in {tree.source}.")
        for one, role in _roles_of(below, named[node], trained).items():
            found[role].append(one)
    left_out = sum(map(len, members.values())) - sum(map(len, found.values()))
    for role in ("known", "unknown"):
        if not found[role]:
            raise OpenSetError(f"No class is {role}: name a parent for it with --{role} or --divide.")
    notes = [f"{left_out} classes without training samples are left out."] if left_out else []
    kept = {one for role in ROLES for one in found[role]}
    below_of = {tree.title(node): tuple(one for one in below if one in kept) for node, below in members.items()}
    return Made({role: tuple(sorted(found[role])) for role in ROLES}, below_of, tuple(notes))


def _name(
    named: dict[str, str | Division], tree: Hierarchy, word: str, above: Collection[str], role: str | Division
) -> None:
    node = tree.find(word, among=above)
    if node in named:
        raise OpenSetError(f"The parent '{word}' is named twice.")
    named[node] = role


def _nearest(one: str, tree: Hierarchy, named: Mapping[str, str | Division]) -> str | None:
    distances = {node: steps for node, steps in tree.distances(one).items() if node in named}
    if not distances:
        return None
    least = min(distances.values())
    nearest = [node for node, steps in distances.items() if steps == least]
    if len({repr(named[node]) for node in nearest}) > 1:
        words = " and ".join(f"'{tree.title(node)}'" for node in nearest)
        raise OpenSetError(f"The class '{tree.title(one)}' ({one}) is as near to {words}: name a parent between them.")
    return nearest[0]


def _roles_of(below: Sequence[str], role: str | Division, trained: Collection[str] | None) -> dict[str, str]:
    """Roles of the classes below a parent; those without training samples are unknown, or take no part."""
    shares = role.shares if isinstance(role, Division) else {role: Fraction(1)}
    if list(shares) == ["unknown"]:
        return dict.fromkeys(below, "unknown")
    rest = [one for one in below if trained is None or one in trained]
    roles = dict.fromkeys(set(below) - set(rest), "unknown") if "unknown" in shares else {}
    start, end = 0, Fraction(0)
    for name, share in shares.items():
        end += share
        stop = round(end * len(rest))
        roles |= dict.fromkeys(rest[start:stop], name)
        start = stop
    return roles


def write_protocol(path: str | Path, content: Mapping[str, Any]) -> None:
    """Write a protocol's definition as YAML or JSON, by the ending of its name."""
    file = Path(path)
    if file.suffix.lower() == ".json":
        write_json(file, content)
    elif file.suffix.lower() in {".yaml", ".yml"}:
        with needing("Writing YAML"):
            import yaml
        write_text(file, yaml.safe_dump(dict(content), sort_keys=False, allow_unicode=True, width=110))
    else:
        raise OpenSetError(f"{file}: a protocol is a .yaml or a .json file.")
