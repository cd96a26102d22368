"""Unknown scores from stored outputs: the differences of two samples' scores, so that constants do not matter."""

from dataclasses import replace

import numpy as np

from conformance.card import Call, Case
from conformance.data import Outputs, outputs
from conformance.peers import COSTARR, GHOST, POSTMAX, PYTORCH_OOD


def _tensor(values, dtype=None):
    import torch

    return torch.as_tensor(np.asarray(values), dtype=dtype)


def _spread(scores):
    """Sum of the distances from the first sample's score, weighted by place: any changed score changes it."""
    scores = np.asarray(scores, dtype=np.float64)
    return float(np.dot(scores - scores[0], np.arange(len(scores))))


def _ours(name):
    return Call(f"openset.posthoc.{name}", lambda score, o: _spread(score(o.logits)))


def _theirs(name):
    return Call(
        f"pytorch_ood.detector.{name}.score",
        lambda score, o: _spread(score(_tensor(o.logits))),
    )


TWO_SAMPLES = Outputs([[3.0, 1.0, 0.0], [0.5, 0.0, 0.0]])


def _of_logits(question, ours, theirs, value, why):
    return Case(question, _ours(ours), PYTORCH_OOD, _theirs(theirs), TWO_SAMPLES, (value, value), why, draw=outputs)


def _msp(logits):
    exponents = np.exp(logits)
    return float(1 - (exponents.max() / exponents.sum()))


def _entropy(logits):
    share = np.exp(logits) / np.exp(logits).sum()
    return float(-(share * np.log(share)).sum())


FIRST, SECOND = TWO_SAMPLES.logits
LOGITS = [
    _of_logits("Score max_logit", "max_logit", "MaxLogit", 2.5, "Minus the largest logit."),
    _of_logits(
        "Score msp", "msp", "MaxSoftmax", _msp(SECOND) - _msp(FIRST), "Equal up to a constant: ours is 1 - max p."
    ),
    _of_logits(
        "Score energy",
        "energy",
        "EnergyBased",
        float(np.log(np.exp(FIRST).sum()) - np.log(np.exp(SECOND).sum())),
        "Minus the log-sum-exp of the logits, temperature 1.",
    ),
    _of_logits("Score entropy", "entropy", "Entropy", _entropy(SECOND) - _entropy(FIRST), "Of the softmax, in nats."),
    Case(
        "Score msp of confident samples",
        Call("openset.posthoc.msp", lambda msp, o: float(msp(o.logits)[0] > msp(o.logits)[1])),
        PYTORCH_OOD,
        Call(
            "pytorch_ood.detector.MaxSoftmax.score",
            lambda score, o: float(score(_tensor(o.logits))[0] > score(_tensor(o.logits))[1]),
        ),
        Outputs([[40.0, 0.0], [50.0, 0.0]]),
        (1.0, 0.0),
        "Is the first sample more unknown than the second? Both largest probabilities round to 1, so there they are "
        "equal. We add up the probabilities of the other classes, 4e-18 and 2e-22, which keeps the order of the "
        "logits.",
        "theirs is wrong",
        draw=outputs,
        same_if="no probability rounds to 1",
    ),
]


# ---- scores that are fitted ------------------------------------------------------------------------------------------

FITTED = Outputs(fit_labels=[0, 0, 0, 1, 1, 1], fit_logits=[[5, 0], [5, 2], [5, 3], [0, 5], [2, 5], [3, 5]])
BOTH_CLASSES = replace(FITTED, logits=np.array([[5.0, 1.0], [1.0, 5.0]]))
ONE_CLASS = replace(FITTED, logits=np.array([[5.0, 1.0]]))


def _our_openmax(openmax, o):
    """Mean log-odds of the unknown class."""
    return float(openmax(o.logits, fit_logits=o.fit_logits, fit_labels=o.fit_labels, tail=20, top=10).mean())


def _their_openmax(translation):
    """The same; `translation` is what is added to distances before the Weibull fit, 10000 in the package."""

    def use(detector, o):
        from pytorch_ood.detector.openmax import libnotmr

        plain = libnotmr.LibNotMR.__init__

        def moved(self, tailsize=20):
            plain(self, tailsize)
            self.translation = translation

        libnotmr.LibNotMR.__init__ = moved
        try:
            fitted = detector(None, tailsize=20, alpha=10)
            fitted.fit_logits(_tensor(np.asarray(o.fit_logits, dtype=float)), _tensor(o.fit_labels))
        finally:
            libnotmr.LibNotMR.__init__ = plain
        unknown = fitted.predict_logits(_tensor(o.logits)).numpy()
        return float((np.log(unknown) - np.log1p(-unknown)).mean())

    return Call("pytorch_ood.detector.OpenMax", use)


OUR_OPENMAX = Call("openset.posthoc.openmax", _our_openmax)
OUR_LOG_ODDS = -2.563579211341393
SCIPY_FIT = 1e-3  # SciPy's search for the Weibull parameters stops at 1e-4

OPENMAX = [
    Case(
        "Score openmax, Weibull fit of distances + 1",
        OUR_OPENMAX,
        PYTORCH_OOD,
        _their_openmax(1),
        BOTH_CLASSES,
        (OUR_LOG_ODDS, OUR_LOG_ODDS),
        "Log-odds of the unknown class, with the translation of 1 that libMR, the library of the paper, has; weights "
        "(a + 1 - i) / a as in the authors' program.",
        draw=outputs,
        draws=10,
        rounding=SCIPY_FIT,
    ),
    Case(
        "Score openmax, Weibull fit of distances + 10000",
        OUR_OPENMAX,
        PYTORCH_OOD,
        _their_openmax(10000),
        BOTH_CLASSES,
        (OUR_LOG_ODDS, -2.8455165),
        "The package adds 10000 to the distances, libMR 1. The shape of a Weibull distribution depends on where zero "
        "is, so the probabilities of being extreme change: it is another distribution, not a rounding.",
        "theirs is wrong",
        rounding=SCIPY_FIT,
    ),
    Case(
        "Score openmax of a single sample",
        OUR_OPENMAX,
        PYTORCH_OOD,
        _their_openmax(1),
        ONE_CLASS,
        (OUR_LOG_ODDS, -3.0741965),
        "Distances are computed only to classes that some sample of the batch is predicted as; to others they stay 0. "
        "The score of a sample thus depends on which samples come with it. A score belongs to a sample.",
        "theirs is wrong",
        draw=outputs,
        draws=10,
        same_if="every class is predicted in the batch",
        rounding=SCIPY_FIT,
    ),
]


def _their_distance(scale="", **options):
    def use(detector, o):
        import torch

        fitted = detector(None, **options)
        fitted.fit_features(_tensor(o.fit_features, torch.float32), _tensor(o.fit_labels))
        found = fitted.predict_features(_tensor(o.features, torch.float32)).numpy()
        return float(found.mean(dtype=np.float64) * (2 * len(o.fit_labels) if scale == "samples" else 1.0))

    return use


ON_A_LINE = Outputs(features=[[0.0, 3.0]], fit_labels=[0, 0, 0, 0], fit_features=[[1, 0], [-1, 0], [0, 1], [0, -1]])

DISTANCES = [
    Case(
        "Score knn",
        Call("openset.posthoc.knn", lambda knn, o: float(knn(o.features, fit_features=o.fit_features, k=3).mean())),
        PYTORCH_OOD,
        Call("pytorch_ood.detector.KNN", _their_distance(k=3)),
        ON_A_LINE,
        (np.sqrt(2.0), np.sqrt(2.0)),
        "Distance to the third nearest training sample, features scaled to length one.",
        draw=outputs,
        rounding=1e-6,  # float32 features
    ),
    Case(
        "Score mahalanobis",
        Call(
            "openset.posthoc.mahalanobis",
            lambda ours, o: float(ours(o.features, fit_features=o.fit_features, fit_labels=o.fit_labels).mean()),
        ),
        PYTORCH_OOD,
        Call("pytorch_ood.detector.Mahalanobis", _their_distance("samples")),
        ON_A_LINE,
        (18.0, 18.0),
        "Squared distance to the nearest class mean; theirs is divided by twice the number of training samples, which "
        "changes no order.",
        draw=outputs,
        rounding=1e-3,  # their covariance is float32
    ),
]


def _our_scale(scale, o):
    logits = o.features @ o.weight.T + o.bias
    return float(scale(logits, o.features, bias=o.bias, top=0.5).mean())


def _their_scale(detector, o):
    def head(maps):
        return maps.flatten(1) @ _tensor(o.weight).T + _tensor(o.bias)

    return float(detector(None, head, 0.5).predict_feature_maps(_tensor(o.features)[:, :, None, None]).mean())


SCALE = [
    Case(
        "Score scale on a head with a bias",
        Call("openset.posthoc.scale", _our_scale),
        PYTORCH_OOD,
        Call("pytorch_ood.detector.SCALE", _their_scale),
        Outputs(features=[[1.0, 3.0]], weight=[[1.0, 0.0]], bias=[1.0]),
        (-np.exp(4 / 3) - 1, -np.exp(4 / 3) - 1),
        "Features are scaled, then the bias is added. `top=0.5`, energy of the logits.",
        draw=outputs,
    )
]


# ---- scores whose authors published a program ------------------------------------------------------------------------


def _fitted(name, *, head=False, clipped=False):
    """Our scores; `clipped` to what is a probability."""

    def use(ours, o):
        train = {"fit_logits": o.fit_logits, "fit_features": o.fit_features, "fit_labels": o.fit_labels}
        if head:
            train |= {"weight": o.weight, "bias": o.bias}
        found = ours(o.logits, o.features, **train)
        return float((np.clip(found, 0.0, 1.0) if clipped else found).mean())

    return Call(f"openset.posthoc.{name}", use)


def _published(name, sign=-1.0, offset=0.0, *, head=False):
    """Theirs, higher = more known, turned round."""

    def use(theirs, o):
        given = (o.logits, o.features, o.fit_logits, o.fit_features, *([o.weight] if head else []))
        return float(offset + sign * theirs(*given).mean())

    return Call(f"conformance.programs.{name}", use)


def _linear(seed):
    """A network whose logits are those that its last layer makes of its features."""
    drawn = outputs(seed)
    weight = 2.0 * np.eye(*drawn.weight.shape) + 0.1 * drawn.weight
    made = drawn.fit_features @ weight.T + drawn.bias
    keep = made.argmax(axis=1) == drawn.fit_labels
    return Outputs(
        logits=drawn.features @ weight.T + drawn.bias,
        features=drawn.features,
        weight=weight,
        bias=drawn.bias,
        fit_labels=drawn.fit_labels[keep],
        fit_logits=made[keep],
        fit_features=drawn.fit_features[keep],
    )


PARETO = 0.2768565414601687
"""What SciPy fits to four quotients: it cannot be worked out by hand."""
TWO_PER_CLASS = Outputs(
    logits=[[4.0, 1.0]],
    features=[[3.0, 8.0]],
    fit_labels=[0, 0, 1, 1],
    fit_logits=[[2.0, 0.0], [2.0, 0.0], [0.0, 2.0], [0.0, 2.0]],
    fit_features=[[0.0, 7.0], [2.0, 7.0], [5.0, 5.0], [7.0, 5.0]],
)
ONE_DIRECTION = Outputs(
    logits=[[3.0]],
    features=[[0.0, 2.0]],
    weight=[[1.0, 1.0]],
    bias=[1.0],
    fit_labels=[0, 0],
    fit_logits=[[2.0], [4.0]],
    fit_features=[[1.0, 0.0], [3.0, 0.0]],
)
PUBLISHED = [
    Case(
        "Score ghost",
        _fitted("ghost"),
        GHOST,
        _published("ghost_quotient"),
        TWO_PER_CLASS,
        (-(8.0**0.5), -(8.0**0.5)),
        "The largest logit, 4, over how far the features are from the mean of the class, 2 / sqrt(2); the second "
        "feature is constant in the class and does not count. The program goes on to a probability; we do not.",
        draw=outputs,
    ),
    Case(
        "Score costarr",
        _fitted("costarr", head=True),
        COSTARR,
        _published("costarr_score", head=True),
        ONE_DIRECTION,
        (-0.25, -0.25),
        "The logit is half way between the smallest and the largest of training, the directions are at right angles: "
        "1/2 times 1/2.",
        draw=_linear,
    ),
    Case(
        "Score postmax",
        _fitted("postmax", clipped=True),
        POSTMAX,
        _published("postmax_probability", offset=1.0),
        replace(TWO_PER_CLASS, logits=np.array([[2.2, 1.0]])),
        (PARETO, PARETO),
        "One minus the generalised Pareto probability. Where that is 0 or 1 and all samples would tie, our score goes "
        "on as a straight line, which is cut off here.",
        draw=outputs,
    ),
]

CASES = [*LOGITS, *OPENMAX, *DISTANCES, *SCALE, *PUBLISHED]
