"""How sure a number is: DeLong's test and interval, the mean over splits, the conformal threshold."""

from statistics import NormalDist

import numpy as np

from conformance.card import Call, Case
from conformance.data import Calibration, Sample, Splits, TwoModels, calibration, mixed, splits, two_models
from conformance.peers import CREPES, MLSTATKIT, OSR_METRICS, SCIPY
from openset import Scores

EIGHT = TwoModels([0, 0, 0, 0, -2, -2, -2, -2], [6, 1, 2, 5, 3, 7, 4, 8], [2, 7, 8, 3, 4, 5, 6, 1])


def _scores(labels, unknown_score):
    return Scores(labels, np.zeros_like(labels), np.asarray(unknown_score, dtype=float))


OUR_P_VALUE = Call(
    "openset.intervals.compare",
    lambda compare, m: compare(_scores(m.labels, m.first), _scores(m.labels, m.second), "auroc").p_value,
)
P_VALUE, TOO_LARGE = 0.3864762307712327, 0.5402913746074198
MLSTATKIT_P_VALUE = Call(
    "MLstatkit.Delong_test",
    lambda theirs, m: theirs((m.labels < 0).astype(int), m.first, m.second, n_boot=100, random_state=0)[1],
)


def _with_their_centre(scores, m):
    """DeLong's p-value with the knowns' placements centred at 1 - AUC, from the pairs themselves."""
    areas, centred = [], []
    for given in (m.first, m.second):
        model = scores(m.labels, np.zeros_like(m.labels), np.asarray(given, dtype=float))
        known, is_open = model.unknown_score[model.labels >= 0], model.unknown_score[model.labels < 0]
        pairs = (is_open > known[:, None]) + 0.5 * (is_open == known[:, None])
        areas.append(pairs.mean())
        centred.append((pairs.mean(axis=0) - pairs.mean(), pairs.mean(axis=1) - (1 - pairs.mean())))
    gaps = [first - second for first, second in zip(*centred, strict=True)]
    variance = sum((gap**2).sum() / (len(gap) - 1) / len(gap) for gap in gaps)
    return 2 * NormalDist().cdf(-abs(areas[0] - areas[1]) / variance**0.5)


DELONG = [
    Case(
        "p-value of the difference of two AUROCs",
        OUR_P_VALUE,
        MLSTATKIT,
        MLSTATKIT_P_VALUE,
        EIGHT,
        (P_VALUE, P_VALUE),
        "DeLong's paired test, two-sided, as in pROC.",
        draw=two_models,
    ),
    Case(
        "p-value of a model against itself",
        OUR_P_VALUE,
        MLSTATKIT,
        MLSTATKIT_P_VALUE,
        TwoModels([0, 0, -2, -2], [1, 2, 3, 4], [1, 2, 3, 4]),
        (1.0, 0.0),
        "Without any variance it counts resamples with a difference above 0, and takes twice that fraction, 0, as the "
        "p-value. Equal models differ by nothing: the p-value is 1.",
        "theirs is wrong",
        draw=two_models,
        same_if="the difference has some variance",
    ),
    Case(
        "p-value of the difference of two AUROCs",
        OUR_P_VALUE,
        OSR_METRICS,
        Call(
            "osr_metrics.delong_test",
            lambda theirs, m: theirs(m.first, m.second, (m.labels < 0).astype(int))[1],
        ),
        EIGHT,
        (P_VALUE, TOO_LARGE),
        "The mean placement of the knowns is the AUC, like that of the unknowns, but it is centred at 1 - AUC there, "
        "which adds the square of the distance to the variance: p-values are too large, and real differences are "
        "missed.",
        "theirs is wrong",
        draw=two_models,
        like_theirs=Call("openset.Scores", _with_their_centre),
        same_if="the knowns' placements are centred at 1 - AUC",
    ),
]


def _clipped(delong, s):
    """Normal interval from our standard error, cut at 0 and 1."""
    found = delong(_scores(s.labels, s.unknown_score), "auroc")
    return min(1.0, found.value + NormalDist().inv_cdf(0.975) * (found.sd or 0.0))


INTERVAL = [
    Case(
        "Upper end of the 95 % interval of AUROC",
        Call("openset.intervals.delong", lambda ours, s: ours(_scores(s.labels, s.unknown_score), "auroc").high),
        MLSTATKIT,
        Call(
            "MLstatkit.Delong_test",
            lambda theirs, s: theirs((s.labels < 0).astype(int), s.unknown_score, s.unknown_score, n_boot=20)[2][1],
        ),
        Sample([0, 0, 0, -2, -2, -2], unknown_score=[1, 2, 4, 3, 5, 6]),
        (0.9945012750727569, 1.0),
        "The same standard error; a normal interval cut at 1 there, an interval on the logit scale here, which ends "
        "inside (0, 1) by itself.",
        "another convention",
        draw=mixed,
        like_theirs=Call("openset.intervals.delong", _clipped),
        same_if="our standard error goes into a normal interval cut at 1",
    ),
]


def _of_split_means(ttest_1samp, data):
    means = [np.mean(data.values[data.splits == split]) for split in np.unique(data.splits)]
    return float(ttest_1samp(means, 0.0).confidence_interval(0.95).low)


SPLITS = [
    Case(
        "Lower end of the 95 % interval of a mean over splits and seeds",
        Call("openset.intervals.over_splits", lambda ours, d: ours(d.values, splits=d.splits).low),
        SCIPY,
        Call("scipy.stats.ttest_1samp", _of_split_means),
        Splits([0.5, 0.6, 0.7, 0.8, 0.9, 1.0], [0, 0, 1, 1, 2, 2]),
        (0.2531724576499341, 0.2531724576499341),
        "Student's t over the means of the splits: the seeds of a split are one observation.",
        draw=splits,
    )
]


# ---- conformal threshold ---------------------------------------------------------------------------------------------


def _rejected(conformal, data):
    scores = Scores(np.zeros(len(data.known), dtype=int), np.zeros(len(data.known), dtype=int), data.known)
    return float((np.asarray(data.new) > conformal(scores, data.alpha).value).sum())


def _small_p_values(conformal_classifier, data):
    fitted = conformal_classifier().fit(np.asarray(data.known))
    p_values = fitted.predict_p(np.asarray(data.new)[:, None], smoothing=False)[:, 0]
    return float((p_values <= data.alpha).sum())


def _empty_sets(conformal_classifier, data):
    fitted = conformal_classifier().fit(np.asarray(data.known))
    sets = fitted.predict_set(np.asarray(data.new)[:, None], confidence=1 - data.alpha, smoothing=False)
    return float((np.asarray(sets).sum(axis=1) == 0).sum())


def _off_the_edge(seed):
    """Levels that no p-value reaches exactly."""
    data = calibration(seed)
    return Calibration(data.known, data.new, data.alpha + 1e-6)


NINE = Calibration([0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9], [0.8, 0.85, 0.95], 0.2)
OUR_REJECTED = Call("openset.operating.conformal", _rejected)

CONFORMAL = [
    Case(
        "Samples rejected by the conformal threshold",
        OUR_REJECTED,
        CREPES,
        Call("crepes.ConformalClassifier", _small_p_values),
        NINE,
        (2.0, 2.0),
        "A score is above our threshold exactly if its conformal p-value is at most alpha.",
        draw=calibration,
    ),
    Case(
        "Samples rejected where a p-value equals alpha",
        OUR_REJECTED,
        CREPES,
        Call("crepes.ConformalClassifier", _empty_sets),
        NINE,
        (2.0, 1.0),
        "Its prediction sets keep a p-value equal to alpha. Rejecting it as well still loses at most a fraction alpha "
        "of the knowns, so ours is the tighter of two valid rules.",
        "another convention",
        draw=_off_the_edge,
        same_if="no p-value equals alpha",
    ),
]

CASES = [*DELONG, *INTERVAL, *SPLITS, *CONFORMAL]
