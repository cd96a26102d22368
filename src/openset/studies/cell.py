"""A cell of a grid: what to train, where it is run, which other training runs serve it, and running it."""

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

from openset._io.folder_lock import hold
from openset._io.json_files import read_json
from openset.errors import OpenSetError
from openset.methods import METHODS
from openset.protocols import PROTOCOLS, load, parse_stand_in
from openset.studies.choice import Setting
from openset.studies.key import Key
from openset.studies.results_files import ResultsFile
from openset.train.config import Config, read_config
from openset.train.loop import Watch
from openset.train.run import STATE, begin, reapply, rescore, share_beginning, train
from openset.train.state import FIELDS_WITHOUT_EFFECT, differences


@dataclass(frozen=True)
class Layout:
    """Which folder a run lies in: `OUT/PROTOCOL/METHOD-SETTING/split0-seed0`."""

    out: Path
    setting: str = ""
    marked: bool = False
    """Whether the folder's name ends with a mark of the recipe, so that another recipe has another folder."""

    def folder(self, config: Config) -> Path:
        """The run folder of a config."""
        method = "-".join(filter(None, [config.method.name, self.setting]))
        run = f"split{config.split}-seed{config.seed}"
        run = f"{run}-{recipe_fingerprint(config)[:8]}" if self.marked else run
        return self.out / protocol_name(config.protocol) / folder_name(method) / run


def protocol_name(protocol: str) -> str:
    """What a protocol is called in tables and folders: its name, or that of its file.

    >>> protocol_name("cifar+10"), protocol_name("mine/garden.yaml"), protocol_name("x/...yaml")
    ('cifar+10', 'garden', 'protocol')
    >>> protocol_name("stand-in:cifar10@2")
    'stand-in-cifar10-split2'
    """
    stand_in = parse_stand_in(protocol)
    if stand_in is not None:
        return f"stand-in-{protocol_name(stand_in.protocol)}" + (f"-split{stand_in.split}" if stand_in.split else "")
    return folder_name(protocol if protocol in PROTOCOLS else Path(protocol).stem, "protocol")


def folder_name(text: str, otherwise: str = "run") -> str:
    """A text as the name of a folder, which must not lead anywhere else."""
    return re.sub(r'[\x00-\x1f/\\:*?"<>|]', "-", text).strip(". ") or otherwise


@dataclass(frozen=True)
class Cell:
    """One run of a grid."""

    key: Key
    config: Config
    layout: Layout
    results: ResultsFile | None = None
    """Where its results are kept beside the run folder."""
    value: Setting | None = None
    """Of the field that varies over the grid."""

    @property
    def protocol(self) -> str:
        """The protocol in full, where the key has only what it is called in folders."""
        return self.config.protocol

    @property
    def out(self) -> Path:
        """The folder of the whole grid."""
        return self.layout.out

    @property
    def folder(self) -> Path:
        """Where it is run."""
        return self.layout.folder(self.config)

    @property
    def fingerprint(self) -> str:
        """Of the recipe as it is now."""
        return recipe_fingerprint(self.config)

    @property
    def trained_for(self) -> str:
        """Name of another protocol whose training serves this one: the test part alone differs."""
        name = self.config.protocol
        return PROTOCOLS[name].trained_as if name in PROTOCOLS else ""

    @property
    def source(self) -> "Cell | None":
        """The cell of the protocol that this one is trained for."""
        return self._like(replace(self.config, protocol=self.trained_for)) if self.trained_for else None

    @property
    def siblings(self) -> "list[Cell]":
        """Cells that have the same weights and another score."""
        own = self.config.method.name
        return [self._with_method(name) for name in _trained_like(own) if name != own]

    @cached_property
    def plain_epochs(self) -> int:
        """Whole epochs at the start that a training of the method's `warm_start_from` has too."""
        method = METHODS[self.config.method.name]
        return int(method(1, 2, **self.config.method.options).plain_epochs) if method.warm_start_from else 0

    @property
    def beginnings(self) -> "list[Cell]":
        """Cells whose first `plain_epochs` epochs are those of this one."""
        if not self.plain_epochs:
            return []
        plain = METHODS[self.config.method.name].warm_start_from
        return [self._with_method(name) for name in _trained_like(plain)]

    @cached_property
    def training(self) -> str:
        """What decides the weights, as text: equal for cells that one training serves."""
        method = METHODS[self.config.method.name].trained_as or self.config.method.name
        whole = (self.source or self)._with_method(method)
        return json.dumps(whole.config.as_plain(), sort_keys=True)

    @property
    def is_finished(self) -> bool:
        """Whether its run is."""
        return (self.folder / "summary.json").exists()

    @property
    def is_reusable(self) -> bool:
        """Whether its run is finished and was made by the recipe of today."""
        if not self.is_finished:
            return False
        stored = read_config(self.folder / "config.yaml")
        return not any(differences(stored.as_plain(), self.config.as_plain()))

    def run(self, *, on_corrupt: str = "stop", watch: Watch | None = None, wait: bool = False) -> Mapping[str, Any]:
        """Its summary: read, rescored or applied from a training that is there, or trained; a begun run is resumed.

        Another process in its folder is waited for, or it is a `BusyError`.
        """
        if self.is_finished:
            return self._read()
        with hold(self.folder, wait=wait):
            begin(self.config, self.folder, resume=(self.folder / "config.yaml").exists())
            if (self.folder / "summary.json").exists():  # by the process that was waited for
                return self._read()
            source, begun = self.source, (self.folder / STATE).exists()
            if source is not None and (source.is_reusable or not begun):
                source.run(on_corrupt=on_corrupt, watch=watch, wait=wait)
                return reapply(self.config, source.folder, self.folder, on_corrupt=on_corrupt)
            for other in self.siblings:
                if other.is_reusable:
                    return rescore(self.config, other.folder, self.folder, on_corrupt=on_corrupt)
            for other in self.beginnings:
                if share_beginning(self.config, self.plain_epochs, other.folder, self.folder):
                    break
            return train(self.config, self.folder, on_corrupt=on_corrupt, watch=watch)

    def _read(self) -> Mapping[str, Any]:
        begin(self.config, self.folder, resume=True)  # says if it was made by another recipe
        summary = dict(read_json(self.folder / "summary.json"))
        now = _own_data_now(self.config)
        if now and summary.get("data", now) != now:
            raise OpenSetError(
                f"{self.folder} was trained on other data than {self.config.protocol} describes now (fingerprint "
                f"{summary['data']}, now {now}): give another --out, or delete that folder to train it again."
            )
        return summary

    def _with_method(self, name: str) -> "Cell":
        return self._like(read_config(self.config.as_plain(), **{"method.name": name}))

    def _like(self, config: Config) -> "Cell":
        key = replace(self.key, protocol=protocol_name(config.protocol), method=config.method.name)
        return Cell(key, config, self.layout)


def _trained_like(method: str) -> list[str]:
    """Names of the methods that have the training of `method`."""
    training = METHODS[method].trained_as or method
    return [name for name in METHODS if (METHODS[name].trained_as or name) == training]


def _own_data_now(config: Config) -> str:
    """The fingerprint of the data of a protocol that is a file or folder of the user, who may have edited it."""
    name = config.protocol
    if name in PROTOCOLS or parse_stand_in(name) is not None:
        return ""
    edited = Path(name).stat().st_mtime_ns if Path(name).exists() else 0
    return _data_now(name, config.split, config.data_root, edited)


@lru_cache(maxsize=1000)
def _data_now(name: str, split: int, data_root: str | None, edited: int) -> str:
    """Looked up once for all cells of a grid: `edited` tells versions of a protocol apart."""
    return load(name, split=split, data_root=data_root, on_corrupt="skip").fingerprint


def recipe_fingerprint(config: Config) -> str:
    """Sixteen digits that change when a recipe does in anything that the weights depend on."""
    return fingerprint(config.as_plain(), Config().as_plain(), FIELDS_WITHOUT_EFFECT)


def fingerprint(plain: Mapping[str, Any], defaults: Mapping[str, Any], without_effect: Sequence[str] = ()) -> str:
    """Sixteen digits that change when a recipe does; fields at their default do not count, so new ones change nothing.

    >>> fingerprint({"seed": 0, "lr": 0.1}, {"seed": 0}) == fingerprint({"lr": 0.1}, {})
    True
    """
    usual = _flat(defaults)
    fields = {
        name: value
        for name, value in _flat(plain).items()
        if name not in without_effect and (name not in usual or usual[name] != value)
    }
    return hashlib.sha256(json.dumps(fields, sort_keys=True).encode()).hexdigest()[:16]


def _flat(plain: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, value in plain.items():
        found |= _flat(value, f"{prefix}{name}.") if isinstance(value, Mapping) else {f"{prefix}{name}": value}
    return found
