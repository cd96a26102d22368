"""The release gate for detectors: bars by the names of metrics, and guards against results that only look good."""

from collections.abc import Iterator, Sequence

from openset.detection.measure.operating import point_name
from openset.detection.measure.rates import images_for_rate
from openset.detection.measure.result import OpenSetEvaluation
from openset.detection.metrics import METRICS, MetricValue, metric_values
from openset.errors import OpenSetError
from openset.results.gate import Bar, Candidate, GateResult, check_bar, parse_bar

EXAMPLES = "'recall>=0.5', 'fp_per_1000.high<=20', 'awi(variant=macro)<=0.05' or 'unreached<=2'"
GUARDS = {"unreached": "unreached<=0", "untested": "untested<=0", "silent": "silent<=0"}
"""Bars that every gate has unless it sets its own: without them, testing or finding less or losing a file passes it."""


def parse_detection_bar(text: str) -> Bar:
    """Read a bar on a metric of a detector.

    >>> parse_detection_bar("fp_per_1000(recall=0.3).high<=20").params
    {'recall': 0.3}
    """
    bar = parse_bar(text, METRICS, examples=EXAMPLES)
    if bar.against is not None:
        raise OpenSetError(
            f"--require '{text}': bars on detectors have no '@{bar.against}'; write for example {EXAMPLES}."
        )
    return bar


def check_complete(bars: Sequence[Bar], *, frozen: bool) -> None:
    """Refuse bars that a worse detector could pass: those that need another one beside them.

    >>> check_complete([parse_detection_bar("awi<=0.05")], frozen=False)
    Traceback (most recent call last):
    openset.errors.OpenSetError: --require 'awi<=0.05': false detections on known images lower it, so a worse detector \
could pass; add a bar on map, precision or precision_open.
    """
    own = [METRICS[bar.name] for bar in bars]
    for bar, card in zip(bars, own, strict=True):
        if card.passed_by_false_detections and not any(one.notices_false_detections for one in own):
            needed = [name for name, one in METRICS.items() if one.notices_false_detections]
            raise _incomplete(bar, "false detections on known images lower it", needed)
        if frozen and card.passed_by_finding_less and not any(one.notices_finding_less for one in own):
            needed = [name for name, one in METRICS.items() if one.notices_finding_less]
            raise _incomplete(bar, "at frozen thresholds lower scores improve it", needed)


def _incomplete(bar: Bar, why: str, needed: Sequence[str]) -> OpenSetError:
    others = f"{', '.join(needed[:-1])} or {needed[-1]}"
    return OpenSetError(f"--require '{bar.text}': {why}, so a worse detector could pass; add a bar on {others}.")


def check_detection_bars(
    result: OpenSetEvaluation, bars: Sequence[Bar], *, allow_unreached: bool = False, allow_silent: bool = False
) -> list[GateResult]:
    """Hold a result against every bar, at every operating point and variant it has, or those that the bar names.

    Any bar brings the guards with it: classes that are not reached, or not tested, and lost results fail the gate
    unless allowed, or unless there is a bar on them.
    """
    check_complete(bars, frozen=result.operating[0].recall is None)
    own = {bar.name for bar in bars}
    allowed = {"unreached": allow_unreached, "untested": allow_unreached, "silent": allow_silent}
    guards = [parse_detection_bar(text) for name, text in GUARDS.items() if name not in own and not allowed[name]]
    values = list(metric_values(result))
    return [
        found
        for bar in (*bars, *(guards if bars else ()))
        for found in check_bar(bar, _candidates(bar, values), without_interval="give --bootstrap 1000")
    ]


def _candidates(bar: Bar, values: Sequence[MetricValue]) -> Iterator[Candidate]:
    params = {**METRICS[bar.name].defaults, **bar.params}
    named = [one for one in values if one.name == bar.name]
    unknown = set(params) - {key for one in named for key in one.params}
    if unknown:
        has = sorted({key for one in named for key in one.params})
        raise OpenSetError(
            f"--require '{bar.text}': {bar.name} has no option '{min(unknown)}' here"
            + (f"; it has {', '.join(has)}." if has else ".")
        )
    for one in named:
        if all(one.params.get(key) == value for key, value in params.items()):
            if one.value is None:
                raise OpenSetError(f"--require '{bar.text}': {bar.name} is not defined for these data.")
            if bar.end is not None and one.low is None and not METRICS[bar.name].drawn_interval:
                raise OpenSetError(f"--require '{bar.text}': {bar.name} has no interval; set the bar for its value.")
            yield Candidate(_where(one), one.value, one.low, one.high)


def _where(one: MetricValue) -> str:
    words = [one.params["variant"]] if "variant" in one.params else []
    if METRICS[one.name].at_point:
        words.insert(0, point_name(one.params.get("recall")))
    words += [str(one.params[key]).replace("_", " ") for key in ("kind",) if key in one.params]
    return ", ".join(words) or "all images"


def gate_remarks(result: OpenSetEvaluation, bars: Sequence[Bar]) -> list[str]:
    """What a passed or missed gate does not tell about its bars."""
    beyond = [f"Out of reach: {sentence}" for sentence in out_of_reach(bars, result.n_wild)]
    return beyond + [f"Passed, but not shown: {sentence}" for sentence in not_shown(result, bars)]


def not_shown(result: OpenSetEvaluation, bars: Sequence[Bar]) -> list[str]:
    """Sentences on rates that are within a bar while their interval is not: too few wild images to be sure of it."""
    values = list(metric_values(result))
    rates = [bar for bar in bars if bar.name == "fp_per_1000" and bar.end is None and bar.sign in ("<=", "<")]
    return [
        f"{one.where}: {bar.text}, as its interval ends at {one.high:.1f} with {result.n_wild:,} wild images; more of "
        "them make it narrower, and a bar on fp_per_1000.high asks for it."
        for bar in rates
        for one in _candidates(bar, values)
        if bar.holds(one.value) and one.high is not None and not bar.holds(one.high)
    ]


def out_of_reach(bars: Sequence[Bar], n_wild: int) -> list[str]:
    """Sentences on bars that not even a detector without a false detection could pass with so few wild images."""
    return [
        f"{bar.text}: it takes {images_for_rate(bar.level):,} wild images without a false detection to show this rate, "
        f"and there are {n_wild:,}."
        for bar in bars
        if bar.name == "fp_per_1000" and bar.end == "high" and bar.level > 0 and images_for_rate(bar.level) > n_wild
    ]
