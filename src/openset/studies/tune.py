"""Choosing a setting without looking at unknowns: known classes are held out, and play them.

Every value of the field is trained on several stand-ins (`openset.protocols.stand_in`), which are made of the training
part of the protocol alone. The value with the best mean is chosen; its evidence is kept with it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from openset._core.checks import UNKNOWN
from openset.errors import OpenSetError
from openset.evaluation import provenance
from openset.intervals import Interval, over_splits
from openset.metrics import METRICS
from openset.protocols.stand_in import StandIn
from openset.results.tables import counted, number, signed
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
    def mean(self) -> float:
        """Over stand-ins and seeds."""
        return sum(self.found.values()) / len(self.found)

    @property
    def spread(self) -> Interval | None:
        """Mean, interval and standard deviation over stand-ins; None of a single run."""
        return spread_of(self.found)


def spread_of(found: Mapping[Place, float]) -> Interval | None:
    """Over stand-ins, the seeds of one being one observation; None of a single run."""
    if len(found) < 2:
        return None
    return over_splits(list(found.values()), splits=[number for number, _ in found])


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
    of_methods = vary.field == METHOD  # these are cells that may share trainings
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


def trials(vary: Vary, outcomes: Sequence[Outcome], metric: str) -> list[Trial]:
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
    sign = 1 if METRICS[metric].better == "higher" else -1
    complete = [trial for trial in made if trial.complete]
    if not complete:
        raise OpenSetError(f"No value of {vary.field} could be trained on all stand-ins; nothing is chosen.")
    ranked = sorted(complete, key=lambda trial: -sign * trial.mean)
    best, others = ranked[0], ranked[1:]
    gaps = {str(trial.value): spread_of(_gaps(best, trial)) for trial in others}
    return {
        "field": vary.field,
        "chosen": best.value,
        "reason": _reason(vary, best, others, gaps, metric),
        "distinguishable": bool(others) and _excludes_zero(gaps[str(others[0].value)]),
        "metric": {
            "name": metric,
            "against": "unknown" if METRICS[metric].sees_open_set else "all",
            "better": METRICS[metric].better,
        },
        "values": [_as_json(trial, best, gaps) for trial in made],
    }


def _gaps(best: Trial, other: Trial) -> dict[Place, float]:
    """Best minus other, run by run."""
    return {place: best.found[place] - other.found[place] for place in best.found if place in other.found}


def _excludes_zero(gap: Interval | None) -> bool:
    return gap is not None and (gap.low > 0 or gap.high < 0)


def _reason(vary: Vary, best: Trial, others: Sequence[Trial], gaps: Mapping[str, Interval | None], metric: str) -> str:
    card = METRICS[metric]
    where = counted(len({number for number, _ in best.found}), "stand-in")
    extreme = "highest" if card.better == "higher" else "lowest"
    wording = f"{vary.label(best.value)} has the {extreme} mean {card.title}, {number(best.mean)} over {where}."
    if not others:
        return f"{wording} No other value could be trained on all of them."
    gap, runner_up = gaps[str(others[0].value)], vary.label(others[0].value)
    if gap is None:
        return f"{wording} One run of each does not tell how sure that is."
    between = f"{signed(gap.value)} [{signed(gap.low)}, {signed(gap.high)}]"
    sure = "excludes 0" if _excludes_zero(gap) else "includes 0, so the stand-ins do not distinguish them"
    return f"{wording} Difference to {runner_up}, the next best, paired by run: {between}; the interval {sure}."


def _as_json(trial: Trial, best: Trial, gaps: Mapping[str, Interval | None]) -> dict[str, Any]:
    spread, gap = trial.spread, gaps.get(str(trial.value))
    return {
        "value": trial.value,
        "complete": trial.complete,
        "mean": trial.mean if trial.found else None,
        "sd": None if spread is None else spread.sd,
        "low": None if spread is None else spread.low,
        "high": None if spread is None else spread.high,
        "chosen_minus_this": None
        if trial is best or gap is None
        else {"value": gap.value, "low": gap.low, "high": gap.high},
        "runs": [
            {"stand_in": number, "seed": seed, "value": value, "folder": str(trial.folders[number, seed])}
            for (number, seed), value in sorted(trial.found.items())
        ],
    }


def document(
    choice: Mapping[str, Any],
    outcomes: Sequence[Outcome],
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


def _stand_in(outcome: Outcome) -> dict[str, Any]:
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
