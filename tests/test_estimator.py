import json
import pickle
import subprocess
import sys

import numpy as np
import pytest
import torch
from sklearn.datasets import load_digits
from sklearn.decomposition import PCA
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

from openset.errors import OpenSetError
from openset.estimator import OpenSetClassifier
from openset.methods import METHODS
from openset.metrics import auroc


@pytest.fixture(autouse=True, scope="module")
def _one_thread():
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture(scope="module")
def data():
    """Digits 0-5 known; 6 and 7 negative; 8 and 9 unknown."""
    vectors, labels = load_digits(return_X_y=True)
    order = np.random.default_rng(0).permutation(len(labels))
    vectors, labels = vectors[order], labels[order]
    part = np.arange(len(labels)) % 3
    known = labels < 6
    return {
        "train": (vectors[known & (part == 0)], labels[known & (part == 0)]),
        "val": (vectors[known & (part == 1)], labels[known & (part == 1)]),
        "test": (vectors[part == 2], labels[part == 2]),
        "negatives": vectors[(labels >= 6) & (labels < 8) & (part == 0)],
    }


def fast(method="openauc", **more):
    return OpenSetClassifier(method, hidden=(64,), epochs=15, **more)


@pytest.fixture(scope="module")
def model(data):
    return fast().fit(*data["train"])


@parametrize_with_checks([OpenSetClassifier(hidden=(32,), epochs=30)])
def test_scikit_learns_own_checks(estimator, check):
    check(estimator)


def test_before_calibration_everything_is_known(model, data):
    assert set(model.predict(data["test"][0])) <= set(range(6))
    known = data["test"][1] < 6
    assert (model.predict(data["test"][0]) == data["test"][1])[known].mean() > 0.9


def test_what_is_not_fitted_cannot_be_calibrated(data):
    with pytest.raises(NotFittedError, match="not fitted yet"):
        OpenSetClassifier().calibrate(*data["val"])


def test_calibration_rejects_by_the_rule(data):
    model = fast().fit(*data["train"])
    threshold = model.calibrate(*data["val"], rule="at_acceptance=0.9")
    accepted = model.predict(data["val"][0]) != -2
    assert accepted.mean() == pytest.approx(0.9, abs=0.01)
    said = model.predict(data["test"][0])
    assert np.array_equal(said == -2, model.unknown_score(data["test"][0]) > threshold.value)
    unknown = data["test"][1] >= 6
    assert (said == -2)[unknown].mean() > 0.6


@pytest.mark.parametrize("method", ["openauc", "maxlogit", "arpl", "knn", "mahalanobis", "openmax", "energy"])
def test_methods_and_scores_tell_unknowns(method, data):
    model = fast(method).fit(*data["train"])
    labels = np.where(data["test"][1] < 6, data["test"][1], -2)
    assert auroc(labels, model.unknown_score(data["test"][0])) > 0.8


@pytest.mark.parametrize("method", [name for name in METHODS if METHODS[name].uses_negatives])
def test_methods_that_learn_from_negatives(method, data):
    vectors = np.concatenate([data["train"][0], data["negatives"]])
    labels = np.concatenate([data["train"][1], np.full(len(data["negatives"]), -1)])
    model = fast(method, negative_label=-1).fit(vectors, labels)
    assert model.classes_.tolist() == list(range(6))
    truth = np.where(data["test"][1] < 6, data["test"][1], -2)
    assert auroc(truth, model.unknown_score(data["test"][0])) > 0.8
    with pytest.raises(OpenSetError, match="learns from negatives: mark them in y"):
        fast(method).fit(*data["train"])


def test_text_classes(data):
    names = np.array(["zero", "one", "two", "three", "four", "five"])
    model = fast().fit(data["train"][0], names[data["train"][1]])
    model.calibrate(data["val"][0], names[data["val"][1]])
    said = model.predict(data["test"][0])
    assert "unknown" in said
    assert set(said) <= {*names, "unknown"}
    assert (said == "unknown")[data["test"][1] >= 6].mean() > 0.5


def test_an_unknown_label_that_is_a_class(data):
    model = fast(unknown_label=3).fit(*data["train"])
    with pytest.raises(OpenSetError, match="unknown label 3 is also a known class"):
        model.calibrate(*data["val"])


def test_in_a_pipeline(data):
    pipeline = make_pipeline(PCA(20, random_state=0), fast()).fit(*data["train"])
    known = data["test"][1] < 6
    assert pipeline.score(data["test"][0][known], data["test"][1][known]) > 0.9


def test_same_seed_same_scores_and_the_callers_randomness_is_left_alone(data, model):
    torch.manual_seed(3)
    wanted = torch.rand(1)
    torch.manual_seed(3)
    again = fast().fit(*data["train"])
    assert torch.equal(torch.rand(1), wanted)
    assert np.array_equal(again.unknown_score(data["test"][0]), model.unknown_score(data["test"][0]))


@pytest.mark.parametrize("method", ["openauc", "knn", "openmax"])
def test_what_is_saved_is_loaded(method, data, tmp_path):
    names = np.array(["a", "b", "c", "d", "e", "f"])
    model = fast(method, options={"label_smoothing": 0.1}).fit(data["train"][0], names[data["train"][1]])
    model.calibrate(data["val"][0], names[data["val"][1]])
    model.save(tmp_path / "model.safetensors")
    loaded = OpenSetClassifier.load(tmp_path / "model.safetensors")
    assert loaded.get_params() == model.get_params()
    assert loaded.threshold_ == model.threshold_
    assert np.array_equal(loaded.unknown_score(data["test"][0]), model.unknown_score(data["test"][0]))
    assert np.array_equal(loaded.predict(data["test"][0]), model.predict(data["test"][0]))


def test_loading_never_runs_code(tmp_path):
    class Trap:
        def __reduce__(self):
            return (open, (str(tmp_path / "trap"), "w"))

    (tmp_path / "model.safetensors").write_bytes(pickle.dumps(Trap()))
    with pytest.raises(OpenSetError, match="damaged or cut off"):
        OpenSetClassifier.load(tmp_path / "model.safetensors")
    assert not (tmp_path / "trap").exists()


def test_another_file_is_refused(tmp_path):
    from openset.train.checkpoint import write_tensors

    write_tensors(tmp_path / "other.safetensors", {"x": torch.ones(2)}, {"state": {}})
    with pytest.raises(OpenSetError, match="does not hold an OpenSetClassifier"):
        OpenSetClassifier.load(tmp_path / "other.safetensors")


def test_unknown_names(data):
    with pytest.raises(OpenSetError, match=r"no method or score named 'kn'. Did you mean 'knn'\?"):
        OpenSetClassifier("kn").fit(*data["train"])
    with pytest.raises(OpenSetError, match="method openauc has no option 'wait'"):
        OpenSetClassifier(options={"wait": 1}).fit(*data["train"])


def test_scores_for_evaluation(model, data):
    scores = model.scores(*data["test"])
    assert scores.n_classes == 6
    assert ((scores.labels == -2) == (data["test"][1] >= 6)).all()


def test_importing_openset_does_not_import_torch():
    code = "import openset, sys, json; print(json.dumps('torch' in sys.modules))"
    said = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout
    assert json.loads(said) is False


def test_numbers_beside_a_word_for_the_unknown_stay_numbers(data):
    model = fast(unknown_label="unknown").fit(*data["train"])
    model.calibrate(*data["val"])
    assert {type(one) for one in model.predict(data["test"][0])} == {int, str}
    pair = data["train"][1] < 2
    model = fast().fit(data["train"][0][pair], data["train"][1][pair] == 1)
    model.calibrate(data["train"][0][pair], data["train"][1][pair] == 1)
    assert set(model.predict(data["test"][0]).tolist()) == {True, False, -2}
    assert bool in {type(one) for one in model.predict(data["test"][0])}
