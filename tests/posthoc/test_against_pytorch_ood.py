"""The same input through the detectors of pytorch-ood, where it is installed (`make adapters`)."""

import importlib.util

import numpy as np
import pytest
import torch

from conformance.peers import define_torchvision_names
from openset.posthoc import score
from score_samples import make_outputs

pytestmark = [
    pytest.mark.skipif(importlib.util.find_spec("pytorch_ood") is None, reason="pytorch-ood is not installed"),
    pytest.mark.filterwarnings("ignore"),
]


@pytest.fixture(scope="module")
def detectors():
    define_torchvision_names()
    try:
        from pytorch_ood import detector
    except (ImportError, RuntimeError) as error:
        pytest.skip(f"pytorch-ood cannot be imported: {error}")
    return detector


TRAIN, TEST = make_outputs(0), make_outputs(1, n=40, spread=1.5)
N = len(TRAIN.labels)


def tensor(values):
    return torch.from_numpy(np.asarray(values)).float()


def linear():
    layer = torch.nn.Linear(TRAIN.features.shape[1], TRAIN.logits.shape[1])
    with torch.no_grad():
        layer.weight.copy_(tensor(TRAIN.head[0]))
        layer.bias.copy_(tensor(TRAIN.head[1]))
    return layer.eval()


def on_logits(detector, fit=False):
    if fit:
        detector.fit_logits(torch.from_numpy(TRAIN.logits), torch.from_numpy(TRAIN.labels))
    return detector.predict_logits(torch.from_numpy(TEST.logits))


def on_features(detector, fit=True):
    if fit:
        detector.fit_features(tensor(TRAIN.features), torch.from_numpy(TRAIN.labels))
    return detector.predict_features(tensor(TEST.features))


def on_maps(detector, fit=False):
    def maps(outputs):
        return tensor(outputs.features)[:, :, None, None]

    if fit:
        detector.fit_feature_maps(maps(TRAIN), torch.from_numpy(TRAIN.labels))
    return detector.predict_feature_maps(maps(TEST))


def head(maps):
    return linear()(maps.flatten(1))


weight, bias = tensor(TRAIN.head[0]), tensor(TRAIN.head[1])
SAME = {
    # ours: (theirs, and by which factor and sum theirs differ on purpose: a mean for a sum, no division by n)
    "max_logit": (lambda d: on_logits(d.MaxLogit(None)), 1, 0),
    "msp": (lambda d: on_logits(d.MaxSoftmax(None)), 1, 1),
    "msp(temperature=3)": (lambda d: on_logits(d.MaxSoftmax(None, t=3.0)), 1, 1),
    "energy": (lambda d: on_logits(d.EnergyBased(None)), 1, 0),
    "entropy": (lambda d: on_logits(d.Entropy(None)), 1, 0),
    "gen(gamma=0.5)": (lambda d: on_logits(d.GEN(None, gamma=0.5)), 4, 0),
    "gen(gamma=0.5, top=2)": (lambda d: on_logits(d.GEN(None, gamma=0.5, M=2)), 2, 0),
    "kl_matching": (lambda d: on_logits(d.KLMatching(None), fit=True), 1, 0),
    "mahalanobis": (lambda d: on_features(d.Mahalanobis(None)), 2 * N, 0),
    "relative_mahalanobis": (lambda d: on_features(d.RMD(None)), N, 0),
    "knn(k=5)": (lambda d: on_features(d.KNN(None, k=5)), 1, 0),
    "vim(dim=6)": (lambda d: on_features(d.ViM(None, 6, weight, bias)), 1, 0),
    "dice(sparsity=0.6)": (lambda d: on_features(d.DICE(None, weight, bias, 0.6)), 1, 0),
    "react(quantile=0.8)": (lambda d: on_maps(d.ReAct(None, head, percentile=0.8), fit=True), 1, 0),
    "ash(top=0.35)": (lambda d: on_maps(d.ASH(None, head, "ash-s", 0.65)), 1, 0),
    "ash(top=0.35, shape=b)": (lambda d: on_maps(d.ASH(None, head, "ash-b", 0.65)), 1, 0),
    "ash(top=0.35, shape=p)": (lambda d: on_maps(d.ASH(None, head, "ash-p", 0.65)), 1, 0),
    "scale": (lambda d: on_maps(d.SCALE(None, head, 0.85)), 1, 0),
    "fdbd": (lambda d: on_features(d.fDBD(None, linear())), 1, 0),
    "nci(alpha=0.01)": (lambda d: on_features(d.NCI(None, linear(), alpha=0.01)), 1, 0),
    "nnguide(k=7)": (lambda d: on_features(d.NNGuide(None, linear(), k=7)), 1, 0),
    "she": (lambda d: on_features(d.SHE(None, linear())), 1, 0),
}


PROBABILITY = np.sort(np.exp(TEST.logits) / np.exp(TEST.logits).sum(axis=1, keepdims=True), axis=1)
ROWS = {
    "gen": PROBABILITY[:, 0] > 1e-7,  # theirs takes smaller probabilities for 1e-7
    "ash": np.sort(TEST.features, axis=1)[:, -7] > 0,  # which of the zeros are among the largest is anybody's choice
}


@pytest.mark.parametrize("spec", list(SAME))
def test_the_same_values(spec, detectors):
    theirs, factor, shift = SAME[spec]
    expected = factor * theirs(detectors).detach().numpy().astype(np.float64) + shift
    rows = ROWS.get(spec[:3], np.ones(len(expected), dtype=bool))
    assert rows.mean() > 0.5
    # Theirs is in single precision, and the two Mahalanobis distances have a little added to the covariance.
    found, rounding = score(TEST, spec, TRAIN), 2e-4 if "mahalanobis" in spec else 2e-5
    np.testing.assert_allclose(found[rows], expected[rows], rtol=rounding, atol=rounding)
