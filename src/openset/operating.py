"""Choosing the threshold above which a sample is rejected: by rule, on validation scores, then frozen."""

import inspect
import math
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from openset._core.checks import open_mask
from openset._core.counts import Counts, is_rejected
from openset._core.registry import Registry
from openset._io.json_files import as_json, read_json, write_json
from openset.curves import Average, f_score_of, youden_of
from openset.errors import OpenSetError, check_share
from openset.scores import Scores


@dataclass(frozen=True)
class Threshold:
    """A frozen operating point: a sample is rejected iff its unknown score is above `value`."""

    value: float
    rule: str
    """As the command line writes it, then what else it was chosen under where that is not the usual."""
    achieved: dict[str, float]
    """What the threshold does on the data it was chosen on: acceptance, ccr, and fpr if there were open-set samples."""
    n: int
    """Number of samples it was chosen on; of knowns where the rule looks at these alone."""

    def write(self, path: str | Path) -> None:
        """Write the threshold as JSON."""
        write_json(path, asdict(self))

    @classmethod
    def read(cls, path: str | Path) -> "Threshold":
        """Read a threshold written before."""
        content = read_json(path)
        try:
            achieved = {str(name): float(share) for name, share in content["achieved"].items()}
            threshold = cls(float(content["value"]), str(content["rule"]), achieved, int(content["n"]))
            if not all(map(math.isfinite, achieved.values())):
                raise OpenSetError(f"{path} is not a threshold file: what it achieved must be finite numbers.")
            as_json(asdict(threshold))
        except OpenSetError:
            raise
        except (AttributeError, TypeError, KeyError, ValueError, OverflowError) as error:
            if "half a character" in str(error):
                raise OpenSetError(f"{path} is not a threshold file: {error}.") from error
            raise OpenSetError(f"{path} is not a threshold file: it needs value, rule, achieved and n.") from error
        if not math.isfinite(threshold.value):
            raise OpenSetError(f"{path}: the threshold is not a finite number.")
        return threshold

    def apply(self, scores: Scores, *, against: str = "all") -> dict[str, float]:
        """What the threshold does to other scores: acceptance, ccr, and fpr of the open-set samples `against` names.

        Of all of them, also per kind, where there are both.
        """
        rejected = is_rejected(scores.unknown_score, self.value)
        known = scores.labels >= 0
        found: dict[str, float] = {}
        if known.any():
            accepted = ~rejected[known]
            right = (scores.predictions == scores.labels)[known]
            found["acceptance"] = float(accepted.mean())
            found["ccr"] = float((accepted & right).mean())
            if accepted.any():
                found["accuracy_on_accepted"] = float(right[accepted].mean())
        masks = {"fpr": open_mask(scores.labels, against, scores.groups)}
        kinds = {"fpr_negative": scores.labels == -1, "fpr_unknown": scores.labels == -2}
        if against == "all" and all(mask.any() for mask in kinds.values()):
            masks |= kinds
        return found | {name: float((~rejected[mask]).mean()) for name, mask in masks.items() if mask.any()}


RULES: Registry[Callable[..., Threshold]] = Registry("threshold rule")


def _rule_text(rule: Callable[..., Threshold], argument: str, **options: float | str) -> str:
    """The rule in words: `min_cost=10, unknown_share=0.01`; options that have their default are not worth a word."""
    usual = inspect.signature(rule).parameters
    unusual = {name: value for name, value in options.items() if value != usual[name].default}
    return ", ".join([f"{rule.__name__}={argument}", *(f"{name}={_text(value)}" for name, value in unusual.items())])


def _text(value: float | str) -> str:
    return value if isinstance(value, str) else f"{value:g}"


def _freeze(counts: Counts, at: int, rule: str) -> Threshold:
    value = counts.thresholds[at]
    if at == 0:  # reject everything seen: a finite number just below the lowest score, so that JSON can hold it
        lowest = counts.thresholds[1]
        with np.errstate(over="ignore"):
            single = np.float32(lowest)
        # A number below it among float32 if it is one: it holds too where the same scores are kept as such.
        value = np.nextafter(single if single == lowest else lowest, np.float32(-np.inf))
        if not np.isfinite(value):
            raise OpenSetError(
                f"{rule}: only a threshold below {counts.thresholds[1]} would do, and there is no such number."
            )
    achieved = {
        "acceptance": float(counts.acceptance[at]),
        "ccr": float(counts.ccr[at]),
        "fpr": float(counts.fpr[at]),
    }
    return Threshold(float(value), rule, achieved, len(counts.ranking.score))


@RULES.register("at_fpr")
def at_fpr(scores: Scores, fpr: float, *, against: str = "all") -> Threshold:
    """Largest threshold that accepts at most a share `fpr` of the open-set samples.

    >>> at_fpr(Scores([0, 0, -2, -2], [0, 0, 0, 0], [0.1, 0.3, 0.2, 0.9]), 0.5).value
    0.3
    """
    check_share("at_fpr", "fpr", fpr, zero=True)
    counts = scores.counts(against)
    return _freeze(
        counts, int(np.count_nonzero(counts.fpr <= fpr)) - 1, _rule_text(at_fpr, f"{fpr:g}", against=against)
    )


@RULES.register("at_acceptance")
def at_acceptance(scores: Scores, acceptance: float) -> Threshold:
    """Smallest threshold that accepts at least a share `acceptance` of the knowns; open-set samples are not needed.

    >>> at_acceptance(Scores([0, 0, 0, 0], [0, 0, 0, 0], [0.1, 0.3, 0.2, 0.9]), 0.75).value
    0.3
    """
    check_share("at_acceptance", "acceptance", acceptance)
    known = np.sort(_known_scores(scores, "at_acceptance"))
    share = np.arange(1, len(known) + 1) / len(known)
    value = float(known[np.argmax(share >= acceptance)])
    return _from_knowns(scores, value, f"at_acceptance={acceptance:g}")


@RULES.register("best_f")
def best_f(scores: Scores, average: Average = "macro", *, against: str = "all") -> Threshold:
    """Threshold of the largest open-set F-score (`average` macro or micro).

    >>> best_f(Scores([0, 0, -2, -2], [0, 0, 0, 0], [0.1, 0.3, 0.5, 0.9])).value
    0.3
    """
    counts = scores.counts(against)
    at = int(f_score_of(counts, average).f_score.argmax())
    return _freeze(counts, at, _rule_text(best_f, average, against=against))


@RULES.register("best_youden")
def best_youden(scores: Scores, average: Average = "macro", *, against: str = "all") -> Threshold:
    """Threshold of the largest Youden index (`average` macro or micro)."""
    counts = scores.counts(against)
    at = int(youden_of(counts, average).argmax())
    return _freeze(counts, at, _rule_text(best_youden, average, against=against))


@RULES.register("min_cost")
def min_cost(
    scores: Scores,
    false_accept: float,
    *,
    false_reject: float = 1.0,
    misclassified: float = 1.0,
    unknown_share: float = 0.5,
    against: str = "all",
) -> Threshold:
    """Threshold of the lowest expected cost per sample in deployment.

    Cost = share of unknowns * FPR * `false_accept` + share of knowns * (rejected * `false_reject` + accepted but wrong
    * `misclassified`). `unknown_share` is the share of open-set samples expected in deployment.

    >>> min_cost(Scores([0, 0, -2, -2], [0, 0, 0, 0], [0.1, 0.3, 0.2, 0.9]), 10.0).value
    0.1
    """
    for name, cost in (
        ("false_accept", false_accept),
        ("false_reject", false_reject),
        ("misclassified", misclassified),
    ):
        if not (math.isfinite(cost) and cost >= 0):
            raise OpenSetError(f"min_cost: '{name}' must be a cost of 0 or more, got {cost:g}.")
    check_share("min_cost", "unknown_share", unknown_share, zero=True)
    counts = scores.counts(against)
    on_knowns = (1 - counts.acceptance) * false_reject + (counts.acceptance - counts.ccr) * misclassified
    total = unknown_share * counts.fpr * false_accept + (1 - unknown_share) * on_knowns
    wording = _rule_text(
        min_cost,
        f"{false_accept:g}",
        false_reject=false_reject,
        misclassified=misclassified,
        unknown_share=unknown_share,
        against=against,
    )
    return _freeze(counts, int(total.argmin()), wording)


@RULES.register("conformal")
def conformal(scores: Scores, alpha: float) -> Threshold:
    """Split-conformal threshold: a new known is rejected with probability at most `alpha`, at any sample size.

    The ceil((n + 1) (1 - alpha))-th smallest score of the n knowns. The guarantee asks only that the new knowns come
    from the same source as these; open-set samples are not used. With fewer than 1/alpha - 1 knowns it holds only if
    nothing is rejected, and the threshold is then the largest number there is.

    >>> conformal(Scores([0] * 9, [0] * 9, [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9]), 0.2).value
    0.8
    """
    check_share("conformal", "alpha", alpha, one=False)
    known = np.sort(_known_scores(scores, "conformal"))
    # Rounding keeps (n + 1) (1 - alpha) = 8.000000000000002 from becoming 9.
    place = math.ceil(round((len(known) + 1) * (1 - alpha), 9))
    value = known[place - 1] if place <= len(known) else np.finfo(known.dtype).max
    return _from_knowns(scores, float(value), f"conformal={alpha:g}")


def _known_scores(scores: Scores, rule: str) -> Any:
    known = scores.unknown_score[scores.labels >= 0]
    if not len(known):
        raise OpenSetError(f"{rule}: found 0 known samples among {len(scores)}; the rule is computed on knowns.")
    return known


def _from_knowns(scores: Scores, value: float, rule: str) -> Threshold:
    n_known = int((scores.labels >= 0).sum())
    achieved = Threshold(value, rule, {}, n_known).apply(scores)
    kept = {name: share for name, share in achieved.items() if name in ("acceptance", "ccr", "fpr")}
    return Threshold(value, rule, kept, n_known)


def takes(rule: str, option: str) -> bool:
    """Whether a rule, as the command line writes it, looks at an option such as `unknown_share`.

    >>> takes("min_cost=10", "unknown_share"), takes("at_fpr=0.1", "unknown_share")
    (True, False)
    """
    return option in inspect.signature(RULES[rule.partition("=")[0].strip()]).parameters


def choose(scores: Scores, rule: str, *, against: str = "all", unknown_share: float | None = None) -> Threshold:
    """Threshold by a rule as the command line writes it: `at_fpr=0.1`, `at_acceptance=0.95`, `best_f=macro`, ...

    `against` and `unknown_share`, the share of open-set samples expected in deployment, reach the rules that take them.

    >>> choose(Scores([0, 0, -2, -2], [0, 0, 0, 0], [0.1, 0.3, 0.2, 0.9]), "at_fpr=95")
    Traceback (most recent call last):
    openset.errors.OpenSetError: at_fpr: 'fpr' must be in [0, 1], got 95. Did you mean 0.95?
    """
    name, _, argument = (piece.strip() for piece in rule.partition("="))
    function = RULES[name]
    given = {"against": against, **({} if unknown_share is None else {"unknown_share": unknown_share})}
    options: dict[str, Any] = {option: value for option, value in given.items() if takes(name, option)}
    if not argument:
        if name not in ("best_f", "best_youden"):
            raise OpenSetError(f"The rule '{name}' needs a value, for example {_EXAMPLES[name]}.")
        return function(scores, **options)
    if name in ("best_f", "best_youden"):
        return function(scores, argument.strip(), **options)
    try:
        value = float(argument)
    except ValueError as error:
        raise OpenSetError(f"The rule '{rule}' needs a number, for example {_EXAMPLES[name]}.") from error
    return function(scores, value, **options)


_EXAMPLES = {
    "at_fpr": "at_fpr=0.1",
    "at_acceptance": "at_acceptance=0.95",
    "min_cost": "min_cost=10",
    "conformal": "conformal=0.05",
}
