"""What the ImageNet protocols paper says in words, put to the test."""

from collections.abc import Mapping, Sequence

from openset.reproduction.findings import Claim

S, BG, EOS = "softmax", "background", "entropic"
ByMethod = Mapping[str, float]


def _has(found: Mapping[str, object], *names: str) -> bool:
    return all(name in found for name in names)


def similar_closed_set(accuracy: ByMethod, where: str) -> Claim:
    """Closed-set CCR of all methods within 5 points."""
    gap = max(accuracy.values()) - min(accuracy.values()) if len(accuracy) > 1 else None
    return Claim(
        "All three classifiers in every protocol reach similar CCR values in the closed-set case",
        f"section 4, Fig. 2, {where}",
        None if gap is None else gap < 0.05,
        {} if gap is None else {"largest gap": 100 * gap},
        "similar: within 5 points",
    )


def better_on_negatives(area: ByMethod, where: str) -> Claim:
    """BG and EOS beat S against negatives; `area`: OpenAUC against negatives."""
    known = _has(area, S, BG, EOS)
    return Claim(
        "On negative samples BG and EOS outperform the SoftMax baseline",
        f"section 4, Fig. 2, {where}",
        min(area[BG], area[EOS]) > area[S] if known else None,
        {f"OpenAUC of {name}": value for name, value in area.items()},
    )


def entropic_beats_background(area: ByMethod, where: str) -> Claim:
    """EOS beats BG against negatives."""
    return Claim(
        "Generally, EOS seems to be better than BG in this task",
        f"section 4, Fig. 2, {where}",
        area[EOS] > area[BG] if _has(area, BG, EOS) else None,
        {f"OpenAUC of {name}": value for name, value in area.items() if name != S},
    )


def gain_is_lost_on_unknowns(negative: ByMethod, unknown: ByMethod, where: str) -> Claim:
    """What BG and EOS gain over S against negatives is smaller against unknowns."""
    known = _has(negative, S, BG, EOS) and _has(unknown, S, BG, EOS)
    gains = {name: (negative[name] - negative[S], unknown[name] - unknown[S]) for name in (BG, EOS)} if known else {}
    return Claim(
        "On unknown samples, whose classes were not seen in training, BG and EOS drop performance",
        f"section 4, Fig. 2, {where}",
        all(seen > unseen for seen, unseen in gains.values()) if gains else None,
        {f"gain of {name}, negative and unknown": f"{100 * a:.1f}, {100 * b:.1f}" for name, (a, b) in gains.items()},
        "performance: the gain in OpenAUC over softmax",
    )


Logs = Mapping[str, Sequence[float]]
"""Confidence after each epoch, by method."""


def knowns_grow_confident(plus: Logs, where: str) -> Claim:
    """Confidence on knowns ends higher than it began."""
    gains = {name: values[-1] - values[0] for name, values in plus.items() if len(values) > 1}
    return Claim(
        "As the training progresses, the models learn to classify known samples",
        f"section 5, Fig. 3, {where}",
        all(gain > 0 for gain in gains.values()) if gains else None,
        {f"gamma+ of {name} rises by": gain for name, gain in gains.items()},
    )


def entropic_stays_low(minus: Logs, where: str) -> Claim:
    """EOS ends with the highest confidence on negatives, BG below it."""
    last = {name: values[-1] for name, values in minus.items() if len(values)}
    known = _has(last, S, BG, EOS)
    return Claim(
        "EOS keeps the low activations during training; BG provides lower confidences for negative samples",
        f"section 5, Fig. 3, {where}",
        last[EOS] > last[BG] and last[EOS] > last[S] if known else None,
        {f"gamma- of {name} at the end": value for name, value in last.items()},
    )


def entropic_suppresses(high: ByMethod, where: str) -> Claim:
    """EOS gives fewer unknowns a probability of .9 and more than S and BG do; `high`: share of them."""
    known = _has(high, S, BG, EOS)
    return Claim(
        "EOS is able to suppress high scores (P1), whereas S and BG still have many",
        f"section 5, Fig. 4, {where}",
        high[EOS] < min(high[S], high[BG]) if known else None,
        {f"unknowns at .9 and above, {name}": value for name, value in high.items()},
    )


def softmax_is_sure(high: ByMethod, where: str) -> Claim:
    """S gives the most unknowns a high probability."""
    return Claim(
        "The plain SoftMax method has relatively high probability scores for unknown samples",
        f"section 5, Fig. 4, {where}",
        high[S] == max(high.values()) and len(set(high.values())) > 1 if _has(high, S, BG, EOS) else None,
        {f"unknowns at .9 and above, {name}": value for name, value in high.items()},
    )
