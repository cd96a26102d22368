"""Squared Mahalanobis distance to the nearest class mean, one covariance for all classes.

    r(x) = min_k (x - m_k)' S^-1 (x - m_k),  S = mean over training samples of (x - m_y)(x - m_y)'

Lee et al., NeurIPS 2018 (arXiv:1807.03888), on the last features and without changing inputs. Directions in which
training samples do not differ are left out.

>>> from openset.posthoc import mahalanobis
>>> mahalanobis([[0.0], [3.0]], fit_features=[[-1.0], [1.0]], fit_labels=[0, 0])
array([0., 9.])
"""

import numpy as np

from openset.posthoc.card import Learned, Score, register
from openset.posthoc.neighbours import Bank
from openset.posthoc.numerics import Array, Triangle, by_blocks, class_means, inverse_root
from openset.posthoc.outputs import Outputs


def learn_classes(train: Outputs, score: str = "mahalanobis") -> dict[str, Array]:
    """Class means, whitened, and the matrix that whitens."""
    return train.once("whitened classes", lambda: _whitened(train, score))


def _whitened(train: Outputs, score: str) -> dict[str, Array]:
    features, labels = train.embedding(), np.asarray(train.labels)
    present, numbers = np.unique(labels, return_inverse=True)
    means = class_means(features, numbers, len(present))
    centred = features - means[numbers]
    whiten = inverse_root(centred.T @ centred / len(centred), score)
    return {"whiten": whiten, "centres": means @ whiten}


def _prepared(learned: Learned) -> tuple[Triangle, Array, Bank]:
    """A turn of the whitened space changes no distance, and there is one that makes the whitening matrix a triangle."""
    turn, triangle = np.linalg.qr(learned["whiten"].T)
    centres = learned["centres"] @ turn
    center = centres.mean(axis=0)
    return Triangle(triangle), center, Bank.by_distance(centres - center)


def _nearest_class(outputs: Outputs, learned: Learned) -> Array:
    """Squared distance to the nearest class."""
    triangle, center, bank = learned.once("prepared", lambda: _prepared(learned))
    return by_blocks(lambda features: bank.nearest_square(triangle.times(features) - center), outputs.embedding())


register(
    Score(
        name="mahalanobis",
        title="Mahalanobis distance",
        paper="Lee et al., NeurIPS 2018, arXiv:1807.03888",
        needs=("features", "fit"),
        document=__doc__,
        apply=_nearest_class,
        learn=learn_classes,
        learned={"whiten": "dr", "centres": "cr"},
        uses_labels=True,
    )
)
