import numpy as np
import pytest

from openset import Scores
from openset.errors import OpenSetError
from openset.posthoc import Outputs, energy, max_logit, msp, softmax


def test_it_says_what_it_holds():
    scores = Scores([0, 1, -1, -2], [0, 1, 1, 0], [0.1, 0.2, 0.3, 0.4], class_names=["cat", "dog", "cow"])
    assert repr(scores) == "Scores(2 known, 1 negative, 1 unknown, 3 classes)"
    assert (len(scores), scores.n_classes, scores.class_name(1)) == (4, 3, "dog")


def test_k_is_taken_from_probabilities_then_names_then_labels():
    labels, predictions, score = [0, -2], [1, 0], [0.1, 0.2]
    assert Scores(labels, predictions, score).n_classes == 2
    assert Scores(labels, predictions, score, class_names="abc").n_classes == 3
    assert Scores(labels, predictions, score, [[0.25] * 4] * 2).n_classes == 4


def test_scores_are_kept_in_the_callers_precision():
    for dtype, kept in (
        (np.float16, np.float32),
        (np.float32, np.float32),
        (np.float64, np.float64),
        (int, np.float64),
    ):
        assert Scores([0, -2], [0, 0], np.array([1, 2], dtype=dtype)).unknown_score.dtype == kept


def test_the_kinds_to_evaluate_against():
    assert Scores([0, -2], [0, 0], [0.1, 0.2]).against_choices() == ["all"]
    assert Scores([0, -1, -2], [0, 0, 0], [0.1, 0.2, 0.3]).against_choices() == ["all", "negative", "unknown"]
    grouped = Scores([0, -2, -2], [0, 0, 0], [0.1, 0.2, 0.3], groups=["", "easy", "hard"])
    assert grouped.against_choices() == ["all", "easy", "hard"]


def test_from_logits_keeps_predictions_scores_and_probabilities_together():
    logits = np.array([[3.0, 1.0, 0.0], [0.2, 0.1, 0.3], [0.0, 5.0, 1.0]])
    for name, function in (("max_logit", max_logit), ("msp", msp), ("energy", energy)):
        scores = Scores.from_logits([0, -2, 1], logits, score=name)
        np.testing.assert_array_equal(scores.predictions, [0, 2, 1])
        np.testing.assert_allclose(scores.unknown_score, function(logits))
        np.testing.assert_allclose(scores.probabilities, softmax(logits))
        params = {} if name == "max_logit" else {"temperature": 1.0}
        assert scores.meta == {"score": {"name": name, "params": params}, "background": False}


def test_a_background_column_takes_its_share_and_leaves():
    logits = np.array([[2.0, 0.0, 3.0], [0.0, 1.0, -1.0]])
    scores = Scores.from_logits([0, -1], logits, background=True)
    full = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    np.testing.assert_allclose(scores.probabilities, full[:, :2])
    np.testing.assert_array_equal(scores.predictions, [0, 1])
    np.testing.assert_array_equal(scores.unknown_score, [-2.0, -1.0])
    with_msp = Scores.from_logits([0, -1], logits, background=True, score="msp")
    np.testing.assert_allclose(with_msp.unknown_score, 1 - full[:, :2].max(axis=1))


def test_scores_that_learn_ask_for_what_they_learn_from():
    rng = np.random.default_rng(0)
    features, logits = rng.standard_normal((20, 3)), rng.standard_normal((20, 2))
    labels = np.r_[np.zeros(10, int), np.full(10, -2)]
    with pytest.raises(OpenSetError, match="learns from training outputs.*--fit FILE"):
        Scores.from_logits(labels, logits, features=features, score="knn")
    with pytest.raises(OpenSetError, match="needs features"):
        Scores.from_logits(labels, logits, score="knn", fit=Outputs(labels=labels, features=features))
    fit = Outputs(labels=np.array([0, 1] * 10), logits=np.eye(2)[[0, 1] * 10] * 5, features=features)
    for name in ("knn", "mahalanobis"):
        found = Scores.from_logits(labels, logits, features=features, score=name, fit=fit)
        assert np.isfinite(found.unknown_score).all()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"probabilities": [[0.5, 0.4]] * 2, "class_names": ["a"]}, "2 probability columns and 1 class names"),
        ({"probabilities": [[1.5, 0.0]] * 2}, "row 0 does not. For logits use Scores.from_logits"),
        ({"probabilities": [[np.nan, 0.0]] * 2}, "must lie between 0 and 1"),
        ({"probabilities": [[0.5, 0.5], [1.0, 1.0]]}, "Row 1 of 'probabilities' adds up to 2"),
        ({"probabilities": np.ma.array([[0.5, 0.5]] * 2, mask=[[0, 1], [0, 0]])}, "'probabilities' has masked entries"),
        ({"ids": np.ma.array(["a", "b"], mask=[0, 1])}, "'ids' has masked entries: leave those samples out first"),
        ({"probabilities": [[0.5], [0.5, 0.5]]}, "'probabilities' cannot be read as an array"),
        ({"ids": [b"\xff", b"a"]}, "'ids' must be text"),
        ({"groups": [["a"], ["a", "b"]]}, "'groups' cannot be read as an array"),
        ({"meta": [1]}, "'meta' must be a dictionary, got list."),
        ({"probabilities": [0.5, 0.5]}, "one column per known class, got shape (2,)"),
        ({"ids": ["a", "a"]}, "The id 'a' occurs 2 times; ids must be unique."),
        ({"ids": ["a"]}, "differ in length"),
        ({"groups": [["a"], ["b"]]}, "'groups' must have one dimension"),
        ({"class_names": ["a", "a"]}, "Two known classes have the same name"),
        ({"class_names": []}, "out of range"),
    ],
)
def test_what_does_not_fit_together_is_refused(arguments, message):
    with pytest.raises(OpenSetError) as caught:
        Scores([0, -2], [0, 0], [0.1, 0.2], **arguments)
    assert message in str(caught.value)


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
@pytest.mark.parametrize("digits", [None, 4])
def test_probabilities_may_be_rounded_and_may_leave_out_the_background(dtype, digits):
    chances = np.random.default_rng(0).dirichlet(np.full(1000, 0.05), 200).astype(dtype)
    chances = chances if digits is None else chances.round(digits)
    assert chances.astype(np.float64).sum(axis=1).max() > 1
    for given in (chances, chances / 2):
        assert Scores([0] * 200, [0] * 200, np.arange(200), given).n_classes == 1000


def test_an_unknown_score_name_gets_a_suggestion():
    with pytest.raises(OpenSetError, match="no score named 'enrgy'. Did you mean 'energy'"):
        Scores.from_logits([0, -2], [[1.0, 0.0]] * 2, score="enrgy")


def test_the_fingerprint_follows_the_data():
    a, b = Scores([0, -2], [0, 0], [0.1, 0.2]), Scores([0, -2], [0, 0], [0.1, 0.3])
    assert a.fingerprint == Scores([0, -2], [0, 0], [0.1, 0.2]).fingerprint != b.fingerprint


def test_tensors_of_a_training_become_scores():
    torch = pytest.importorskip("torch")
    logits = torch.tensor([[2.0, 0.5], [0.25, 1.0]])
    expected = Scores.from_logits([0, -2], logits.numpy(), features=logits.numpy())
    for given in (logits.bfloat16(), logits.half(), logits.clone().requires_grad_()):
        found = Scores.from_logits(torch.tensor([0, -2]), given, features=given)
        np.testing.assert_array_equal(found.unknown_score, expected.unknown_score)
        np.testing.assert_allclose(found.probabilities, expected.probabilities, atol=1e-3)
    with pytest.raises(OpenSetError, match="'logits' has masked entries"):
        Scores.from_logits([0, -2], np.ma.array(logits.numpy(), mask=[[1, 0], [0, 0]]))


@pytest.mark.parametrize("kind", ["parquet", "npz"])
def test_meta_is_kept_where_json_can_hold_it(tmp_path, kind):
    meta = {"a": np.float32(0.5), "b": np.arange(2), "c": {"d": np.int64(3), "e": np.True_}, "f": ("x", np.nan)}
    Scores([0, -2], [0, 0], [0.1, 0.2], meta=meta).write(tmp_path / f"s.{kind}")
    found = Scores.read(tmp_path / f"s.{kind}").meta
    assert found == {"a": 0.5, "b": [0, 1], "c": {"d": 3, "e": True}, "f": ["x", None]}


@pytest.mark.parametrize("value", [{1, 2}, object(), {(1, 2): 3}, "\ud800", np.array([None, {1}])])
def test_meta_that_json_cannot_hold_is_refused(tmp_path, value):
    for kind in ("parquet", "npz"):
        with pytest.raises(OpenSetError, match="'meta' holds what JSON cannot"):
            Scores([0, -2], [0, 0], [0.1, 0.2], meta={"a": value}).write(tmp_path / f"s.{kind}")
    assert not list(tmp_path.iterdir())


def test_rows_and_classes_can_be_rearranged():
    scores = Scores(
        [0, 1, -2],
        [1, 1, 0],
        np.array([0.1, 0.4, 0.9], dtype=np.float32),
        [[0.2, 0.8], [0.3, 0.7], [0.6, 0.4]],
        ["cat", "dog"],
        ids=["a", "b", "c"],
        groups=["", "", "far"],
        open_classes=["", "", "owl"],
        meta={"score": "msp"},
    )
    taken = scores.take([2, 0])
    assert (taken.labels.tolist(), taken.predictions.tolist()) == ([-2, 0], [0, 1])
    assert (taken.ids.tolist(), taken.groups.tolist()) == (["c", "a"], ["far", ""])
    assert taken.open_classes.tolist() == ["owl", ""]
    assert taken.probabilities.tolist() == [[0.6, 0.4], [0.2, 0.8]]
    assert taken.unknown_score.dtype == np.float32
    assert (taken.class_names, taken.meta) == (("cat", "dog"), {"score": "msp"})
    wider = scores.renumbered(["owl", "dog", "cat"])
    assert (wider.labels.tolist(), wider.predictions.tolist()) == ([2, 1, -2], [1, 1, 2])
    assert wider.probabilities.tolist() == [[0, 0.8, 0.2], [0, 0.7, 0.3], [0, 0.4, 0.6]]
    assert (wider.n_classes, wider.ids.tolist()) == (3, ["a", "b", "c"])
    for names in (["dog"], ["dog", "owl"]):
        with pytest.raises(OpenSetError, match="can be numbered by name"):
            scores.renumbered(names)
    unnamed = Scores([0, -2], [0, 0], [0.1, 0.2])
    assert unnamed.among(4).n_classes == 4
    assert unnamed.among(1) is unnamed
    with pytest.raises(OpenSetError, match="out of range"):
        Scores([2, -2], [0, 0], [0.1, 0.2]).among(2)
