"""What an operating point costs: errors of every kind at each fraction of knowns accepted."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from openset._core.arithmetic import divide
from openset._core.decisions import accepted_mix
from openset.errors import check_share
from openset.scores import Scores

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class RiskCurve:
    """Fractions of accepted samples that are wrong if a fraction `unknown_share` of what arrives is open-set."""

    acceptance: Array
    """Fraction of knowns accepted; the point where nothing is accepted is left out."""
    unknown: Array
    """Fraction of the accepted that is open-set."""
    misclassified: Array
    """Fraction of the accepted that is known but predicted as another class."""
    unknown_share: float


def risk_curve(scores: Scores, *, unknown_share: float = 0.1, against: str = "all") -> RiskCurve:
    """Risk at every threshold that accepts a known.

    >>> curve = risk_curve(Scores([0, 0, -2, -2], [0, 1, 0, 0], [0.1, 0.3, 0.2, 0.9]), unknown_share=0.5)
    >>> curve.acceptance, curve.unknown.round(3), curve.misclassified.round(3)
    (array([0.5, 0.5, 1. , 1. ]), array([0.   , 0.5  , 0.333, 0.5  ]), array([0.   , 0.   , 0.333, 0.25 ]))
    """
    check_share("risk_curve", "unknown_share", unknown_share, zero=True)
    counts = scores.counts(against)
    some = counts.known > 0
    knowns, unknowns = accepted_mix(counts.acceptance[some], counts.fpr[some], unknown_share)
    wrong, _ = accepted_mix((counts.acceptance - counts.ccr)[some], 0.0, unknown_share)
    everything = knowns + unknowns
    return RiskCurve(
        counts.acceptance[some], divide(unknowns, everything, 0.0), divide(wrong, everything, 0.0), unknown_share
    )
