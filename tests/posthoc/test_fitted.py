"""Scores that are fitted once, kept in files, and applied to one sample or to many."""

import json
import subprocess
import sys
import time

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file

from openset.errors import OpenSetError
from openset.posthoc import SCORES, FittedScore, Outputs, fit, load, score
from openset.scores import Scores
from score_samples import make_outputs


def one(outputs, row):
    return outputs.rows(np.array([row]))


@pytest.mark.parametrize("name", list(SCORES))
def test_saved_loaded_and_sample_by_sample_it_says_the_same(name, training, tested, tmp_path):
    fitted = fit(name, training)
    expected = score(tested, name, training)
    np.testing.assert_array_equal(fitted.score(tested), expected)
    np.testing.assert_array_equal(score(tested, name, fitted), expected)
    fitted.save(tmp_path / "f.safetensors")
    again = load(tmp_path / "f.safetensors")
    assert (again.spec, again.fingerprint, again.n_features) == (fitted.spec, fitted.fingerprint, fitted.n_features)
    np.testing.assert_array_equal(again.score(tested), expected)
    for row in (0, 17):  # other sums of blocks round otherwise
        np.testing.assert_allclose(again.score(one(tested, row)), expected[[row]], rtol=1e-9, atol=1e-12)


def test_a_fit_is_made_once_and_kept_with_the_training_outputs(training, tested):
    assert fit("knn(k=3)", training) is fit("knn(k=3)", training)
    assert fit("knn(k=3)", training) is not fit("knn(k=4)", training)


def test_the_fingerprint_follows_what_it_was_fitted_on_and_nothing_else(training):
    print_of = fit("knn", training).fingerprint
    single = Outputs(features=training.features.astype(np.float32), labels=training.labels.astype(np.int16))
    double = Outputs(features=single.features.astype(np.float64), labels=training.labels)
    assert fit("knn", single).fingerprint == fit("knn", double).fingerprint  # as stored and as read
    assert fit("knn", double).fingerprint != print_of
    other = Outputs(-training.logits, training.features, labels=training.labels)
    assert fit("knn", other).fingerprint == print_of  # it does not use the logits
    moved = training.features.copy()
    moved[3, 1] += 1e-9
    assert fit("knn", Outputs(features=moved, labels=training.labels)).fingerprint != print_of
    assert fit("energy").fingerprint is None


def test_scores_say_what_they_are_and_what_they_were_fitted_on(training, tested):
    made = Scores.from_logits(
        tested.labels, tested.logits, features=tested.features, score="knn(k=10)", fit=training, head=tested.head
    )
    assert made.meta["score"] == {"name": "knn", "params": {"k": 10}}
    assert made.meta["fit"] == fit("knn(k=10)", training).fingerprint
    again = Scores.from_logits(
        tested.labels, tested.logits, features=tested.features, score="knn(k=10)", fit=fit("knn(k=10)", training)
    )
    assert again.meta == made.meta
    np.testing.assert_array_equal(again.unknown_score, made.unknown_score)
    assert "fit" not in Scores.from_logits(tested.labels, tested.logits, fit=training).meta


def test_the_head_may_stand_in_either_file(training, tested):
    headless = Outputs(training.logits, training.features, labels=training.labels)
    bare = Outputs(tested.logits, tested.features)
    for name in ("vim", "scale", "react", "costarr"):
        expected = score(tested, name, training)
        np.testing.assert_array_equal(score(tested, name, headless), expected)
        np.testing.assert_array_equal(score(bare, name, training), expected)
    with pytest.raises(OpenSetError, match="'scale' needs the last layer, and the file lacks it"):
        score(bare, "scale", headless)


def test_the_head_of_the_same_network_is_fitted_once(training, tested):
    headless = Outputs(training.logits, training.features, labels=training.labels)
    fits = []
    for _ in range(2):  # a network that is asked again gives new arrays with the same numbers
        head = tuple(one.copy() for one in tested.head)
        outputs = Outputs(tested.logits, tested.features, head=head)
        fits.append(SCORES["vim"].fitted_for(outputs, headless))
    assert fits[0] is fits[1]
    assert SCORES["knn"].fitted_for(outputs, headless) is fit("knn", headless)


@pytest.mark.parametrize("name", ["knn(k=3)", "mahalanobis"])
def test_numbers_that_overflow_on_the_way_are_refused(name, training, tested):
    def spoilt(outputs):
        features = outputs.features.copy()
        features[3, 0] = 1e300
        return Outputs(outputs.logits, features, head=outputs.head, labels=outputs.labels)

    for given, fitted in ((tested, spoilt(training)), (spoilt(tested), training)):
        with pytest.raises(OpenSetError, match="too large for the score|is (nan|inf) in row|no number"):
            score(given, name, fitted)


def test_another_fit_than_is_asked_for(training, tested):
    with pytest.raises(OpenSetError, match=r"The fit is of the score knn\(k=3\), and knn\(k=4\) is asked for"):
        score(tested, "knn(k=4)", fit("knn(k=3)", training))


def test_outputs_of_another_network(training):
    narrow = make_outputs(1, n_features=7)
    with pytest.raises(
        OpenSetError, match="has features of 7 columns and the training outputs had 20: another network"
    ):
        fit("knn", training).score(narrow)
    with pytest.raises(OpenSetError, match="has logits of 3 columns and the training outputs had 4: another network"):
        fit("she", training).score(make_outputs(1, n_classes=3))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda about, arrays: about.update(kind="something"), "does not hold a fitted score"),
        (lambda about, arrays: about.update(schema=9), "has schema 9 and this openset reads 1"),
        (lambda about, arrays: about["score"].update(name="kmn"), "no score named 'kmn'. Did you mean 'knn'?"),
        (lambda about, arrays: about["score"]["params"].update(k=0), "'k' must be at least 1"),
        (lambda about, arrays: about.pop("score"), "is not a readable fitted score"),
        (lambda about, arrays: about.update(score=3), "is not a readable fitted score"),
        (lambda about, arrays: about.update(n_features="many"), "numbers of classes or features are wrong"),
        (lambda about, arrays: about.update(n_features=3), "its array 'bank' does not fit the score 'knn'"),
        (lambda about, arrays: arrays.pop("bank"), "'bank' is missing or too much"),
        (lambda about, arrays: arrays.update(more=np.ones(2)), "'more' is missing or too much"),
        (lambda about, arrays: arrays.update(bank=np.ones((2, 20), dtype=np.float32)), "'bank' does not fit"),
        (lambda about, arrays: arrays.update(bank=np.full((2, 20), np.nan)), "'bank' does not fit"),
        (lambda about, arrays: arrays.update(bank=np.ones((0, 20))), "'bank' does not fit"),
    ],
)
def test_damaged_and_foreign_files_are_refused(change, message, training, tmp_path):
    file = tmp_path / "f.safetensors"
    fit("knn(k=2)", training).save(file)
    arrays = load_file(file)
    from safetensors import safe_open

    with safe_open(file, "np") as opened:
        about = json.loads(opened.metadata()["openset"])
    change(about, arrays)
    save_file(arrays, file, {"openset": json.dumps(about)})
    with pytest.raises(OpenSetError, match=message) as caught:
        load(file)
    assert str(file) in str(caught.value) or "score named" in message or "'k' must" in message


def test_files_that_are_no_safetensors(training, tmp_path):
    (tmp_path / "f.safetensors").write_bytes(b"\x80\x04K\x01.")  # a pickle
    with pytest.raises(OpenSetError, match="f.safetensors is not a readable safetensors file"):
        load(tmp_path / "f.safetensors")
    with pytest.raises(OpenSetError, match="ends in .safetensors"):
        fit("knn", training).save(tmp_path / "f.npz")
    with pytest.raises(OpenSetError, match="There is no file"):
        FittedScore.load(tmp_path / "g.safetensors")


def test_without_safetensors_it_says_what_to_install(training, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "safetensors.numpy", None)
    with pytest.raises(OpenSetError, match=r"pip install 'openset\[torch\]'"):
        fit("knn", training).save(tmp_path / "f.safetensors")


def test_a_saved_fit_serves_the_command_line(training, tested, tmp_path):
    labels = np.where(np.arange(len(tested.labels)) < 20, tested.labels, -2)
    np.savez(tmp_path / "test.npz", labels=labels, logits=tested.logits, features=tested.features)
    fit("knn(k=3)", training).save(tmp_path / "knn.safetensors")
    found = Scores.read(tmp_path / "test.npz", fit=tmp_path / "knn.safetensors")
    np.testing.assert_array_equal(found.unknown_score, score(tested, "knn(k=3)", training))
    assert found.meta["score"] == {"name": "knn", "params": {"k": 3}}


def test_importing_scores_loads_neither_scipy_nor_torch():
    code = "import openset.posthoc, sys; print(sorted({'torch', 'scipy', 'sklearn', 'safetensors'} & set(sys.modules)))"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "[]"


def test_one_sample_takes_about_a_millisecond():
    """Against a fit on 2,000 samples; the bound leaves room for a busy machine (fitting anew took 340)."""
    training = make_outputs(0, n=2000, n_features=64)
    sample = make_outputs(1, n=1, n_features=64)
    for name in SCORES:
        fitted = fit(name, training)
        times = []
        for _ in range(20):
            fresh = Outputs(sample.logits, sample.features, head=sample.head)
            start = time.perf_counter()
            fitted.score(fresh)
            times.append(time.perf_counter() - start)
        assert min(times) < 0.005, name


def test_one_flipped_bit_in_a_saved_fit_is_noticed(training, tmp_path):
    path = tmp_path / "f.safetensors"
    fit("knn(k=2)", training).save(path)
    whole = path.read_bytes()
    for place in range(len(whole) - 40, len(whole)):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :])
        with pytest.raises(OpenSetError, match=r"f\.safetensors is damaged: its content does not match its checksum"):
            load(path)
