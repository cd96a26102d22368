"""The grid of `openset bench`: protocols x methods x splits x seeds, and its rows of mean and spread."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

from openset.errors import OpenSetError
from openset.evaluation import HEADLINE
from openset.metrics import METRICS
from openset.protocols import n_splits
from openset.results.spread import Spread, spread_of
from openset.studies.cell import Cell, Layout, protocol_name
from openset.studies.choice import NOT_TO_VARY, Setting
from openset.studies.key import Key
from openset.studies.summaries import value_of
from openset.train.config import read_config
from openset.train.run import for_vectors, holds_vectors

_MOST_SPLITS = 5  # when nobody says how many: as the papers have
TITLES = {name: METRICS[name].title for name in HEADLINE}


@dataclass(frozen=True)
class Vary:
    """A field of the recipe and the values it takes, one run each."""

    field: str
    values: tuple[Setting, ...]

    @classmethod
    def parse(cls, text: str, *, words: bool = False) -> "Vary":
        """Read `method.weight=0.05,0.1`; with `words`, values need not be numbers.

        >>> Vary.parse("method.weight=0.05,0.1")
        Vary(field='method.weight', values=(0.05, 0.1))
        >>> Vary.parse("optimizer.nesterov=true,false", words=True).values
        (True, False)
        """
        field, sign, listed = (part.strip() for part in text.partition("="))
        values = [_setting(one.strip(), text, words) for one in listed.split(",") if one.strip()]
        if not field or not sign or not values:
            raise OpenSetError(f"--vary '{text}' is not understood; write for example method.weight=0.05,0.1,0.2.")
        return cls(field, tuple(dict.fromkeys(values)))

    def label(self, value: Setting) -> str:
        """`weight=0.05`."""
        return f"{self.field.rpartition('.')[2]}={value}"


def _setting(text: str, option: str, words: bool) -> Setting:
    for kind in (int, float):
        try:
            value = kind(text)
        except ValueError:
            continue
        if math.isfinite(value):
            return value
    if words:
        return {"true": True, "false": False}.get(text.lower(), text)
    raise OpenSetError(f"--vary '{option}': '{text}' is not a number.")


def make_grid(
    protocols: Sequence[str],
    methods: Sequence[str],
    splits: Sequence[int] | None,
    seeds: Sequence[int],
    out: Path,
    *,
    recipe: str | None = None,
    overrides: Sequence[str] = (),
    data_root: str | None = None,
    vary: Vary | None = None,
    given: Mapping[str, Setting] | None = None,
) -> list[Cell]:
    """All cells, each once; unknown names are found before any training. Without `splits`: the first five there are.

    `given` are further fields of the recipe.
    """
    if vary is not None and vary.field in (*NOT_TO_VARY, *(given or ()), *(one.partition("=")[0] for one in overrides)):
        raise OpenSetError(f"'{vary.field}' cannot be varied: another option sets it already.")
    cells = []
    of_vectors = {protocol: holds_vectors(protocol, data_root) for protocol in protocols}
    grid = dict.fromkeys(  # given twice, a run would count twice, with no spread between the two
        (protocol, *rest)
        for protocol in protocols
        for rest in product(methods, vary.values if vary else [None], _splits_of(protocol, splits), seeds)
    )
    for protocol, method, value, split, seed in grid:
        fields: dict[str, Any] = {"method.name": method, "protocol": protocol, "split": split, "seed": seed}
        fields |= given or {}
        setting = ""
        if vary is not None and value is not None:
            fields[vary.field], setting = value, vary.label(value)
        config = read_config(recipe, overrides, data_root=data_root, **fields)
        config = for_vectors(config) if of_vectors[protocol] else config
        key = Key(protocol_name(protocol), method, split, seed, setting)
        cells.append(Cell(key, config, Layout(out, setting), value=value))
    return cells


def _splits_of(protocol: str, wanted: Sequence[int] | None) -> Sequence[int]:
    return range(min(_MOST_SPLITS, n_splits(protocol))) if wanted is None else wanted


@dataclass(frozen=True)
class Row:
    """One method on one protocol: the spread of each metric over splits and seeds."""

    protocol: str
    method: str
    spreads: Mapping[str, Spread]

    @property
    def n(self) -> int:
        """Runs."""
        return next(iter(self.spreads.values())).n


def tabulate(done: Sequence[tuple[Cell, Mapping[str, Any]]], metrics: Sequence[str] = HEADLINE) -> list[Row]:
    """One row per protocol, method and value of what varies, over splits and seeds."""
    rows = []
    for name in dict.fromkeys((cell.key.protocol, cell.key.name) for cell, _ in done):
        mine = [(cell.key.split, found) for cell, found in done if (cell.key.protocol, cell.key.name) == name]
        splits = [split for split, _ in mine]
        spreads = {metric: spread_of([value_of(summary, metric) for _, summary in mine], splits) for metric in metrics}
        rows.append(Row(*name, spreads))
    return rows
