"""Published evaluation programs that are no packages, rewritten in a few lines from what they do.

Each keeps the order of steps that makes its number differ from ours, and nothing else.
"""

import numpy as np


def oscr_loop(known_confidence, unknown_confidence, correct):
    """Area under OSCR as in the loop shared by many repositories.

    Samples are sorted by confidence. At each place but the last, the knowns *behind* it and the unknowns *from* it on
    are counted as accepted; the last place is set to (0, 0), and (1, 1) is added.
    """
    order = np.argsort(np.concatenate([known_confidence, unknown_confidence]))
    is_open = np.concatenate([np.zeros(len(known_confidence)), np.ones(len(unknown_confidence))])[order]
    is_right = np.concatenate([correct, np.zeros(len(unknown_confidence))])[order]
    ccr = (is_right.sum() - np.cumsum(is_right)) / len(known_confidence)
    fpr = (is_open.sum() - np.cumsum(is_open) + is_open) / len(unknown_confidence)
    points = sorted([*zip(fpr[:-1], ccr[:-1], strict=True), (0.0, 0.0), (0.0, 0.0), (1.0, 1.0)])
    x, y = np.array(points).T
    return float(np.trapezoid(y, x))


def auroc_by_merging(known_confidence, unknown_confidence):
    """AUROC from one walk over both sorted lists, in which a known equal to an unknown is passed first: no credit."""
    below = np.searchsorted(np.sort(unknown_confidence), known_confidence, side="left")
    return float(below.sum() / (len(known_confidence) * len(unknown_confidence)))


def strict_pairs(known_score, open_score, correct):
    """Mean over pairs of [known classified correctly] * [open-set score higher]."""
    return float(np.mean((open_score > known_score[:, None]) & correct[:, None]))


def open_auc_with_epsilon(known_score, open_score, correct, epsilon=1e-5):
    """OpenAUC as the AUROC after misclassified knowns were moved to the highest unknown score plus epsilon."""
    from sklearn.metrics import roc_auc_score

    moved = np.where(correct, known_score, open_score.max() + epsilon)
    is_open = np.concatenate([np.zeros(len(moved)), np.ones(len(open_score))])
    return float(roc_auc_score(is_open, np.concatenate([moved, open_score])))


def error_at_nearest_tpr(is_open, unknown_score, tpr=0.95):
    """Error where the TPR is nearest to the wanted one; scores equal to that threshold are called known."""
    from sklearn.metrics import roc_curve

    _, found, thresholds = roc_curve(is_open, unknown_score, drop_intermediate=False)
    distance = np.abs(found - tpr)
    last = np.flatnonzero(distance == distance.min())[-1]
    return float(np.mean((unknown_score > thresholds[last]) != is_open))


def ccr_above_an_unknown(known_confidence, unknown_confidence, correct, fpr):
    """CCR above the ceil(fpr * n)-th most confident unknown, which itself is thereby rejected."""
    at = np.sort(unknown_confidence)[-int(np.ceil(fpr * len(unknown_confidence)))]
    return float(np.mean((known_confidence > at) & correct))


def ccr_below_the_rate(known_confidence, unknown_confidence, correct, fpr):
    """CCR at the lowest score of an unknown with FPR < fpr; None if there is no such score."""
    for at in np.unique(unknown_confidence):
        if np.mean(unknown_confidence >= at) < fpr:
            return float(np.mean((known_confidence >= at) & correct))
    return None


def open_set_accuracy(confidence, correct, is_open, threshold=None):
    """Fraction decided correctly, by every distinct confidence as the least that is accepted: the largest one.

    With a threshold, the one at the first confidence, from above, that is below it: that confidence is accepted, too.
    """
    levels = np.unique(confidence)[::-1]
    found = [float(np.mean(np.where(confidence >= level, correct, is_open))) for level in levels]
    return max(found) if threshold is None else found[int(np.argmax(levels < threshold))]


def _fit_by_class(logits, features):
    """Class by class, the features of the samples that are predicted as it; all of them are classified correctly."""
    predicted = logits.argmax(axis=1)
    return {number: features[predicted == number] for number in range(logits.shape[1])}


def ghost_quotient(logits, features, fit_logits, fit_features):
    """Largest logit over the sum of absolute z-scores; the spread of a feature that is constant is made infinite."""
    models = {
        number: (own.mean(axis=0), own.std(axis=0, ddof=1))
        for number, own in _fit_by_class(fit_logits, fit_features).items()
    }
    found = []
    for row, place in enumerate(logits.argmax(axis=1)):
        mean, spread = models[place]
        found.append(logits[row, place] / np.abs((features[row] - mean) / np.where(spread == 0, np.inf, spread)).sum())
    return np.array(found)


def costarr_score(logits, features, fit_logits, fit_features, weight):
    """Scaled logit of the predicted class, times (1 + cosine) / 2 of features beside weighted ones and their means."""
    low, high = fit_logits.min(), fit_logits.max()
    models = {
        number: np.concatenate([own.mean(axis=0), (own * weight[number]).mean(axis=0)])
        for number, own in _fit_by_class(fit_logits, fit_features).items()
    }
    found = []
    for row, place in enumerate(logits.argmax(axis=1)):
        both = np.concatenate([features[row], features[row] * weight[place]])
        cosine = both @ models[place] / (np.linalg.norm(both) * np.linalg.norm(models[place]))
        found.append(min(1.0, max(0.0, (logits[row, place] - low) / (high - low))) * (1.0 + cosine) / 2.0)
    return np.array(found)


def postmax_probability(logits, features, fit_logits, fit_features):
    """Generalised Pareto probability of the largest logit over the length of the features."""
    from scipy.stats import genpareto

    def quotient(logits, features):
        return logits.max(axis=1) / np.linalg.norm(features, axis=1)

    return genpareto.cdf(quotient(logits, features), *genpareto.fit(quotient(fit_logits, fit_features)))


def _overlap_of_pixels(a, b):
    """IoU of corner boxes whose last row and column of pixels belong to them."""
    width = min(a[2], b[2]) - max(a[0], b[0]) + 1
    height = min(a[3], b[3]) - max(a[1], b[1]) + 1
    both = max(width, 0) * max(height, 0)
    areas = [(box[2] - box[0] + 1) * (box[3] - box[1] + 1) for box in (a, b)]
    return both / (sum(areas) - both)


def pixels_on_unknowns(boxes, unknown_boxes):
    """A-OSE of one image: detections that overlap some unknown object by more than half, in inclusive pixels."""
    return sum(any(_overlap_of_pixels(box, other) > 0.5 for other in unknown_boxes) for box in boxes)


def unknown_recall(boxes, unknown_boxes):
    """U-Recall of one image: each box, best first, finds the object it overlaps most, unless that is found already."""
    found = set()
    for box in boxes:
        overlaps = [_overlap_of_pixels(box, other) for other in unknown_boxes]
        if max(overlaps) > 0.5:
            found.add(int(np.argmax(overlaps)))
    return len(found) / len(unknown_boxes)
