"""The result in plain words."""

from collections.abc import Mapping, Sequence

from openset._core.numbers import bounded, difference, number, p_text, percent, percents
from openset.evaluation import Evaluation, Result
from openset.results.paired import Paired
from openset.results.spread import Spread
from openset.results.views.runs import BenchRow


def verdict(
    names: Sequence[str],
    evaluations: Sequence[Evaluation],
    best: int,
    tests: Sequence[Paired] | None,
    means: Mapping[str, Spread] | None = None,
) -> list[str]:
    """What it all means, the most important first; without `tests` nobody looked for differences.

    `means` are those of OpenAUC over the splits of a model, by its name: the best split says little about a model.
    """
    name, found = names[best], evaluations[best]
    parts, main = found.against, found.against[0]
    sentences = [_means(means)] if means else []
    sentences += [_ranking(name, names, found, main, "files" if means else "models")]
    sentences += [_weaker_side(found, main), _operating(found, main)]
    if tests is not None and len(names) > 1:
        sentences += _paired(name, tests)
    if {"negative", "unknown"} <= set(parts):
        sentences.append(_apart(found))
    return sentences


def ranking(evaluations: Sequence[Evaluation]) -> list[int]:
    """Places of the evaluations from the largest OpenAUC to the smallest; of equals the first comes first."""
    values = [one.find("open_auc", against=one.against[0]).value for one in evaluations]
    return sorted(range(len(values)), key=lambda place: -values[place])


def best_methods(rows: Sequence[BenchRow], metric: str, better: str = "higher") -> str:
    """The method with the best mean on each protocol."""
    choose = max if better == "higher" else min
    wording = []
    for protocol in dict.fromkeys(row.protocol for row in rows):
        best = choose((row for row in rows if row.protocol == protocol), key=lambda row: row.spread.value)
        wording.append(f"{best.method} on {protocol} ({number(best.spread.value)})")
    return f"Best mean {metric}: {', '.join(wording)}."


def open_set(part: str, *, one: bool = False) -> str:
    """How the open-set samples that `against` names are called."""
    known_names = {"all": "open-set sample", "negative": "negative", "unknown": "unknown"}
    called = known_names.get(part, f"sample of '{part}'")
    return called if one else called.replace("sample", "samples") if "sample" in called else f"{called}s"


def _means(means: Mapping[str, Spread]) -> str:
    name = max(means, key=lambda one: means[one].value)
    mean_text = f"{means[name].text} ({means[name].counted})"
    if len(means) == 1:
        return f"The mean OpenAUC of {name} is {mean_text}."
    return f"{name} has the largest mean OpenAUC of {len(means)} models, {mean_text}."


def _ranking(name: str, names: Sequence[str], found: Evaluation, main: str, kind: str) -> str:
    score = _value(found.find("open_auc", against=main))
    meaning = (
        f"a known sample and one of the {open_set(main)}, drawn at random, are both handled correctly (the known one "
        "classified as its class and ranked as the more familiar)"
    )
    chance = percent(found.find("open_auc", against=main).value)
    if len(names) == 1:
        return f"OpenAUC is {score}: in {chance} of cases {meaning}."
    return f"{name} is the best of {len(names)} {kind} by OpenAUC, {score}: in {chance} of cases {meaning}."


def _weaker_side(found: Evaluation, main: str) -> str:
    accuracy, auroc = found.find("closed_set_accuracy"), found.find("auroc", against=main)
    side = ""
    if _surely_below(auroc, accuracy):
        side = " Telling the unknown apart is its weaker side."
    elif _surely_below(accuracy, auroc):
        side = " Classifying the known is its weaker side."
    return (
        f"It classifies {_percents(accuracy)} of the knowns correctly when nothing is rejected, and ranks a known "
        f"below one of the {open_set(main)} with probability {_percents(auroc)} (AUROC).{side}"
    )


def _surely_below(first: Result, second: Result) -> bool:
    """Whether one value is below the other, by more than their intervals allow where there are any."""
    high = first.value if first.high is None else first.high
    low = second.value if second.low is None else second.low
    return high < low


def _operating(found: Evaluation, main: str) -> str:
    passed = found.find("fpr_at_tpr", against=main, positive="known", tpr=0.95)
    right = found.find("ccr_at_fpr", against=main, fpr=0.1)
    return (
        f"If 95 % of the knowns are to be accepted, it catches {_percents(passed, rest=True)} of the {open_set(main)}. "
        f"If at most 10 % of the {open_set(main)} may pass, {_percents(right)} of the knowns are accepted and correct."
    )


def _paired(name: str, tests: Sequence[Paired]) -> list[str]:
    if not tests:
        return ["The models were not run on the same samples, so no paired test is possible."]
    mine = [
        test
        for test in tests
        if test.comparison.metric == "open_auc" and not test.comparison.params and name in (test.first, test.second)
    ]
    if not mine:
        return []
    nearest = min(mine, key=lambda test: abs(test.comparison.difference.value))
    gap = nearest.comparison.difference
    sign = 1 if nearest.first == name else -1
    other = nearest.second if sign == 1 else nearest.first
    low, high = sorted((sign * gap.low, sign * gap.high))
    gap_text = f"{difference(sign * gap.value, low, high)} OpenAUC, {p_text(nearest.p_value)}"
    if nearest.clear:
        which = f"{other}, the nearest one," if len(mine) > 1 else other
        return [f"On the same samples it is better than {which} beyond chance ({gap_text})."]
    return [f"On the same samples it cannot be told apart from {other} ({gap_text})."]


def _apart(found: Evaluation) -> str:
    seen, unseen = found.find("open_auc", against="negative"), found.find("open_auc", against="unknown")
    wording = f"Negatives, seen in training: OpenAUC {_value(seen)}; unknowns, never seen: {_value(unseen)}."
    if seen.high is not None and unseen.low is not None and seen.low is not None and unseen.high is not None:
        if seen.low > unseen.high:
            return f"{wording} What was learned from the negatives does not fully carry over to what is really new."
        if unseen.low > seen.high:
            return f"{wording} The unknowns are easier here than the negatives."
    return wording


def _value(result: Result) -> str:
    return bounded(result.value, result.low, result.high, result.least, result.most)


def _percents(result: Result, *, rest: bool = False) -> str:
    """In percent; with `rest` what is missing to 100 %."""
    value, low, high = result.value, result.low, result.high
    if rest:
        value = 1 - value
        low, high = (None, None) if low is None or high is None else (1 - high, 1 - low)
    return percents(value, low, high)
