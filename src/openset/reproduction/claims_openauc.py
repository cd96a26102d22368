"""What the OpenAUC paper says in words, put to the test."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from openset.reproduction.findings import Claim, Value

Means = Mapping[str, Mapping[str, float]]
"""Mean OpenAUC by protocol, then by method; protocols with missing cells are left out."""


def best_everywhere(means: Means) -> Claim:
    """The method has the largest mean on every data set.

    >>> best_everywhere({"mnist": {"openauc": 0.99, "maxlogit": 0.98}}).verdict
    'holds'
    >>> best_everywhere({"mnist": {"openauc": 0.98, "maxlogit": 0.99}}).verdict
    'does not hold'
    """
    usable = {name: row for name, row in means.items() if "openauc" in row and len(row) > 1}
    margins = {
        name: row["openauc"] - max(value for method, value in row.items() if method != "openauc")
        for name, row in usable.items()
    }
    return Claim(
        "Our method outperforms the competitors consistently on all the datasets",
        "section 5.2, Table 2",
        all(margin > 0 for margin in margins.values()) if margins else None,
        {f"margin on {name}": 100 * margin for name, margin in margins.items()},
        "the published table itself has ARPL+CS ahead on MNIST (99.5 and 99.4)",
    )


def acc_auc_inferior(means: Means) -> Claim:
    """The loss without its switch is worse on every data set."""
    gaps = {name: row["openauc"] - row["acc_auc"] for name, row in means.items() if {"openauc", "acc_auc"} <= set(row)}
    return Claim(
        "Acc+AUC performs inferior to the proposed method",
        "section 5.2, Table 2",
        all(gap > 0 for gap in gaps.values()) if gaps else None,
        {f"gap on {name}": 100 * gap for name, gap in gaps.items()},
    )


Curve = Mapping[str, Sequence[float]]
"""Values of each metric, by name, and `unknown_recall`, at falling or rising thresholds."""


def metrics_fall(curves: Mapping[str, Curve]) -> Claim:
    """Every metric is smaller where 95 % of the unknowns are caught than where half are, and a tenth below its best.

    >>> curve = {"unknown_recall": [1.0, 0.9, 0.5, 0.0], "F": [0.0, 0.4, 0.8, 0.9]}
    >>> metrics_fall({"digits": curve}).verdict
    'holds'
    """
    falls: dict[str, float] = {}
    good = []
    for where, curve in curves.items():
        for name, values in curve.items():
            if name == "unknown_recall":
                continue
            late, half = (_best_from(curve["unknown_recall"], values, recall) for recall in (0.95, 0.5))
            best = max(values)
            falls[f"{name} on {where}, of its best"] = late / best if best > 0 else 1.0
            good.append(late < half and late <= 0.9 * best)
    return Claim(
        "All the classification-based metrics decrease rapidly as the TPR of the unknown class increases",
        "section 5.2, Fig. 1",
        all(good) if good else None,
        {"at 95 % caught, largest": max(falls.values()), "smallest": min(falls.values())} if falls else {},
        "rapidly: at 95 % of the unknowns caught below the value at 50 %, and at most nine tenths of the best",
    )


def _best_from(recall: Sequence[float], values: Sequence[float], bar: float) -> float:
    """The largest value among thresholds that catch at least `bar` of the unknowns."""
    return max(value for share, value in zip(recall, values, strict=True) if share >= bar)


def best_nacc_catches_few(recalls: Mapping[str, float]) -> Claim:
    """Normalized accuracy is best where hardly an unknown is caught; `recalls`: share caught at its best threshold."""
    return Claim(
        "The best NAcc performance corresponds to a very small TPR of the unknown class (CIFAR+10, TinyImageNet)",
        "section 5.2, Fig. 1",
        all(recall <= 0.1 for recall in recalls.values()) if recalls else None,
        {f"caught at the best on {name}": recall for name, recall in recalls.items()},
        "very small: at most a tenth",
    )


Weights = Mapping[float, float]
"""Mean OpenAUC by weight of the ranking loss; 0 is plain training."""


def weight_helps(means: Weights) -> Claim:
    """Every weight is better than none."""
    gains = {weight: value - means[0.0] for weight, value in means.items() if weight > 0} if 0.0 in means else {}
    return Claim(
        "Optimizing the OpenAUC risk consistently helps improve the model performance",
        "section 5.2, Fig. 2",
        all(gain > 0 for gain in gains.values()) if gains else None,
        {f"gain at {weight:g}": 100 * gain for weight, gain in gains.items()},
    )


def small_weight_is_best(means: Weights) -> Claim:
    """The best weight is .1 or .2."""
    tried = {weight: value for weight, value in means.items() if weight > 0}
    complete = any(weight <= 0.2 for weight in tried) and any(weight > 0.2 for weight in tried)
    best = max(tried, key=tried.__getitem__) if tried else None
    return Claim(
        "When lambda equals 0.1 or 0.2, the proposed method achieves the best performance",
        "section 5.2, Fig. 2",
        best is not None and best <= 0.2 if complete else None,
        {"best lambda": best} if best is not None else {},
    )


def large_weight_hurts(means: Weights) -> Claim:
    """Ranks of weights and values go opposite ways (Spearman's correlation below 0)."""
    tried = sorted((weight, value) for weight, value in means.items() if weight > 0)
    if len(tried) < 3:
        trend = None
    else:
        from scipy.stats import spearmanr

        trend = float(spearmanr([weight for weight, _ in tried], [value for _, value in tried]).statistic)
    return Claim(
        "As lambda increases, there exists a decreasing trend in model performance",
        "section 5.2, Fig. 2",
        None if trend is None else trend < 0,
        {} if trend is None else {"rank correlation": trend},
    )


def f_score_cannot_tell(spans: Mapping[str, tuple[float, float]]) -> Claim:
    """F-score differs less between difficulties than OpenAUC; `spans`: range of F-score and of OpenAUC by method."""
    return Claim(
        "Open-set F-score shares similar values for all difficulty splits",
        "appendix E, Table 5",
        all(f_span < auc_span for f_span, auc_span in spans.values()) if spans else None,
        {f"{name}: F-score, OpenAUC differ by": f"{100 * a:.1f}, {100 * b:.1f}" for name, (a, b) in spans.items()},
        "similar: they differ less than OpenAUC does",
    )


def best_on_each(means: Means) -> Claim:
    """Largest OpenAUC at every difficulty; `means` by group, then by method."""
    claim = best_everywhere(means)
    text = "The proposed method achieves the best performance on OpenAUC"
    return replace(claim, text=text, source="appendix E, Table 4", remark="")


def longer_is_better(points: Sequence[tuple[float, float]]) -> Claim:
    """The longest training is the best one; `points`: minutes and OpenAUC."""
    ordered = sorted(points)
    return Claim(
        "A longer training gives a better OpenAUC (our own question, not the paper's)",
        "quality against time",
        ordered[-1][1] == max(value for _, value in ordered) and ordered[-1][1] > ordered[0][1]
        if len(ordered) > 1
        else None,
        {f"after {minutes:.2f} minutes": value for minutes, value in ordered},
    )


Gains = Mapping[str, Mapping[float, Value | None]]
"""Gain by the loss, by condition, then by the fraction of the training samples that was used."""


def grows_on_little_data(gains: Gains) -> Claim:
    """Our own hypothesis: with equal numbers of steps the loss gains more on fewer samples.

    It holds where the interval on the smallest fraction lies above the mean gain on all samples, of every condition; it
    does not hold where one lies below.

    >>> grows_on_little_data({"a": {1.0: Value(0.0), 0.1: Value(0.02, low=0.01, high=0.03)}}).verdict
    'holds'
    >>> grows_on_little_data({"a": {1.0: Value(0.0), 0.1: Value(0.0, low=-0.01, high=0.01)}}).verdict
    'cannot be told'
    """
    verdicts: list[bool | None] = []
    numbers = {}
    for name, by_fraction in gains.items():
        least, whole = by_fraction.get(min(by_fraction)), by_fraction.get(1.0)
        if least is None or whole is None or len(by_fraction) < 2:
            continue
        numbers[f"{name}: gain on {min(by_fraction):.0%} and on all"] = (
            f"{100 * least.value:+.1f}, {100 * whole.value:+.1f}"
        )
        above = least.low is not None and least.low > whole.value
        below = least.high is not None and least.high < whole.value
        verdicts.append(True if above else False if below else None)
    holds = False if False in verdicts else True if verdicts and None not in verdicts else None
    return Claim(
        "The loss helps in long trainings on little data, where cross-entropy alone would drive logits apart",
        "our hypothesis, from the 600 epochs of the paper",
        holds,
        numbers,
        "holds: every interval on the least data above the gain on all; does not hold: one below",
    )
