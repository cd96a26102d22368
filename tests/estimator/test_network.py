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
    return OpenSetClassifier(method, hidden=(64,), **{"epochs": 15, "learning_rate": 3e-3, **more})


def brief(method="openauc", **more):
    """For what does not depend on how well it has learned."""
    return fast(method, epochs=2, **more)


@pytest.fixture(scope="module")
def model(data):
    return fast().fit(*data["train"])


@pytest.mark.slow
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
    printed = model.predict(data["test"][0])
    assert np.array_equal(printed == -2, model.unknown_score(data["test"][0]) > threshold.value)
    unknown = data["test"][1] >= 6
    assert (printed == -2)[unknown].mean() > 0.6


OTHERS = [
    pytest.param(name, marks=pytest.mark.slow) for name in ("maxlogit", "arpl", "mahalanobis", "openmax", "energy")
]


@pytest.mark.parametrize("method", ["openauc", "knn", *OTHERS])
def test_methods_and_scores_tell_unknowns(method, data):
    model = fast(method).fit(*data["train"])
    labels = np.where(data["test"][1] < 6, data["test"][1], -2)
    assert auroc(labels, model.unknown_score(data["test"][0])) > 0.8


@pytest.mark.slow
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


def test_options_of_a_score_reach_it(data):
    test = data["test"][0]
    by_option = brief("knn", options={"k": 1, "label_smoothing": 0.1}).fit(*data["train"])
    by_text = brief("knn(k=1)", options={"label_smoothing": 0.1}).fit(*data["train"])
    usual = brief("knn", options={"label_smoothing": 0.1}).fit(*data["train"])
    assert np.array_equal(by_option.unknown_score(test), by_text.unknown_score(test))
    assert (by_option.unknown_score(test) < usual.unknown_score(test)).all()  # the nearest is nearer than the 50th
    assert by_option.network_.method.classification.label_smoothing == 0.1
    assert by_option.scores(*data["test"]).meta["score"] == {"name": "knn", "params": {"k": 1}}


def test_a_score_on_a_network_of_another_method(data):
    test = data["test"][0]
    model = brief("openauc", reject_by="knn(k=1)").fit(*data["train"])
    plain = brief("openauc").fit(*data["train"])
    assert np.array_equal(model.decision_function(test), plain.decision_function(test))
    features, known = (plain._outputs(vectors).features for vectors in (test, data["train"][0]))
    length = [rows / np.linalg.norm(rows, axis=1, keepdims=True) for rows in (features, known)]
    nearest = np.sqrt(((length[0][:, None] - length[1][None]) ** 2).sum(axis=2)).min(axis=1)
    np.testing.assert_allclose(model.unknown_score(test), nearest, atol=1e-3)
    assert plain.scores(*data["test"]).meta["score"]["name"] == "max_logit"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"method": "knn", "options": {"kk": 1}}, "method softmax has no option 'kk'"),
        ({"method": "knn", "options": {"k": 0}}, "knn: 'k' must be at least 1"),
        ({"method": "knn(j=1)"}, "The score 'knn' has no parameter 'j'. Choose from: k"),
        ({"method": "knn", "reject_by": "energy"}, "'knn' and reject_by 'energy' are both scores: name one of them"),
        ({"reject_by": "enrgy"}, r"no score named 'enrgy'. Did you mean 'energy'\?"),
    ],
)
def test_wrong_scores_are_named(data, options, message):
    with pytest.raises(OpenSetError, match=message):
        OpenSetClassifier(**options).fit(*data["train"])


def test_pairs_are_ranked_one_sided_and_all_of_them_unless_one_says_otherwise(data):
    def criterion(**options):
        return OpenSetClassifier(epochs=1, **options).fit(*data["train"]).network_.method.criterion

    assert (criterion().pairing, criterion().surrogate) == ("all", "squared_hinge")
    other = criterion(options={"pairing": "slots", "surrogate": "square"})
    assert (other.pairing, other.surrogate) == ("slots", "square")


@pytest.mark.slow
def test_a_linear_classifier(data):
    model = OpenSetClassifier(hidden=(), epochs=60, learning_rate=1e-2).fit(*data["train"])
    parameters = dict(model.network_.named_parameters())
    assert list(parameters) == ["method.head.weight"]
    assert parameters["method.head.weight"].shape == (6, 64)
    known = data["test"][1] < 6
    assert model.score(data["test"][0][known], data["test"][1][known]) > 0.9


@pytest.mark.parametrize(("n", "size"), [(20, 16), (600, 20), (3000, 100), (60_000, 128)])
def test_the_batch_grows_with_the_data(n, size):
    assert OpenSetClassifier()._config(n).data.batch_size == size
    assert OpenSetClassifier(batch_size=7)._config(n).data.batch_size == 7


@pytest.mark.slow
def test_many_classes_are_learned_as_well_as_by_logistic_regression():
    """60 classes of 40 samples each that overlap: the defaults must hold beyond a handful of classes."""
    from sklearn.linear_model import LogisticRegression

    rng = np.random.default_rng(0)
    centres = 0.6 * rng.normal(size=(60, 64))
    labels = np.repeat(np.arange(60), 120)
    vectors = centres[labels] + rng.normal(size=(len(labels), 64))
    train = np.arange(len(labels)) % 3 == 0
    linear = LogisticRegression(max_iter=1000).fit(vectors[train], labels[train])
    wanted = linear.score(vectors[~train], labels[~train])
    found = OpenSetClassifier().fit(vectors[train], labels[train]).score(vectors[~train], labels[~train])
    assert 0.9 < wanted < 0.99  # neither hopeless nor trivial
    assert found > wanted - 0.01


def test_text_classes(data):
    names = np.array(["zero", "one", "two", "three", "four", "five"])
    model = fast().fit(data["train"][0], names[data["train"][1]])
    model.calibrate(data["val"][0], names[data["val"][1]])
    printed = model.predict(data["test"][0])
    assert "unknown" in printed
    assert set(printed) <= {*names, "unknown"}
    assert (printed == "unknown")[data["test"][1] >= 6].mean() > 0.5


def test_an_unknown_label_that_is_a_class(data):
    model = brief(unknown_label=3).fit(*data["train"])
    with pytest.raises(OpenSetError, match="unknown label 3 is also a known class"):
        model.calibrate(*data["val"])


def test_in_a_pipeline(data):
    pipeline = make_pipeline(PCA(20, random_state=0), fast()).fit(*data["train"])
    known = data["test"][1] < 6
    assert pipeline.score(data["test"][0][known], data["test"][1][known]) > 0.9


def test_same_seed_same_scores_and_the_callers_randomness_is_left_alone(data):
    once = brief().fit(*data["train"])
    torch.manual_seed(3)
    wanted = torch.rand(1)
    torch.manual_seed(3)
    again = brief().fit(*data["train"])
    assert torch.equal(torch.rand(1), wanted)
    assert np.array_equal(again.unknown_score(data["test"][0]), once.unknown_score(data["test"][0]))
    other = brief(random_state=1).fit(*data["train"])
    assert not np.array_equal(other.unknown_score(data["test"][0]), once.unknown_score(data["test"][0]))


@pytest.mark.parametrize("method", ["openauc", "knn", "openmax"])
def test_what_is_saved_is_loaded(method, data, tmp_path):
    names = np.array(["a", "b", "c", "d", "e", "f"])
    model = brief(method, options={"label_smoothing": 0.1}).fit(data["train"][0], names[data["train"][1]])
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
    printed = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout
    assert json.loads(printed) is False


@pytest.mark.slow
def test_numbers_beside_a_word_for_the_unknown_stay_numbers(data):
    model = fast(unknown_label="unknown").fit(*data["train"])
    model.calibrate(*data["val"])
    assert {type(one) for one in model.predict(data["test"][0])} == {int, str}
    pair = data["train"][1] < 2
    model = fast().fit(data["train"][0][pair], data["train"][1][pair] == 1)
    model.calibrate(data["train"][0][pair], data["train"][1][pair] == 1)
    assert set(model.predict(data["test"][0]).tolist()) == {True, False, -2}
    assert bool in {type(one) for one in model.predict(data["test"][0])}
