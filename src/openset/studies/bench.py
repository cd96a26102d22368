"""Grids: protocols x methods x splits x seeds, one run folder each; what is done is not done again."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

from openset._io.json_files import read_json
from openset._io.paths import plain_name
from openset.errors import OpenSetError
from openset.methods import METHODS
from openset.metrics import METRICS
from openset.protocols import n_splits
from openset.results.spread import Spread, spread_of
from openset.train.config import Config, read_config
from openset.train.interrupt import Interrupted
from openset.train.loop import Watch
from openset.train.run import begin, for_vectors, holds_vectors, rescore, share_beginning, train
from openset.train.state import differences

COLUMNS = tuple(name for name, card in METRICS.items() if card.headline and not card.variants[0])
"""The headline metrics that need no option."""
_MOST_SPLITS = 5  # when nobody says how many: as the papers have
TITLES = {name: METRICS[name].title for name in COLUMNS}


@dataclass(frozen=True)
class Vary:
    """A field of the recipe and the values it takes, one run each."""

    field: str
    values: tuple[int | float, ...]

    @classmethod
    def parse(cls, text: str) -> "Vary":
        """Read `method.weight=0.05,0.1`.

        >>> Vary.parse("method.weight=0.05,0.1")
        Vary(field='method.weight', values=(0.05, 0.1))
        """
        field, sign, wording = (part.strip() for part in text.partition("="))
        values = [_number(one.strip(), text) for one in wording.split(",") if one.strip()]
        if not field or not sign or not values:
            raise OpenSetError(f"--vary '{text}' is not understood; write for example method.weight=0.05,0.1,0.2.")
        return cls(field, tuple(dict.fromkeys(values)))

    def label(self, value: float) -> str:
        """`weight=0.05`."""
        return f"{self.field.rpartition('.')[2]}={value}"


def _number(text: str, wording: str) -> int | float:
    for kind in (int, float):
        try:
            value = kind(text)
        except ValueError:
            continue
        if math.isfinite(value):
            return value
    raise OpenSetError(f"--vary '{wording}': '{text}' is not a number.")


@dataclass(frozen=True)
class Cell:
    """One run of the grid."""

    protocol: str
    method: str
    config: Config
    folder: Path
    value: float | None = None
    """Of the field that varies."""
    setting: str = ""
    """That field and its value, as `weight=0.05`."""

    @property
    def name(self) -> str:
        """What its row in tables is called."""
        return f"{self.method} {self.setting}".strip()

    @property
    def shared(self) -> dict[str, Any]:
        """What decides its training: equal for methods that differ in the score alone."""
        plain = self.config.as_plain()
        plain["method"] = {**plain["method"], "name": METHODS[self.method].trained_as or self.method}
        return plain

    @property
    def plain_epochs(self) -> int:
        """Whole epochs at the start that a training of the method's `begins_as` has too."""
        return int(METHODS[self.method](1, 2, **self.config.method.options).plain_epochs)

    def warm_start_from(self, other: "Cell") -> bool:
        """Whether the first `plain_epochs` of this training are those of the other cell's."""
        plain = METHODS[self.method].warm_start_from
        if not plain or self.plain_epochs == 0:
            return False
        return read_config(self.config.as_plain(), **{"method.name": plain}).as_plain() == other.shared


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
) -> list[Cell]:
    """All cells, each once; unknown names are found before any training. Without `splits`: the first five there are."""
    if vary is not None and vary.field in ("protocol", "split", "seed", *(one.partition("=")[0] for one in overrides)):
        raise OpenSetError(f"'{vary.field}' cannot be varied: another option sets it already.")
    cells = []
    of_vectors = {protocol: holds_vectors(protocol, data_root) for protocol in protocols}
    grid = dict.fromkeys(  # said twice, a run would count twice, with no spread between the two
        (protocol, *rest)
        for protocol in protocols
        for rest in product(methods, vary.values if vary else [None], _splits_of(protocol, splits), seeds)
    )
    for protocol, method, value, split, seed in grid:
        fields: dict[str, Any] = {"method.name": method, "protocol": protocol, "split": split, "seed": seed}
        setting = ""
        if vary is not None and value is not None:
            fields[vary.field], setting = value, vary.label(value)
        config = read_config(recipe, overrides, data_root=data_root, **fields)
        config = for_vectors(config) if of_vectors[protocol] else config
        stem = plain_name(protocol)
        folder = out / stem / "-".join(filter(None, [method, setting])) / f"split{split}-seed{seed}"
        cells.append(Cell(stem, method, config, folder, value, setting))
    return cells


def _splits_of(protocol: str, wanted: Sequence[int] | None) -> Sequence[int]:
    return range(min(_MOST_SPLITS, n_splits(protocol))) if wanted is None else wanted


def run_cell(
    cell: Cell, cells: Sequence[Cell], *, on_corrupt: str = "stop", watch: Watch | None = None
) -> dict[str, Any]:
    """The summary of a cell: read, rescored from a sibling's training, or trained."""
    stored = cell.folder / "config.yaml"
    begin(cell.config, cell.folder, resume=stored.exists())
    if (cell.folder / "summary.json").exists():
        return dict(read_json(cell.folder / "summary.json"))
    for other in cells:
        same = other is not cell and other.shared == cell.shared
        if same and (other.folder / "summary.json").exists() and not any(_changed(other)):
            return rescore(cell.config, other.folder, cell.folder, on_corrupt=on_corrupt)
    for other in cells:
        if cell.warm_start_from(other) and share_beginning(cell.config, cell.plain_epochs, other.folder, cell.folder):
            break
    return train(cell.config, cell.folder, on_corrupt=on_corrupt, watch=watch)


def _changed(cell: Cell) -> list[tuple[str, Any, Any]]:
    stored = read_config(cell.folder / "config.yaml")
    return list(differences(stored.as_plain(), cell.config.as_plain()))


def run_grid(
    cells: Sequence[Cell],
    *,
    tell: Callable[[Cell, dict[str, Any] | None, str], object],
    on_corrupt: str = "stop",
    watch: Callable[[Cell], Watch | None] = lambda _: None,
) -> tuple[list[tuple[Cell, dict[str, Any]]], list[tuple[Cell, str]]]:
    """Run every cell; a failure is noted and the others go on."""
    done: list[tuple[Cell, dict[str, Any]]] = []
    failed: list[tuple[Cell, str]] = []
    for cell in cells:
        try:
            summary = run_cell(cell, cells, on_corrupt=on_corrupt, watch=watch(cell))
        except (Interrupted, KeyboardInterrupt):
            raise
        except Exception as error:
            reason = str(error) if isinstance(error, OpenSetError) else f"{type(error).__name__}: {error}"
            failed.append((cell, reason))
            tell(cell, None, reason)
        else:
            done.append((cell, summary))
            tell(cell, summary, "")
    return done, failed


def value_of(summary: Mapping[str, Any], metric: str, against: str | None = None) -> float:
    """A figure of a summary, against `against`, by default the unknowns alone where there are negatives too."""
    wanted = [against] if against else ["unknown", "all"]
    for part in wanted:
        for entry in summary["metrics"]:
            if entry["name"] == metric and not entry["params"] and entry["against"] in (part, *_ONCE.get(metric, ())):
                return float(entry["value"])
    raise OpenSetError(f"The runs have no figure '{metric}' against {' or '.join(map(str, wanted))}.")


_ONCE = {"closed_set_accuracy": ("all",)}


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


def tabulate(done: Sequence[tuple[Cell, Mapping[str, Any]]], metrics: Sequence[str] = COLUMNS) -> list[Row]:
    """One row per protocol, method and value of what varies, over splits and seeds."""
    rows = []
    for key in dict.fromkeys((cell.protocol, cell.name) for cell, _ in done):
        mine = [(cell.config.split, summary) for cell, summary in done if (cell.protocol, cell.name) == key]
        splits = [split for split, _ in mine]
        spreads = {metric: spread_of([value_of(summary, metric) for _, summary in mine], splits) for metric in metrics}
        rows.append(Row(*key, spreads))
    return rows
