"""The rules by which a threshold is chosen on validation scores. A new one is a function here with its `@rule` card."""

import math
from dataclasses import replace
from typing import Any

import numpy as np

from openset._core.counts import Tally
from openset._core.decisions import whole_number_for
from openset.curves import Average, f_score_of, youden_of
from openset.errors import OpenSetError, check_share
from openset.operating.origin import Origin, numbered
from openset.operating.picks import FIRST, Pick, Picked, highest, reaching, within
from openset.operating.rates import rates_of
from openset.operating.rule_card import RULES, Rule, parse_rule, rule
from openset.operating.threshold import Threshold, made_now
from openset.scores import Scores


def _acceptance_pick(acceptance: float) -> Pick:
    check_share("at_acceptance", "acceptance", acceptance)
    return reaching(lambda run: whole_number_for(acceptance, run.n_known))


@rule(0.95, needs_open_set=False, pick=_acceptance_pick)
def at_acceptance(scores: Scores, acceptance: float) -> Threshold:
    """Smallest threshold that accepts at least a fraction `acceptance` of the knowns; open-set samples are not needed.

    >>> at_acceptance(Scores([0, 0, 0, 0], [0, 0, 0, 0], [0.1, 0.3, 0.2, 0.9]), 0.75).value
    0.3
    """
    check_share("at_acceptance", "acceptance", acceptance)
    known = _sorted_knowns(scores, "at_acceptance")
    value = known[whole_number_for(acceptance, len(known)) - 1]
    return _from_knowns(scores, value, RULES["at_acceptance"].text(acceptance))


def _fpr_pick(fpr: float) -> Pick:
    check_share("at_fpr", "fpr", fpr, zero=True)
    return within(fpr)


@rule(0.1, needs_open_set=True, pick=_fpr_pick)
def at_fpr(scores: Scores, fpr: float, *, against: str = "all") -> Threshold:
    """Largest threshold that accepts at most a fraction `fpr` of the open-set samples.

    >>> at_fpr(Scores([0, 0, -2, -2], [0, 0, 0, 0], [0.1, 0.3, 0.2, 0.9]), 0.5).value
    0.3
    """
    return _picked(scores, _fpr_pick(fpr), RULES["at_fpr"].text(fpr, against=against), against)


def _f_pick(average: Average = "macro") -> Pick:
    return highest(lambda run: f_score_of(run, average).f_score, per_class=average == "macro")


@rule("macro", needs_open_set=True, pick=_f_pick)
def best_f(scores: Scores, average: Average = "macro", *, against: str = "all") -> Threshold:
    """Threshold of the largest open-set F-score (`average` macro or micro).

    >>> best_f(Scores([0, 0, -2, -2], [0, 0, 0, 0], [0.1, 0.3, 0.5, 0.9])).value
    0.3
    """
    return _picked(scores, _f_pick(average), RULES["best_f"].text(average, against=against), against)


def _youden_pick(average: Average = "macro") -> Pick:
    return highest(lambda run: youden_of(run, average), per_class=average == "macro")


@rule("macro", needs_open_set=True, pick=_youden_pick)
def best_youden(scores: Scores, average: Average = "macro", *, against: str = "all") -> Threshold:
    """Threshold of the largest Youden index (`average` macro or micro)."""
    return _picked(scores, _youden_pick(average), RULES["best_youden"].text(average, against=against), against)


def _accuracy_pick(unknown_share: float = 0.5) -> Pick:
    check_share("best_accuracy", "unknown_share", unknown_share, zero=True)
    return highest(lambda run: (1 - unknown_share) * run.ccr + unknown_share * (1 - run.fpr))


@rule(0.5, needs_open_set=True, pick=_accuracy_pick)
def best_accuracy(scores: Scores, unknown_share: float = 0.5, *, against: str = "all") -> Threshold:
    """Threshold at which most samples are decided correctly, if a fraction `unknown_share` of them is open-set.

    Largest (1 - `unknown_share`) * CCR + `unknown_share` * (1 - FPR), the operational accuracy on these samples; of
    equal ones the smallest threshold.

    >>> best_accuracy(Scores([0, 0, -2, -2], [0, 0, 0, 0], [0.1, 0.3, 0.4, 0.9])).value
    0.3
    """
    rule_text = RULES["best_accuracy"].text(unknown_share, against=against)
    return _picked(scores, _accuracy_pick(unknown_share), rule_text, against)


def _cost_pick(
    false_accept: float, *, false_reject: float = 1.0, misclassified: float = 1.0, unknown_share: float = 0.5
) -> Pick:
    costs = {"false_accept": false_accept, "false_reject": false_reject, "misclassified": misclassified}
    for name, cost in costs.items():
        if not (math.isfinite(cost) and cost >= 0):
            raise OpenSetError(f"min_cost: '{name}' must be a cost of 0 or more, got {cost:g}.")
    check_share("min_cost", "unknown_share", unknown_share, zero=True)

    def saved(run: Tally) -> Any:
        on_knowns = (1 - run.acceptance) * false_reject + (run.acceptance - run.ccr) * misclassified
        return -(unknown_share * run.fpr * false_accept + (1 - unknown_share) * on_knowns)

    return highest(saved)


@rule(10, needs_open_set=True, pick=_cost_pick)
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

    Cost = fraction of unknowns * FPR * `false_accept` + fraction of knowns * (rejected * `false_reject` + accepted but
    wrong * `misclassified`). `unknown_share` is the fraction of open-set samples expected in deployment.

    >>> min_cost(Scores([0, 0, -2, -2], [0, 0, 0, 0], [0.1, 0.3, 0.2, 0.9]), 10.0).value
    0.1
    """
    pick = _cost_pick(false_accept, false_reject=false_reject, misclassified=misclassified, unknown_share=unknown_share)
    rule_text = RULES["min_cost"].text(
        false_accept,
        false_reject=false_reject,
        misclassified=misclassified,
        unknown_share=unknown_share,
        against=against,
    )
    return _picked(scores, pick, rule_text, against)


def _conformal_pick(alpha: float, *, per_class: bool = False) -> Pick:
    check_share("conformal", "alpha", alpha, one=False)
    if per_class:
        raise OpenSetError(
            "A threshold for each class (conformal, per_class=true) is chosen on rows in memory: give one file of "
            "them, or choose one threshold for all classes."
        )
    return reaching(lambda run: _conformal_place(int(run.n_known), alpha))


@rule(0.05, needs_open_set=False, pick=_conformal_pick)
def conformal(scores: Scores, alpha: float, *, per_class: bool = False) -> Threshold:
    """Split-conformal threshold: a new known is rejected with probability at most `alpha`, at any sample size.

    The ceil((n + 1) (1 - alpha))-th smallest score of the n knowns. The guarantee asks only that the new knowns come
    from the same source as these; open-set samples are not used. With fewer than 1/alpha - 1 knowns it holds only if
    nothing is rejected, and the threshold is then the largest number there is.

    `per_class` chooses a threshold for each class, in the same way on the knowns that are predicted as this class. The
    guarantee then holds within each of them: of new knowns predicted as a class, at most a fraction `alpha` is
    rejected. (By the predicted class, not the true one, because that is what is seen when the threshold is applied.)

    >>> conformal(Scores([0] * 9, [0] * 9, [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9]), 0.2).value
    0.8
    >>> conformal(Scores([0, 0, 1, 1], [0, 0, 1, 1], [0.1, 0.2, 0.5, 0.7]), 0.4, per_class=True).per_class
    (0.2, 0.7)
    """
    check_share("conformal", "alpha", alpha, one=False)
    rule_text = RULES["conformal"].text(alpha, per_class=per_class)
    pooled = _from_knowns(scores, _conformal(_sorted_knowns(scores, "conformal"), alpha), rule_text)
    if not per_class:
        return pooled
    known = scores.labels >= 0
    values = tuple(
        _conformal(np.sort(scores.unknown_score[known & (scores.predictions == one)]), alpha)
        for one in range(scores.n_classes)
    )
    origin = (
        pooled.origin
        if pooled.origin.classes is not None
        else replace(pooled.origin, classes=numbered(scores.n_classes))
    )
    return _with_achieved(replace(pooled, origin=origin, per_class=values), scores)


def _conformal(known: Any, alpha: float) -> float:
    """The threshold for sorted scores of knowns; the largest number where they are too few."""
    place = _conformal_place(len(known), alpha)
    return float(known[place - 1] if place <= len(known) else np.finfo(known.dtype).max)


def _conformal_place(n: int, alpha: float) -> int:
    """How many of n knowns are to be accepted; more than there are, where these are too few."""
    return math.ceil(round((n + 1) * (1 - alpha), 9))  # 8.000000000000002 must not become 9


def choose(scores: Scores, rule: str, *, against: str = "all", unknown_share: float | None = None) -> Threshold:
    """Threshold by a rule as the command line writes it: `at_fpr=0.1`, `best_f`, `min_cost(false_accept=10)`, ...

    `against` and `unknown_share`, the fraction of open-set samples expected in deployment, reach the rules that take
    them.

    >>> choose(Scores([0, 0, -2, -2], [0, 0, 0, 0], [0.1, 0.3, 0.2, 0.9]), "at_fpr=95")
    Traceback (most recent call last):
    openset.errors.OpenSetError: at_fpr: 'fpr' must be in [0, 1], got 95. Did you mean 0.95?
    """
    card, given = settled_rule(rule, against, unknown_share)
    if card.needs_open_set and not (scores.labels < 0).any():
        raise needs_open_set(rule, len(scores))
    return card.function(scores, **given)


def settled_rule(rule: str, against: str = "all", unknown_share: float | None = None) -> tuple[Rule, dict[str, Any]]:
    """A rule and what it is given, in its own text and beside it."""
    card, given = parse_rule(rule)
    beside = {"against": None if against == "all" else against, "unknown_share": unknown_share}
    for option, value in beside.items():
        if value is None or option not in card.parameters:
            continue
        if given.setdefault(option, value) != value:
            raise OpenSetError(
                f"'{option}' is {given[option]} in the rule '{rule}' and {value} beside it: give it once."
            )
    return card, given


def needs_open_set(rule: str, n: int) -> OpenSetError:
    """What is said where a rule looks at open-set samples, and all n samples are known."""
    others = " or ".join(one.example for one in RULES.values() if not one.needs_open_set)
    return OpenSetError(
        f"The rule '{rule}' needs open-set samples, and all {n} are known: mark open-set samples with "
        f"label -1 (negative) or -2 (unknown), or choose by {others}, which need none."
    )


def needs_knowns(name: str, n: int) -> OpenSetError:
    """What is said where a rule is computed on knowns, and none of n samples is known."""
    return OpenSetError(f"{name}: found 0 known samples among {n}; the rule is computed on knowns.")


def _sorted_knowns(scores: Scores, name: str) -> Any:
    known = scores.unknown_score[scores.labels >= 0]
    if not len(known):
        raise needs_knowns(name, len(scores))
    return np.sort(known)


def _from_knowns(scores: Scores, value: Any, rule_text: str) -> Threshold:
    n_known = int((scores.labels >= 0).sum())
    return _with_achieved(Threshold(float(value), rule_text, {}, n_known, Origin.of(scores), made_now(scores)), scores)


def _with_achieved(bare: Threshold, scores: Scores) -> Threshold:
    achieved = rates_of(scores, bare.reject(scores))
    kept = {key: share for key, share in achieved.items() if key in ("acceptance", "ccr", "fpr")}
    return replace(bare, achieved=kept)


def _picked(scores: Scores, pick: Pick, rule_text: str, against: str) -> Threshold:
    """The threshold that a pick finds among all scores."""
    counts = scores.counts(against)
    found, first = pick.part(counts), FIRST.part(counts)
    assert found is not None
    assert first is not None
    achieved = {
        "acceptance": found.known / int(counts.n_known),
        "ccr": found.right / int(counts.n_known),
        "fpr": found.open / int(counts.n_open),
    }
    n = len(counts.ranking.score)
    return Threshold(finite(found, first, rule_text), rule_text, achieved, n, Origin.of(scores), made_now(scores))


def finite(found: Picked, first: Picked, rule_text: str) -> float:
    """The threshold; to reject everything seen, a number just below the lowest score, so that JSON can hold it."""
    if found.threshold != -math.inf:
        return found.threshold
    lowest = np.float64(first.threshold)
    with np.errstate(over="ignore"):
        single = np.float32(lowest)
    # A number below it among float32 if it is one: it holds too where the same scores are kept as such.
    value = np.nextafter(single if single == lowest else lowest, np.float32(-np.inf))
    if not np.isfinite(value):
        raise OpenSetError(f"{rule_text}: only a threshold below {lowest} would do, and there is no such number.")
    return float(value)
