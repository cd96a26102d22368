import importlib.util

import numpy as np
import pytest
import torch

from conformance.peers import define_torchvision_names
from openset.errors import OpenSetError
from openset.posthoc import Outputs, mahalanobis
from openset.train.pytorch_ood import detector_score


def outputs(seed, n=200, shift=0.0):
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, 3, n)
    features = rng.normal(size=(n, 4)) + 4 * np.eye(4)[labels] + shift
    return Outputs(labels=labels, logits=features[:, :3], features=features)


class Farthest:
    """A detector with the methods of pytorch-ood: distance to the mean of what it was fitted on."""

    def fit_features(self, x, y):
        self.mean = x.mean(dim=0)
        self.seen = y

    def predict_features(self, x):
        return (x - self.mean).norm(dim=1)


def test_a_detector_is_fitted_on_knowns_and_scores():
    fit = outputs(0)
    labels = fit.labels.copy()
    labels[:50] = -1
    fit = Outputs(labels=labels, logits=fit.logits, features=fit.features)
    detector, test = Farthest(), outputs(1)
    found = detector_score(detector, test, fit)
    assert (detector.seen >= 0).all()
    assert len(detector.seen) == 150
    mean = fit.features[50:].mean(axis=0)
    np.testing.assert_allclose(found, np.linalg.norm(test.features - mean, axis=1), rtol=1e-5)


def test_what_is_not_a_detector_of_outputs():
    with pytest.raises(OpenSetError, match="Identity has no 'predict_features'"):
        detector_score(torch.nn.Identity(), outputs(0))


@pytest.mark.skipif(importlib.util.find_spec("pytorch_ood") is None, reason="pytorch-ood is not installed")
@pytest.mark.filterwarnings("ignore")
def test_the_real_thing():
    define_torchvision_names()
    try:
        from pytorch_ood.detector import Mahalanobis
    except (ImportError, RuntimeError) as error:
        pytest.skip(f"pytorch-ood cannot be imported: {error}")
    fit, known, far = outputs(0), outputs(1), outputs(2, shift=6.0)
    detector = Mahalanobis(None)
    near, away = (detector_score(detector, one, fit) for one in (known, far))
    assert np.median(away) > np.median(near)
    own = mahalanobis(known.features, fit_features=fit.features, fit_labels=fit.labels)
    assert np.corrcoef(own, near)[0, 1] > 0.99
