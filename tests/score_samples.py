"""Outputs of a small network to score."""

import numpy as np

from openset.posthoc import Outputs


def make_outputs(seed=0, n=120, n_classes=4, n_features=20, *, bias=True, spread=1.0, unknown=0):
    """Activations after a ReLU, and the linear layer that makes logits of them; the last samples are unknown."""
    layer = np.random.default_rng(7)
    weight = layer.normal(size=(n_classes, n_features))
    shift = layer.normal(size=n_classes) if bias else None
    rng = np.random.default_rng(seed)
    labels = np.arange(n) % n_classes
    labels[n - unknown :] = -2
    centres = np.where(labels[:, None] >= 0, 0.6 * weight[labels], 0.0)
    features = np.maximum(centres + spread * rng.normal(size=(n, n_features)), 0.0)
    logits = features @ weight.T + (0.0 if shift is None else shift)
    return Outputs(logits, features, labels=labels, head=(weight, shift))


def digit_outputs(n_known=6):
    """Real images of digits, pixels as features, logistic regression as the last layer: (training, test) outputs."""
    from sklearn.datasets import load_digits
    from sklearn.linear_model import LogisticRegression

    images, digits = load_digits(return_X_y=True)
    features, known = images / 16.0, digits < n_known
    labels = np.where(known, digits, -2)
    layer = LogisticRegression(max_iter=1000).fit(features[known][::2], digits[known][::2])
    head = (layer.coef_, layer.intercept_)
    parts = [np.flatnonzero(known)[::2], np.r_[np.flatnonzero(known)[1::2], np.flatnonzero(~known)]]
    return tuple(
        Outputs(layer.decision_function(features[rows]), features[rows], labels=labels[rows], head=head)
        for rows in parts
    )
