"""What the results of a detector mean, in the words that the terminal, the page and JSON share."""

from dataclasses import dataclass

from openset.detection.measure.operating import Operating
from openset.detection.measure.rates import few
from openset.detection.measure.result import OpenSetEvaluation, headline_place
from openset.detection.metrics import MAP_KIND

TRAINING_RULE = "The results hold only if the detector never saw the wild classes in training, not even without labels."
LOWEST_MAP = 0.3
"""A detector with a lower mean average precision finds too little of what it knows for any other praise."""
_WORDS = ((0.01, "hardly"), (0.05, "noticeably"), (0.2, "strongly"), (float("inf"), "severely"))


@dataclass(frozen=True)
class Verdict:
    """A judgement; of two, the one with the larger `rank` is the worse."""

    sentences: tuple[str, ...]
    """The most important first."""
    rank: tuple[int, int, int]
    """Whether it can be judged and used at all; classes lost or not tested; how much it is affected."""

    def __str__(self) -> str:
        return " ".join(self.sentences)


def headline(result: OpenSetEvaluation) -> Operating:
    """The operating point that the verdict speaks of."""
    return result.operating[headline_place([point.recall for point in result.operating])]


def verdict(result: OpenSetEvaluation) -> Verdict:
    """What the results mean for someone about to put the detector to work.

    The word goes by the false detections on wild images per detection that is correct or such a false one, when every
    known image comes with one wild image. False detections on known images do not enter it, or a detector could look
    better by making more of them. All wild images are counted, so their order does not matter. No word is given to a
    detector that finds too little, and lost classes are named before anything else is said.
    """
    point = headline(result)
    total = point.total
    n_false = (total.fp_per_1000.value or 0.0) * result.n_known / 1000
    place, word = _word(n_false / (total.n_true + n_false) if total.n_true + n_false else 1.0)
    mean = result.mean_average_precision.known[MAP_KIND]
    with_objects = [name for name, row in point.classes.items() if row.n_objects]
    sentences = []
    unusable = 0
    if result.silence.suspicious:
        unusable = 2
        sentences.append(
            f"cannot be judged: {result.silence.wild} of {result.n_wild} wild images have no detection at all, so "
            "their results are probably not complete."
        )
    elif mean < LOWEST_MAP:
        unusable = 1
        sentences.append(
            f"not usable as it is: with a mean average precision of {mean:.3f} it finds too little of what it knows."
        )
    n_lost = len(point.unreached)
    if n_lost:
        reached = len(with_objects) - n_lost
        does = f"reach {point.name}" if point.recall is not None else "are found at all"
        sentences.append(
            f"incomplete: {reached} of {len(with_objects)} classes {does} and the results are over those; "
            f"lost: {', '.join(point.unreached)}."
        )
    if point.untested:
        names = ", ".join(point.untested)
        start = "Not tested" if sentences else "not tested"
        sentences.append(f"{start} on {names}: without an object to find, detections on wild images are not counted.")
    if not sentences:
        sentences.append(f"{word} affected by unknown objects.")
    sentences += _numbers(result, point, word if unusable or n_lost or point.untested else "")
    return Verdict(tuple(sentences), (unusable, n_lost + len(point.untested), place))


def _word(lost: float) -> tuple[int, str]:
    return next((place, word) for place, (bound, word) in enumerate(_WORDS) if lost < bound)


def _numbers(result: OpenSetEvaluation, point: Operating, word: str) -> list[str]:
    total = point.total
    sentences = []
    if word:
        sentences.append(f"What it accepts is {word} affected by unknown objects.")
    if total.precision.value is not None and total.precision_open.value is not None:
        ratio = result.n_wild / result.n_known
        projected = "" if ratio >= 1 else f" (projected from ratio {ratio:.2g})"
        at = f"At {point.name}" + ("" if point.recall is not None else f" (recall {total.recall.value:.3f})")
        sentences.append(
            f"{at} the precision of {total.precision.value:.3f} becomes {total.precision_open.value:.3f} when every "
            f"known image comes with one wild image{projected}."
        )
    rate = total.fp_per_1000
    assert rate.value is not None
    assert rate.low is not None
    assert rate.high is not None
    sentences.append(f"1,000 wild images raise {few(rate.value)} false detections [{few(rate.low)}, {few(rate.high)}].")
    sentences += [f"No class reaches recall {recall:g}." for recall in result.lost_recalls]
    worst = max(result.operating, key=lambda other: len(other.unreached))
    if len(worst.unreached) > len(point.unreached):
        n = sum(row.n_objects > 0 for row in worst.classes.values())
        sentences.append(
            f"At {worst.name} only {n - len(worst.unreached)} of {n} classes are left; lost: "
            f"{', '.join(worst.unreached)}."
        )
    return sentences


def main_sources(point: Operating) -> str:
    """A sentence on the classes that make most false detections on wild images, if at most a third of them do."""
    ranked = sorted(((row.n_open, name) for name, row in point.classes.items()), reverse=True)
    total, names, n = point.total.n_open, [], 0
    for count, name in ranked:
        if 2 * n >= total:
            break
        names.append(name)
        n += count
    if not names or 3 * len(names) > len(ranked):
        return ""
    listed = names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
    whose = "one class makes" if len(names) == 1 else f"{len(names)} of {len(ranked)} classes make"
    return f"At {point.name} {whose} {n / total:.0%} of the {total:,} false detections on wild images: {listed}."
