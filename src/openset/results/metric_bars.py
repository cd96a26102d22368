"""The gate on evaluations: bars by the names of metrics, for every file and every kind of open-set sample."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from openset.errors import OpenSetError
from openset.evaluation import Evaluation
from openset.metrics import METRICS
from openset.results.gate import Bar, Candidate, GateResult, check_bar, parse_bar

EXAMPLES = "'open_auc>=0.9', 'open_auc.low>=0.9', 'ccr_at_fpr(fpr=0.05)>=0.5' or 'auroc@unknown>=0.8'"


def parse_metric_bar(text: str) -> Bar:
    """Read a bar on a metric; its options are checked, so that nothing is computed for one that cannot hold.

    >>> parse_metric_bar("ccr_at_fpr(fpr=0.05).low@letters>=0.5").against
    'letters'
    >>> parse_metric_bar("auroc(against=far)>=0.9")
    Traceback (most recent call last):
    openset.errors.OpenSetError: --require 'auroc(against=far)>=0.9': auroc has no option 'against'. Write auroc@far.
    """
    bar = parse_bar(text, METRICS, examples=EXAMPLES)
    try:
        METRICS[bar.name].complete(bar.params)
    except OpenSetError as error:
        raise OpenSetError(f"--require '{text}': {error}") from error
    return bar


def needed_by(bars: Sequence[Bar]) -> list[tuple[str, Mapping[str, Any], str | None]]:
    """What `evaluate(..., also=)` must compute for them."""
    return [(bar.name, bar.params, bar.against) for bar in bars]


def check_metric_bars(
    bars: Sequence[Bar],
    names: Sequence[str],
    evaluations: Sequence[Evaluation],
    *,
    against: Sequence[str] | None = None,
) -> list[GateResult]:
    """Hold every evaluation against every bar: against each of `against`, by default the first of the evaluation."""
    return [
        result
        for bar in bars
        for name, evaluation in zip(names, evaluations, strict=True)
        for result in check_bar(
            bar, _candidates(bar, name, evaluation, against), without_interval="leave out --no-intervals"
        )
    ]


def _candidates(bar: Bar, name: str, evaluation: Evaluation, against: Sequence[str] | None) -> Iterator[Candidate]:
    sees_open_set = METRICS[bar.name].sees_open_set
    parts = [bar.against] if bar.against else list(against or evaluation.against[:1])
    for part in parts if sees_open_set else parts[:1]:
        try:
            found = evaluation.find(bar.name, against=part, **bar.params)
        except KeyError as error:
            raise OpenSetError(f"--require '{bar.text}': {name} has no such metric. {error.args[0]}") from error
        where = f"{name} against {part}" if sees_open_set and part != "all" else name
        # Of a value that is known between bounds, what is certain must reach the bar; so must ends of its interval.
        least = found.value if found.least is None else found.least
        most = found.value if found.most is None else found.most
        low = None if found.low is None else found.low - (found.value - least)
        high = None if found.high is None else found.high + (most - found.value)
        yield Candidate(where, least if bar.sign.startswith(">") else most, low, high)
