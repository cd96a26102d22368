"""Stand-ins for unknowns: known classes of a protocol held out of its training data; its test data stays closed.

`stand-in:cifar10` is a protocol made of the training part of `cifar10`, split 0 (`stand-in:cifar10@2`: split 2). A
third of its known classes plays the unknowns, a fifth of the samples of the others is tested on. Its splits are
different choices of the classes that are held out.
"""

import hashlib
import re
from pathlib import Path
from typing import NamedTuple

import numpy as np

from openset._core.checks import UNKNOWN
from openset.errors import OpenSetError
from openset.protocols.build import Learning, assemble, build_learning
from openset.protocols.classes import ClassLists, RoleClasses
from openset.protocols.finding import find
from openset.protocols.from_lists import find_lists, learning_from_lists
from openset.protocols.held_out import held_out_by_hash
from openset.protocols.parts import Protocol
from openset.protocols.samples import Samples, check_overlap, check_samples

PREFIX = "stand-in:"
N_STAND_INS = 3
"""Choices of classes that have none in common: of three thirds, each is held out once."""
_TESTED = 0.2


class StandIn(NamedTuple):
    """Which protocol is stood in for."""

    protocol: str
    split: int

    @property
    def name(self) -> str:
        """What `load` takes."""
        return f"{PREFIX}{self.protocol}" + (f"@{self.split}" if self.split else "")


def parse_stand_in(name: str | Path) -> StandIn | None:
    """What the name of a stand-in says; None for any other protocol.

    >>> parse_stand_in("stand-in:cifar10@2")
    StandIn(protocol='cifar10', split=2)
    """
    found = re.fullmatch(rf"{PREFIX}(.+?)(?:@(\d{{1,6}}))?", str(name), re.DOTALL)
    return StandIn(found[1], int(found[2] or 0)) if found else None


def held_out_classes(known: tuple[str, ...], number: int) -> tuple[str, ...]:
    """The classes that play the unknowns in stand-in `number`: a third of them, drawn by their names alone.

    The first three choices have no class in common.

    >>> [held_out_classes(("a", "b", "c", "d", "e", "f"), number) for number in range(3)]
    [('b', 'f'), ('c', 'e'), ('a', 'd')]
    """
    size = len(known) // 3
    if not size:
        raise OpenSetError(f"A stand-in holds out one known class of three or more, and there are {len(known)}.")
    turn, place = divmod(number, len(known) // size)
    order = sorted(known, key=lambda name: hashlib.sha256(f"stand-in/{turn}/{name}".encode()).digest())
    chosen = set(order[place * size : (place + 1) * size])
    return tuple(name for name in known if name in chosen)


def build_stand_in(
    stand_in: StandIn, *, split: int = 0, data_root: str | Path | None = None, on_corrupt: str = "stop"
) -> Protocol:
    """The protocol in which stand-in number `split` of the known classes is unknown."""
    learning = _learning(stand_in, data_root, on_corrupt)
    known = learning.lists.known
    held = held_out_classes(known.classes, split)
    kept = tuple(name for name in known.classes if name not in held)
    train, val = (_relabel(part, known.classes, kept) for part in (learning.train, learning.val))
    tested = held_out_by_hash(train.ids, train.classes, _TESTED, "stand-in")
    parts = {
        "train": train.only((train.labels != UNKNOWN) & ~tested),
        "val": val.only(val.labels != UNKNOWN),
        "test": Samples.join([train.only((train.labels == UNKNOWN) | tested), val.only(val.labels == UNKNOWN)]),
    }
    lists = ClassLists(
        RoleClasses("known", known.data, kept, known.group, known.halves_of),
        learning.lists.negative,
        (RoleClasses("unknown", known.data, held),),
    )
    check_samples(stand_in.name, lists, parts)
    check_overlap(stand_in.name, parts)
    note = f"Of the known classes of {stand_in.protocol}, {', '.join(held)} play the unknowns; its test part is closed."
    return assemble(
        name=stand_in.name,
        title=f"{learning.title}, stand-in",
        split=split,
        lists=lists,
        sources=learning.sources,
        parts=parts,
        notes=(note, *learning.notes),
    )


def _learning(stand_in: StandIn, data_root: str | Path | None, on_corrupt: str) -> Learning:
    folder = Path(stand_in.protocol)
    if folder.is_dir() and find_lists(folder) is not None:
        if stand_in.split:
            raise OpenSetError(f"{folder} has no split {stand_in.split}: lists are one split, 0.")
        return learning_from_lists(folder, root=data_root, on_corrupt=on_corrupt)
    return build_learning(find(stand_in.protocol), split=stand_in.split, data_root=data_root, on_corrupt=on_corrupt)


def _relabel(samples: Samples, before: tuple[str, ...], kept: tuple[str, ...]) -> Samples:
    """Known samples with the labels of the classes that are kept; those of the others are unknown."""
    position = {name: place for place, name in enumerate(kept)}
    label_of = np.array([position.get(name, UNKNOWN) for name in before], dtype=np.int64)
    known = samples.labels >= 0
    labels = samples.labels.copy()
    labels[known] = label_of[samples.labels[known]]
    return Samples(samples.source, samples.rows, labels, samples.ids, samples.classes, samples.groups)
