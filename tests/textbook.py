"""Slow versions written straight from the definitions, with loops over samples and pairs; the tests' yardstick."""

import math
from fractions import Fraction
from itertools import chain, pairwise, permutations, product


def thresholds(score):
    return [-math.inf, *sorted(set(score))]


def right_known(label, prediction):
    return label >= 0 and label == prediction


def pair_mean(labels, predictions, score, ties="half", right_only=True):
    """Mean over (known, open) pairs of [right] * [ranked higher]."""
    credit = {"strict": 0.0, "half": 0.5, "full": 1.0}[ties]
    total = pairs = 0
    for label, prediction, known_score in zip(labels, predictions, score, strict=True):
        if label < 0:
            continue
        for other, open_score in zip(labels, score, strict=True):
            if other >= 0:
                continue
            pairs += 1
            if right_only and label != prediction:
                continue
            total += 1.0 if open_score > known_score else credit if open_score == known_score else 0.0
    return total / pairs


def balanced_open_auc(labels, predictions, score, n_classes, ties="half"):
    """Mean over classes of the pair mean within the class; an empty class counts as 0."""
    values = []
    for known in range(n_classes):
        rows = [i for i, label in enumerate(labels) if label < 0 or label == known]
        if not any(labels[i] == known for i in rows):
            values.append(0.0)
            continue
        values.append(
            pair_mean([labels[i] for i in rows], [predictions[i] for i in rows], [score[i] for i in rows], ties)
        )
    return sum(values) / n_classes


def fpr(labels, score, t):
    opens = [s for label, s in zip(labels, score, strict=True) if label < 0]
    return sum(s <= t for s in opens) / len(opens)


def acceptance(labels, score, t):
    knowns = [s for label, s in zip(labels, score, strict=True) if label >= 0]
    return sum(s <= t for s in knowns) / len(knowns)


def ccr(labels, predictions, score, t):
    knowns = [(label == p) and s <= t for label, p, s in zip(labels, predictions, score, strict=True) if label >= 0]
    return sum(knowns) / len(knowns)


def class_counts(labels, predictions, score, t, known):
    """TP, FP, FN, TN of one known class, with rejection."""
    tp = fp = fn = tn = 0
    for label, prediction, s in zip(labels, predictions, score, strict=True):
        printed = prediction == known and s <= t
        if label == known:
            tp, fn = tp + printed, fn + (not printed)
        else:
            fp, tn = fp + printed, tn + (not printed)
    return tp, fp, fn, tn


def divide(top, bottom, zero_division=0.0):
    return top / bottom if bottom else zero_division


def f_score(labels, predictions, score, t, n_classes, average, zero_division=0.0):
    cells = [class_counts(labels, predictions, score, t, known) for known in range(n_classes)]
    if average == "macro":
        precision = sum(divide(tp, tp + fp, zero_division) for tp, fp, _, _ in cells) / n_classes
        recall = sum(divide(tp, tp + fn, zero_division) for tp, _, fn, _ in cells) / n_classes
    else:
        tp, fp, fn = (sum(cell[place] for cell in cells) for place in range(3))
        precision, recall = divide(tp, tp + fp, zero_division), divide(tp, tp + fn, zero_division)
    return divide(2 * precision * recall, precision + recall)


def youden(labels, predictions, score, t, n_classes, average):
    cells = [class_counts(labels, predictions, score, t, known) for known in range(n_classes)]
    if average == "macro":
        tpr = sum(divide(tp, tp + fn) for tp, _, fn, _ in cells) / n_classes
        tnr = sum(divide(tn, tn + fp) for _, fp, _, tn in cells) / n_classes
    else:
        tp, fp, fn, tn = (sum(cell[place] for cell in cells) for place in range(4))
        tpr, tnr = divide(tp, tp + fn), divide(tn, tn + fp)
    return tpr + tnr - 1


def normalized_accuracy(labels, predictions, score, t, n_classes, weight=0.5, aus="paper"):
    cells = [class_counts(labels, predictions, score, t, known) for known in range(n_classes)]
    aks = sum(tp + tn for tp, _, _, tn in cells) / sum(sum(cell) for cell in cells)
    caught = sum(label < 0 and s > t for label, s in zip(labels, score, strict=True))
    lost = sum(label >= 0 and s > t for label, s in zip(labels, score, strict=True))
    n_open = sum(label < 0 for label in labels)
    return weight * aks + (1 - weight) * (divide(caught, caught + lost) if aus == "paper" else caught / n_open)


def ccr_at_fpr(labels, predictions, score, limit):
    return max(ccr(labels, predictions, score, t) for t in thresholds(score) if fpr(labels, score, t) <= limit)


def fpr_at_tpr(labels, score, tpr, positive):
    if positive == "known":
        return min(fpr(labels, score, t) for t in thresholds(score) if acceptance(labels, score, t) >= tpr)
    return min(1 - acceptance(labels, score, t) for t in thresholds(score) if 1 - fpr(labels, score, t) >= tpr - 1e-12)


def error_at_tpr(labels, score, tpr):
    n_open = sum(label < 0 for label in labels)
    fitting = [
        t
        for t in thresholds(score)
        if sum(label < 0 and s > t for label, s in zip(labels, score, strict=True)) / n_open >= tpr
    ]
    t = max(fitting)
    return sum((label < 0) == (s <= t) for label, s in zip(labels, score, strict=True)) / len(labels)


def average_precision(labels, score, positive):
    """Sum over distinct scores of gain in recall times precision."""
    wanted = [(label < 0) == (positive == "unknown") for label in labels]
    direction = [s if positive == "unknown" else -s for s in score]
    total, recall = 0.0, 0.0
    for t in sorted(set(direction), reverse=True):
        called = [w for w, s in zip(wanted, direction, strict=True) if s >= t]
        now = sum(called) / sum(wanted)
        total += (now - recall) * sum(called) / len(called)
        recall = now
    return total


def aurc(labels, predictions, score):
    """Mean over every order in which samples of equal score may be accepted; a few samples only."""
    runs = [
        [right_known(label, p) for label, p, s in zip(labels, predictions, score, strict=True) if s == t]
        for t in sorted(set(score))
    ]
    orders = [list(chain(*order)) for order in product(*map(permutations, runs))]
    return sum(_risk_mean(order) for order in orders) / len(orders)


def aurc_by_fractions(labels, predictions, score):
    """The same for any number of samples: expected errors at each place of a tied run, in exact fractions."""
    total, accepted, wrong = Fraction(0), 0, Fraction(0)
    for t in sorted(set(score)):
        run = [right_known(label, p) for label, p, s in zip(labels, predictions, score, strict=True) if s == t]
        for _ in run:
            accepted, wrong = accepted + 1, wrong + Fraction(run.count(False), len(run))
            total += wrong / accepted
    return float(total / len(labels))


def augrc(labels, predictions, score):
    """Chance that a random error comes before a random sample, in the order of acceptance: half where they tie."""
    wrong = [s for label, p, s in zip(labels, predictions, score, strict=True) if not right_known(label, p)]
    pairs = [Fraction(1, 2) if w == s else Fraction(w < s) for w in wrong for s in score]
    return float(sum(pairs) / len(score) ** 2) if pairs else 0.0


def trapezoid_precision(labels, score, positive):
    """Area under the points (recall, precision), joined by straight lines, from (0, 1) on."""
    wanted = [(label < 0) == (positive == "unknown") for label in labels]
    direction = [s if positive == "unknown" else -s for s in score]
    points = [(Fraction(0), Fraction(1))]
    for t in sorted(set(direction), reverse=True):
        called = [w for w, s in zip(wanted, direction, strict=True) if s >= t]
        points.append((Fraction(sum(called), sum(wanted)), Fraction(sum(called), len(called))))
    return float(sum((x1 - x0) * (y0 + y1) / 2 for (x0, y0), (x1, y1) in pairwise(points)))


def operational_accuracy(labels, predictions, score, t, unknown_share=None):
    """One sample after the other: is it decided correctly?"""
    known = [s <= t and p == y for y, p, s in zip(labels, predictions, score, strict=True) if y >= 0]
    caught = [s > t for y, s in zip(labels, score, strict=True) if y < 0]
    if unknown_share is None:
        return (sum(known) + sum(caught)) / len(labels)
    return (1 - unknown_share) * sum(known) / len(known) + unknown_share * sum(caught) / len(caught)


def _risk_mean(order):
    """Mean over k of the errors among the first k of samples in this order, per k."""
    return sum(order[:k].count(False) / k for k in range(1, len(order) + 1)) / len(order)


def partial_open_auc(labels, predictions, score, max_fpr, ties):
    """Area under the OSCR points up to max_fpr, joint by joint."""
    points = [(fpr(labels, score, t), ccr(labels, predictions, score, t)) for t in thresholds(score)]
    area = 0.0
    for (x0, y0), (x1, y1) in pairwise(points):
        if x1 == x0 or x0 >= max_fpr:
            continue
        end = min(x1, max_fpr)
        at_end = y0 + (y1 - y0) * (end - x0) / (x1 - x0)
        area += (end - x0) * {"half": (y0 + at_end) / 2, "strict": y0, "full": y1}[ties]
    return area / max_fpr


def delong_variance(labels, predictions, score, right_only):
    """Variance from the explicit matrix of pair kernels."""
    knowns = [i for i, label in enumerate(labels) if label >= 0]
    opens = [i for i, label in enumerate(labels) if label < 0]

    def kernel(k, u):
        if right_only and labels[k] != predictions[k]:
            return 0.0
        return 1.0 if score[u] > score[k] else 0.5 if score[u] == score[k] else 0.0

    def variance(values):
        mean = sum(values) / len(values)
        return sum((v - mean) ** 2 for v in values) / (len(values) - 1) / len(values) if len(values) > 1 else 0.0

    rows = [sum(kernel(k, u) for u in opens) / len(opens) for k in knowns]
    columns = [sum(kernel(k, u) for k in knowns) / len(knowns) for u in opens]
    return variance(rows) + variance(columns)
