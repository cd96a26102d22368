"""What there is to say about protocols, as plain values for the command line and for machines."""

import hashlib
import json
from pathlib import Path
from typing import Any

from openset.data import CATALOG, classes_here, parts_here
from openset.protocols.build import Opened, definition_notes
from openset.protocols.classes import ClassLists, RoleClasses, class_lists
from openset.protocols.definition import Definition
from openset.protocols.finding import PROTOCOLS
from openset.protocols.parts import Protocol


def missing_data(definition: Definition, root: str | Path | None = None) -> list[str]:
    """The named data sets (or parts of them) that are not on this machine."""
    lists = class_lists(definition, 0, lambda data: CATALOG[data].class_names) if definition.folder is None else None
    missing: list[str] = []
    for data in definition.needs:
        if data not in CATALOG or lists is None:
            continue
        here = parts_here(data, root=root)
        by_role = [members for members in lists if members.data == data]
        wanted = {members.halves_of for members in by_role if members.halves_of}
        plain = [members for members in by_role if not members.halves_of]
        wanted |= {"test"} if plain else set()
        wanted |= {"train"} if any(members.role != "unknown" for members in plain) else set()
        if here == ("all",):
            continue
        needed = {name for members in by_role for name in members.classes}
        absent = {name for members in by_role for name in _absent(members, data, root)}
        if here and absent:
            missing.append(f"{data} ({len(absent)} of {len(needed)} classes)")
            continue
        lacking = sorted(wanted - set(here))
        if lacking:
            missing.append(data if not here else f"{data} ({', '.join(lacking)})")
    return missing


def _absent(members: RoleClasses, data: str, root: str | Path | None) -> set[str]:
    """Classes that have no folder where every class has one; unknowns are needed for the test alone."""
    present = classes_here(data, "test" if members.role == "unknown" else "train", root=root)
    return set() if present is None else set(members.classes) - present


def rows(root: str | Path | None = None) -> list[dict[str, Any]]:
    """One entry per bundled protocol."""
    table = []
    for name, definition in PROTOCOLS.items():
        known, negative, unknown = class_lists(definition, 0, lambda data: CATALOG[data].class_names).counts
        missing = missing_data(definition, root)
        table.append(
            {
                "name": name,
                "title": definition.title,
                "known": known,
                "negative": negative,
                "unknown": unknown,
                "splits": definition.n_splits,
                "data": list(definition.needs),
                "here": not missing,
                "missing": missing,
            }
        )
    return table


def outline(definition: Definition, split: int, root: str | Path | None = None) -> dict[str, Any]:
    """The class lists of one split, without the samples."""
    lists = class_lists(definition, split, Opened(definition, root, "stop").class_names)
    return _outline(definition, lists, split)


def outline_of(protocol: Protocol, definition: Definition | None) -> dict[str, Any]:
    """Class lists, numbers of samples and fingerprint of an opened protocol."""
    classes = {
        "known": list(protocol.class_names),
        "negative": list(protocol.negative_classes),
        "unknown": list(protocol.unknown_classes),
    }
    groups: dict[str, list[str]] = {}
    if protocol.test.groups is not None:
        for group, name in zip(protocol.test.groups.tolist(), protocol.test.open_classes.tolist(), strict=True):
            if group and name not in groups.setdefault(group, []):
                groups[group].append(name)
    return {
        "name": protocol.name,
        "title": protocol.title,
        "paper": definition.paper if definition else "",
        "split": protocol.split,
        "splits": definition.n_splits if definition else 1,
        "classes": classes,
        "titles": {
            name: protocol.titles[name] for names in classes.values() for name in names if name in protocol.titles
        },
        "groups": groups,
        "superclasses": _superclasses(definition, classes) if definition else {},
        "samples": {part: dict(zip(classes, samples.counts, strict=True)) for part, samples in protocol.parts.items()},
        "fingerprint": protocol.fingerprint,
        "notes": list(protocol.notes),
    }


def _outline(definition: Definition, lists: ClassLists, split: int) -> dict[str, Any]:
    classes = {
        "known": list(lists.known.classes),
        "negative": [name for members in lists.negative for name in members.classes],
        "unknown": [name for members in lists.unknown for name in members.classes],
    }
    titles = {
        name: title for data in definition.needs if data in CATALOG for name, title in CATALOG[data].titles.items()
    }
    digest = hashlib.sha256(
        json.dumps([split, [(members.role, members.group, members.classes) for members in lists]]).encode()
    )
    return {
        "name": definition.name,
        "title": definition.title,
        "paper": definition.paper,
        "split": split,
        "splits": definition.n_splits,
        "classes": classes,
        "titles": {name: titles[name] for names in classes.values() for name in names if name in titles},
        "groups": {members.group: list(members.classes) for members in lists if members.group},
        "superclasses": _superclasses(definition, classes),
        "samples": {
            part: dict(zip(classes, counts, strict=True)) for part, counts in definition.published_samples.items()
        },
        "lists_fingerprint": digest.hexdigest()[:16],
        "notes": definition_notes(definition),
    }


def _superclasses(definition: Definition, classes: dict[str, list[str]]) -> dict[str, dict[str, int]]:
    """How the classes of each superclass are shared out (Fig. 1 of the ImageNet paper)."""
    return {
        name: {role: len(set(members) & set(chosen)) for role, chosen in classes.items()}
        for name, members in definition.superclasses.items()
    }
