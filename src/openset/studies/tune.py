"""Choosing a setting without looking at unknowns: known classes are held out, and play them.

Every value of the field is trained on several stand-ins (`openset.protocols.stand_in`), which are made of the training
part of the protocol alone. The value with the best mean is chosen; its evidence is kept with it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from openset._core.calls import parse_call
from openset._core.checks import UNKNOWN
from openset._core.numbers import counted, difference, number
from openset.errors import OpenSetError
from openset.metrics import METRICS, titled
from openset.protocols.stand_in import StandIn
from openset.results.provenance import provenance
from openset.results.spread import Spread, spread_of
from openset.scores import Scores
from openset.studies.bench import Vary, make_grid
from openset.studies.cell import Cell
from openset.studies.choice import NOT_TO_VARY, Setting
from openset.studies.running import Outcome
from openset.studies.summaries import value_of
from openset.train.config import read_config

METHOD = "method.name"
_WHERE = (
    "Chosen on known classes of {protocol}, split {split}, that were held out; its test part was not opened. In other "
    "splits some of these classes are unknown."
)
_FLATTERS = (
    "The mean of the chosen value flatters it, since it was chosen for its mean: measure it once on the test part, "
    "with all else frozen."
)
Place = tuple[int, int]
"""Stand-in and seed."""


@dataclass(frozen=True)
class Trial:
    """What one value of the field reached on the stand-ins."""

    value: Setting
    found: Mapping[Place, float]
    """The metric on each stand-in with each seed."""
    folders: Mapping[Place, Path]
    complete: bool
    """Whether nothing failed; others take no part in the choice."""

    @property
    def spread(self) -> Spread:
        """Mean, interval and standard deviation over stand-ins, the seeds of one being one observation."""
        return _spread(self.found)


def _spread(found: Mapping[Place, float]) -> Spread:
    return spread_of(list(found.values()), [place for place, _ in found])


def tuning_grid(
    recipe: str | None,
    protocol: str,
    vary: Vary,
    out: Path,
    *,
    split: int = 0,
    n_stand_ins: int = 3,
    seeds: Sequence[int] = (0,),
    method: str | None = None,
    overrides: Sequence[str] = (),
    data_root: str | None = None,
) -> list[Cell]:
    """The cells to train: every value on every stand-in with every seed."""
    if vary.field in NOT_TO_VARY:
        raise OpenSetError(f"'{vary.field}' says what is trained on, not how: it cannot be tuned.")
    if len(vary.values) < 2:
        raise OpenSetError(f"To choose takes two values or more: --vary {vary.field}=A,B.")
    of_methods = vary.field == METHOD  # these are cells that may share training runs
    usual = method or read_config(recipe, overrides).method.name
    return make_grid(
        [StandIn(protocol, split).name],
        [str(value) for value in vary.values] if of_methods else [usual],
        range(n_stand_ins),
        seeds,
        out,
        recipe=recipe,
        overrides=overrides,
        data_root=data_root,
        vary=None if of_methods else vary,
    )


def trials(vary: Vary, outcomes: Sequence[Outcome[Cell]], metric: str) -> list[Trial]:
    """What each value reached, on the stand-ins and seeds that all complete ones have."""
    made = []
    for value in vary.values:
        mine = [one for one in outcomes if _value(one.cell) == value]
        done = {(one.cell.config.split, one.cell.config.seed): one for one in mine if one.summary is not None}
        found = {place: value_of(one.summary or {}, metric) for place, one in done.items()}
        folders = {place: one.cell.folder for place, one in done.items()}
        made.append(Trial(value, found, folders, len(done) == len(mine) > 0))
    return made


def _value(cell: Cell) -> Setting:
    return cell.key.method if cell.value is None else cell.value


def choose(vary: Vary, made: Sequence[Trial], metric: str) -> dict[str, Any]:
    """The choice with its evidence: the complete value with the best mean, the first of equals."""
    name, params = parse_call(metric)
    card = METRICS[name]
    sign = 1 if card.better == "higher" else -1
    complete = [trial for trial in made if trial.complete]
    if not complete:
        raise OpenSetError(f"No value of {vary.field} could be trained on all stand-ins; nothing is chosen.")
    ranked = sorted(complete, key=lambda trial: -sign * trial.spread.value)
    best, others = ranked[0], ranked[1:]
    gaps = {str(trial.value): _spread(_gaps(best, trial)) for trial in others}
    return {
        "field": vary.field,
        "chosen": best.value,
        "reason": _reason(vary, best, others, gaps, titled(card, params), card.better),
        "distinguishable": bool(others) and gaps[str(others[0].value)].excludes_zero,
        "metric": {
            "name": name,
            "params": params,
            "against": "unknown" if card.sees_open_set else "all",
            "better": card.better,
        },
        "values": [_as_json(trial, gaps) for trial in made],
    }


def _gaps(best: Trial, other: Trial) -> dict[Place, float]:
    """Best minus other, run by run."""
    return {place: best.found[place] - other.found[place] for place in best.found if place in other.found}


def _reason(
    vary: Vary, best: Trial, others: Sequence[Trial], gaps: Mapping[str, Spread], title: str, better: str
) -> str:
    where = counted(len({place for place, _ in best.found}), "stand-in")
    extreme = "highest" if better == "higher" else "lowest"
    wording = f"{vary.label(best.value)} has the {extreme} mean {title}, {number(best.spread.value)} over {where}."
    if not others:
        return f"{wording} No other value could be trained on all of them."
    gap, runner_up = gaps[str(others[0].value)], vary.label(others[0].value)
    if gap.low is None:
        return f"{wording} One run of each does not tell how sure that is."
    sure = "excludes 0" if gap.excludes_zero else "includes 0, so the stand-ins do not distinguish them"
    between = difference(gap.value, gap.low, gap.high)
    return f"{wording} Difference to {runner_up}, the next best, paired by run: {between}; the interval {sure}."


def _as_json(trial: Trial, gaps: Mapping[str, Spread]) -> dict[str, Any]:
    gap = gaps.get(str(trial.value))
    return {
        "value": trial.value,
        "complete": trial.complete,
        "mean": trial.spread.as_json() if trial.found else None,
        "chosen_minus_this": None if gap is None else gap.as_json(),
        "runs": [
            {"stand_in": place, "seed": seed, "value": value, "folder": str(trial.folders[place, seed])}
            for (place, seed), value in sorted(trial.found.items())
        ],
    }


def document(
    choice: Mapping[str, Any],
    outcomes: Sequence[Outcome[Cell]],
    *,
    protocol: str,
    split: int,
    recipe: str | None,
    overrides: Sequence[str],
) -> dict[str, Any]:
    """All that is kept of a choice."""
    stand_ins: dict[int, dict[str, Any]] = {}
    for one in outcomes:
        if one.summary is not None:
            stand_ins.setdefault(one.cell.config.split, _stand_in(one))
    return {
        "schema": 1,
        **choice,
        "protocol": protocol,
        "split": split,
        "recipe": recipe,
        "overrides": list(overrides),
        "stand_ins": [stand_ins[number] for number in sorted(stand_ins)],
        "failed": [{"run": str(one.cell.folder), "reason": one.reason} for one in outcomes if one.summary is None],
        "notes": [_WHERE.format(protocol=protocol, split=split), _FLATTERS],
        "provenance": provenance(),
    }


def _stand_in(outcome: Outcome[Cell]) -> dict[str, Any]:
    """Which classes played which part."""
    assert outcome.summary is not None
    scores = Scores.read(outcome.cell.folder / "scores_test.parquet")
    assert scores.open_classes is not None
    return {
        "stand_in": outcome.cell.config.split,
        "protocol": outcome.cell.config.protocol,
        "known": outcome.summary["class_names"],
        "held_out": sorted(set(scores.open_classes[scores.labels == UNKNOWN].tolist())),
        "data": outcome.summary["data"],
    }
