"""Protocols: which classes are known, negative and unknown, and the data to train, validate and test on."""

from pathlib import Path

from openset._io.paths import is_folder
from openset.errors import OpenSetError
from openset.protocols.build import build
from openset.protocols.definition import Definition
from openset.protocols.finding import PROTOCOLS, find
from openset.protocols.from_lists import build_from_lists, find_lists
from openset.protocols.parts import Part, Protocol
from openset.protocols.stand_in import N_STAND_INS, build_stand_in, parse_stand_in

__all__ = ["PROTOCOLS", "Definition", "Part", "Protocol", "find", "load", "n_splits", "parse_stand_in"]


def load(
    name: str | Path,
    *,
    split: int = 0,
    data_root: str | Path | None = None,
    lists: str | Path | None = None,
    on_corrupt: str = "stop",
) -> Protocol:
    """Open a protocol with its data, checked: groups disjoint, every class has samples, no part overlaps another.

    Args:
        name: a bundled protocol (`digits`, `cifar10`, `imagenet-p1`, ...; see `PROTOCOLS`), a YAML file, a folder with
            `known/`, `unknown/` and perhaps `negative/` inside, or a folder with `train.csv`, `val.csv`, `test.csv`.
            `stand-in:NAME` holds out known classes of any of these and leaves its test part alone.
        split: which of the protocol's splits.
        data_root: folder of local data sets, `<data_root>/cifar10/train.parquet`; else `OPENSET_DATA`, else the hub.
        lists: a folder of CSV lists to take the samples from instead, such as the ImageNet authors' `p1_train.csv`.
        on_corrupt: `stop` at images that cannot be decoded, or `skip` them; skipped ones are counted in the notes.

    >>> protocol = load("digits", split=0)
    >>> protocol.class_names, protocol.negative_classes, protocol.unknown_classes
    (('2', '4', '5', '9', '8', '3'), ('0', '1'), ('6', '7'))
    >>> protocol.train.array([0, 1]).shape, sorted(set(protocol.train.labels.tolist()))
    ((2, 8, 8, 1), [-1, 0, 1, 2, 3, 4, 5])
    """
    stand_in = parse_stand_in(name)
    if stand_in is not None:
        return build_stand_in(stand_in, split=split, data_root=data_root, on_corrupt=on_corrupt)
    folder = lists if lists is not None else name if _is_lists(name) else None
    if folder is None:
        return build(find(name), split=split, data_root=data_root, on_corrupt=on_corrupt)
    if split != 0:
        raise OpenSetError(f"{folder} has no split {split}: lists are one split, 0.")
    definition = find(name) if lists is not None else None
    return build_from_lists(Path(folder), definition, root=data_root, on_corrupt=on_corrupt)


def n_splits(name: str | Path) -> int:
    """How many splits a protocol has, by the names that `load` takes; its data need not be there.

    >>> n_splits("digits"), n_splits("imagenet-p1"), n_splits("stand-in:digits")
    (5, 1, 3)
    """
    if parse_stand_in(name) is not None:
        return N_STAND_INS
    return 1 if _is_lists(name) else find(name).n_splits


def _is_lists(name: str | Path) -> bool:
    shipped = isinstance(name, str) and name in PROTOCOLS
    return not shipped and is_folder(name) and find_lists(Path(name)) is not None
