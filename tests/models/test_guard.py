"""`guard`: the classifier's own answer where the threshold accepts, "unknown" where it rejects."""

import subprocess
import sys

import numpy as np
import pytest

import openset
from model_samples import BIAS, CLASSES, WEIGHT, make_onnx
from openset import Scores, Threshold, guard
from openset.errors import OpenSetError
from openset.operating import Origin, choose
from openset.posthoc import SCORES, Outputs, fit, score


def threshold_for(name, value, **origin):
    spec = fit(name).spec if not SCORES[name.partition("(")[0]].fitted else None
    return Threshold(value, "by hand", {}, 0, Origin(None if spec is None else spec.as_json(), **origin))


# ---- torch ---------------------------------------------------------------------------------------------------------


@pytest.fixture
def network():
    torch = pytest.importorskip("torch", reason="torch is not installed")
    torch.manual_seed(0)
    layers = (torch.nn.Linear(4, 8), torch.nn.ReLU(), torch.nn.Dropout(0.5), torch.nn.Linear(8, 3))
    return torch.nn.Sequential(*layers).eval()


@pytest.fixture
def inputs():
    torch = pytest.importorskip("torch", reason="torch is not installed")
    return torch.randn(50, 4, generator=torch.Generator().manual_seed(1))


def parts(network, inputs):
    import torch

    with torch.no_grad():
        features = network[:3](inputs)
        return network[3](features).numpy(), features.numpy()


@pytest.mark.parametrize("name", ["msp", "max_logit", "energy", "entropy"])
def test_a_torch_module(network, inputs, name):
    logits, _ = parts(network, inputs)
    expected = score(Outputs(logits=logits), name)
    value = float(np.median(expected))
    wrapped = guard(network, threshold_for(name, value, classes=CLASSES))
    found = wrapped.decide(inputs)
    np.testing.assert_allclose(found.unknown_score, expected, rtol=1e-9)
    best = np.array(CLASSES)[logits.argmax(axis=1)]
    assert wrapped(inputs).tolist() == np.where(expected > value, "unknown", best).tolist()
    assert wrapped(inputs).tolist().count("unknown") == 25
    np.testing.assert_allclose(found.margin, value - expected, rtol=1e-6)


@pytest.mark.parametrize("name", ["knn(k=3)", "mahalanobis", "vim(dim=2)", "react", "nnguide"])
def test_scores_of_features_and_head(network, inputs, name):
    """Features are caught on their way into the last layer; the network is left as it was."""
    logits, features = parts(network, inputs)
    head = (network[3].weight.detach().numpy(), network[3].bias.detach().numpy())
    outputs = Outputs(logits, features, labels=np.arange(50) % 3, head=head)
    fitted = fit(name, outputs)
    expected = fitted.score(outputs)
    frozen = choose(
        Scores(
            outputs.labels,
            logits.argmax(axis=1),
            expected,
            meta={"score": fitted.spec.as_json(), "fit": fitted.fingerprint},
        ),
        "at_acceptance=0.8",
    )
    for given in (fitted, outputs):
        wrapped = guard(network, frozen, fitted=given)
        for _ in range(2):  # the layer is found in the first call, watched in the next
            np.testing.assert_allclose(wrapped.decide(inputs).unknown_score, expected, rtol=1e-6, atol=1e-9)
        assert wrapped(inputs).tolist().count("unknown") == int((expected > frozen.value).sum()) > 0
    assert not any(one._forward_hooks or one._forward_pre_hooks for one in network.modules())
    with pytest.raises(OpenSetError, match="learns from training outputs"):
        guard(network, frozen)
    other = fit(name, outputs.rows(np.arange(50) < 40))
    with pytest.raises(OpenSetError, match="fitted on other training outputs"):
        guard(network, frozen, fitted=other)


def test_a_threshold_of_another_kind_is_refused(network, inputs):
    energy = threshold_for("energy", 0.0)
    with pytest.raises(OpenSetError, match="it was chosen for the score energy, and this is msp"):
        guard(network, energy, score="msp")
    wrapped = guard(network, threshold_for("energy", 0.0, classes=("a", "b", "c", "d")))
    with pytest.raises(OpenSetError, match="it was chosen for 4 classes, and here there are 3"):
        wrapped(inputs)
    assert len(guard(network, energy, score="msp", force=True)(inputs)) == 50
    with pytest.raises(OpenSetError, match="The fit is of the score msp, and energy is asked for"):
        guard(network, energy, fitted=fit("msp"))
    with pytest.raises(OpenSetError, match="does not tell which score"):
        guard(network, 0.5)


def test_a_network_in_training_mode_is_refused(network, inputs):
    with pytest.raises(OpenSetError, match=r"call model\.eval\(\)"):
        guard(network.train(), 0.5, score="msp")(inputs)


def test_a_network_whose_last_layer_is_not_linear(inputs):
    import torch

    class Cosine(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = torch.nn.Linear(4, 3)

        def forward(self, values):
            return 3 * self.layer(values)

    outputs = Outputs(features=np.zeros((5, 4)), labels=np.zeros(5, dtype=int))
    wrapped = guard(Cosine().eval(), 0.5, score="knn(k=1)", fitted=outputs)
    with pytest.raises(OpenSetError, match="no linear layer of it returns the logits"):
        wrapped(inputs)
    assert len(guard(Cosine().eval(), 0.5, score="msp")(inputs)) == 50


def test_a_model_of_transformers(vit):
    import torch
    from transformers import AutoModelForImageClassification

    network = AutoModelForImageClassification.from_pretrained(vit).eval()
    pixels = torch.randn(6, 3, 32, 32, generator=torch.Generator().manual_seed(0))
    labels = guard(network, 1e9, score="energy")({"pixel_values": pixels})
    with torch.no_grad():
        best = network(pixel_values=pixels).logits.argmax(dim=1).tolist()
    assert labels.tolist() == [CLASSES[number] for number in best]
    with pytest.raises(OpenSetError, match="other classes"):
        guard(network, threshold_for("energy", 1.0, classes=("a", "b", "c")))


# ---- scikit-learn and onnxruntime ----------------------------------------------------------------------------------


def test_a_pipeline_of_scikit_learn():
    from sklearn.datasets import load_digits
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    images, labels = load_digits(return_X_y=True)
    known = labels < 8
    model = make_pipeline(StandardScaler(), LogisticRegression(max_iter=500)).fit(
        images[known][::2], labels[known][::2]
    )
    logits = model.decision_function(images[known][1::2])
    scores = Scores.from_logits(labels[known][1::2], logits, score="max_logit")
    wrapped = guard(model, choose(scores, "at_acceptance=0.9"))
    accepted = wrapped(images[known][1::2])
    assert (accepted != "unknown").mean() == pytest.approx(0.9, abs=0.01)
    assert (wrapped(images[~known]) == "unknown").mean() > 0.5
    assert set(accepted.tolist()) == {"unknown", *map(str, range(8))}


def test_a_session_of_onnxruntime(tmp_path):
    onnx = pytest.importorskip("onnx", reason="onnx is not installed")
    runtime = pytest.importorskip("onnxruntime", reason="onnxruntime is not installed")
    session = runtime.InferenceSession(str(make_onnx(onnx, tmp_path / "m.onnx")), providers=["CPUExecutionProvider"])
    pixels = np.random.default_rng(0).random((9, 3, 4, 4), dtype=np.float32)
    logits = pixels.mean(axis=(2, 3)) @ WEIGHT.T + BIAS
    value = float(np.median(-logits.max(axis=1))) + 1e-3  # not on a score itself, which is rounded
    labels = guard(session, threshold_for("max_logit", value, classes=CLASSES))(pixels)
    best = np.array(CLASSES)[logits.argmax(axis=1)]
    assert labels.tolist() == np.where(-logits.max(axis=1) > value, "unknown", best).tolist()
    with pytest.raises(OpenSetError, match="needs features, and the session has no output of that name: logits"):
        guard(session, 0.5, score="knn(k=1)", fitted=Outputs(features=np.zeros((5, 3)), labels=np.zeros(5, dtype=int)))


def test_what_cannot_be_guarded():
    with pytest.raises(OpenSetError, match="guard cannot wrap a list: it takes a torch module"):
        guard([], 0.5, score="msp")
    with pytest.raises(OpenSetError, match="must be a finite number"):
        guard(type("Fitted", (), {"predict": None, "classes_": [0, 1]})(), float("nan"), score="msp")


def test_guarding_needs_no_torch():
    code = "import openset, sys; openset.guard; assert 'torch' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)
    assert "guard" in openset.__all__
