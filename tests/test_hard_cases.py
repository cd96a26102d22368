"""Mistakes and corner cases that once went wrong."""

import zipfile
from contextlib import suppress
from datetime import date

import numpy as np
import polars as pl
import pytest

from openset import Scores, compare, delong, evaluate
from openset._core.resampling import draw_weights
from openset.errors import OpenSetError
from openset.metrics import (
    auroc,
    known_precision,
    open_auc,
    open_set_confusion_matrix,
    open_set_f_score,
)
from openset.operating import Threshold


def test_small_classes_are_drawn_in_every_resample():
    labels = np.r_[np.repeat(np.arange(50), 2), np.full(100, -2)]
    scores = Scores(labels, np.maximum(labels, 0), np.r_[np.zeros(100), np.ones(100)])
    found = evaluate(scores, n_resamples=50).find("closed_set_accuracy", balanced=True)
    assert (found.low, found.value, found.high) == (pytest.approx(0.05**0.01), 1.0, 1.0)


def test_small_groups_are_drawn_in_every_resample():
    groups = ["many"] * 19 + ["lonely"]
    scores = Scores([0] * 20 + [-2] * 20, [0] * 40, np.arange(40.0), groups=[""] * 20 + groups)
    weights = draw_weights(scores, 100, np.random.default_rng(0))
    assert (weights[:, -1] == 1).all()
    evaluate(scores, n_resamples=20)
    compare(scores, scores, "ccr_at_fpr", fpr=0.1, against="lonely", n_resamples=20)


@pytest.mark.parametrize("n_classes", [32_765, 32_766, 32_767, 32_768, 70_000])
def test_any_number_of_classes(n_classes):
    scores = Scores([0, n_classes - 1, -2], [0, 0, 1], [0.1, 0.2, 0.3])
    assert evaluate(scores, n_resamples=2).find("open_auc").value == 0.5


@pytest.mark.parametrize("column", ["Label", "Prediction"])
def test_ids_in_place_of_classes_are_refused(tmp_path, column):
    labels, predictions = ([0, 9_999_999, -2], [0, 0, 1]) if column == "Label" else ([0, 0, -2], [0, 9_999_999, 1])
    message = f"{column} 9999999 in {{}} would mean 10000000 classes for 3 samples: .* give the classes names"
    with pytest.raises(OpenSetError, match=message.format("row 1")):
        Scores(labels, predictions, [0.1, 0.2, 0.3])
    with pytest.raises(OpenSetError, match=message.format("row 1")):
        open_set_f_score(labels, predictions, [0.1, 0.2, 0.3])
    rows = [
        f"{label},{prediction},0.{row}" for row, (label, prediction) in enumerate(zip(labels, predictions, strict=True))
    ]
    with pytest.raises(OpenSetError, match=message.format("line 3")):
        read(tmp_path, HEAD + "\n".join(rows) + "\n")


def test_many_classes_are_fine_where_samples_or_names_bear_them_out(tmp_path):
    assert Scores([0, 999, -2], [0, 0, 1], [0.1, 0.2, 0.3]).n_classes == 1000
    chances = np.zeros((3, 150_000), dtype=np.float32)
    assert Scores([0, 149_999, -2], [0, 0, 1], [0.1, 0.2, 0.3], chances).n_classes == 150_000
    names = [str(number) for number in range(150_000)]
    assert Scores([0, 149_999, -2], [0, 0, 1], [0.1, 0.2, 0.3], class_names=names).n_classes == 150_000
    assert open_set_f_score([0, 149_999, -2], [0, 0, 1], [0.1, 0.2, 0.3], n_classes=150_000) > 0
    many = np.arange(2000) * 90
    assert Scores(many, many, many).n_classes == many[-1] + 1


@pytest.mark.parametrize(("dtype", "limit"), [(np.float32, 2.0**64), (np.float64, 2.0**512)])
def test_scores_at_the_edge_of_the_packed_sort(dtype, limit):
    edge = dtype(limit)
    for _ in range(4):
        score = np.array([1, edge, edge, 2], dtype=dtype)
        found = evaluate(Scores([0, 1, -2, -2], [0] * 4, score), intervals=False).find("open_auc").value
        assert open_auc([0, 1, -2, -2], [0] * 4, score) == found == 0.5
        edge = np.nextafter(edge, dtype(0))


def test_a_threshold_means_the_same_to_everybody():
    score = np.array([0.1, 0.3, 0.3, 0.9], dtype=np.float32)
    labels, predictions = [0, 0, -2, -2], [0] * 4
    applied = Threshold(0.3, "", {}, 4).apply(Scores(labels, predictions, score))
    rates = {"acceptance": 1.0, "ccr": 1.0, "accuracy_on_accepted": 1.0, "fpr": 0.5, "operational_accuracy": 0.75}
    assert applied == rates
    assert open_set_f_score(labels, predictions, score, average="micro", threshold=0.3) == pytest.approx(0.8)
    assert known_precision(labels, predictions, score, threshold=0.3, unknown_share=0.5) == pytest.approx(2 / 3)


def test_one_sample_of_a_kind_makes_nothing_certain():
    one = Scores([0, -2], [0, 0], [0.1, 0.2])
    tie = Scores([0, -2], [0, 0], [0.1, 0.1])
    found = compare(one, tie)
    assert (found.p_value, found.difference.low, found.difference.high) == (1.0, -1.0, 1.0)
    many = Scores([0] * 50 + [-2], [0] * 51, np.r_[np.arange(50.0), 44.5])
    assert (delong(many).low, delong(many).high) == (0.0, 1.0)
    perfect, inverted = (Scores([0] * 3 + [-2] * 2, [0] * 5, sign * np.arange(5.0)) for sign in (1, -1))
    assert compare(perfect, inverted).p_value == 0.5


def test_constant_scores_have_no_spread():
    found = delong(Scores([0, 0, -2, -2], [0] * 4, [1.0] * 4), "auroc")
    assert (found.low, found.value, found.high) == (0.5, 0.5, 0.5)


def test_groups_must_describe_every_sample():
    for groups in (["a"], ["a", "a", "a"]):
        for call in (
            lambda g=groups: open_auc([0, -2], [0, 0], [1, 2], groups=g, against="a"),
            lambda g=groups: auroc([0, -2], [1, 2], groups=g, against="a"),
            lambda g=groups: open_set_confusion_matrix([0, -2], [0, 0], [1, 2], threshold=1, groups=g, against="a"),
        ):
            with pytest.raises(OpenSetError, match="differ in length"):
                call()
    with pytest.raises(OpenSetError, match="not a number"):
        open_set_confusion_matrix([0, -2], [0, 0], [1, 2], threshold=float("nan"))
    with pytest.raises(OpenSetError, match="A group cannot be called 'unknown'"):
        Scores([0, -2], [0, 0], [1, 2], groups=["", "unknown"])


def test_models_that_number_their_classes_differently_are_compared_by_name():
    labels, score = [0, 1, -2, -2], [0.1, 0.2, 0.3, 0.4]
    first = Scores(labels, [0, 1, 0, 0], score, class_names=["cat", "dog"])
    second = Scores([1, 2, -2, -2], [1, 2, 0, 0], score, class_names=["ant", "cat", "dog"])
    assert compare(first, second).difference.value == 0


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda s: evaluate(s, level=95), "Did you mean 0.95"),
        (lambda s: evaluate(s, n_resamples=0), "at least 2"),
        (lambda s: evaluate(s, against=[]), "'against' is empty"),
    ],
)
def test_wrong_options_of_evaluate(call, message):
    with pytest.raises(OpenSetError, match=message):
        call(Scores([0, -2], [0, 0], [1, 2]))
    assert evaluate(Scores([0, -2], [0, 0], [1, 2]), against="unknown", intervals=False).results[0].against == "unknown"


def read(tmp_path, text, name="s.csv"):
    (tmp_path / name).write_text(text, encoding="utf-8")
    return Scores.read(tmp_path / name)


HEAD = "label,prediction,unknown_score\n"


@pytest.mark.parametrize("tail", ["\n", "\n\n\n", ",,\n", " , ,\n,,\n"])
def test_empty_rows_of_a_spreadsheet_are_passed_over(tmp_path, tail):
    assert len(read(tmp_path, HEAD + "cat,cat,1\n\nunknown,cat,2\n" + tail)) == 2
    with pytest.raises(OpenSetError, match="unknown_score is 'x' in line 4"):
        read(tmp_path, HEAD + "cat,cat,1\n,,\nunknown,cat,x\n" + tail)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (HEAD + "cat,0,1\nunknown,1,2\n", "prediction is 0 in line 2, but classes have names here"),
        (HEAD + "cat,cat,1\n0,cat,2\nunknown,cat,3\n", "label is 0 in line 3, but classes have names here"),
        (HEAD + "0,0,1\nnan,0,2\n", "label is missing in line 3"),
        ("label,label,prediction,unknown_score\n0,0,0,1\n", "has the column 'label' twice"),
        ("Label,label,prediction,unknown_score\n0,0,0,1\n", "has the column 'label' twice"),
        (HEAD + "5000000000,0,1\n-2,0,2\n", "too large"),
        (HEAD + "99999999999999999999,0,1\n-2,0,2\n", "too large"),
        (HEAD + "9" * 4000 + ",0,1\n-2,0,2\n", r"label is '9{50}\.\.\. \(4,000 characters\)' in line 2, .* too large"),
        (HEAD + "9" * 5000 + ",0,1\n-2,0,2\n", r"'9{50}\.\.\. \(5,000 characters\)' in line 2, which is neither"),
        (HEAD + "0,0," + "x" * 5000 + "\n", r"unknown_score is 'x{50}\.\.\. \(5,000 characters\)' in line 2; it must"),
        ("\n\n" + HEAD + "0,0,1\n-2,0,x\n", "in line 5; "),
        ("sep=,\n" + HEAD + "0,0,1\n\n-2,0,x\n", "in line 5; "),
        ("id," + HEAD + '"a\nb",0,0,1\n"c\n\nd",0,0,y\ne,-2,0,x\n', "'y' in line 4; "),
        ('"id\n",' + HEAD + '"a\nb",0,0,1\n\nc,0,0,y\n', "'y' in line 6; "),
        (HEAD.replace("\n", "\r") + "0,0,1\r-2,0,x\r", "in line 3; "),
        ("label,logit_cat,logit_unknown\ncat,1,2\n", "cannot be a known class"),
    ],
)
def test_broken_tables_are_explained(tmp_path, text, message):
    with pytest.raises(OpenSetError, match=message) as caught:
        read(tmp_path, text)
    assert str(caught.value).count("s.csv") == 1


def test_excels_separator_line_and_spaces_in_names(tmp_path):
    assert len(read(tmp_path, "sep=;\nLabel;Prediction;Unknown Score\ncat;cat;0,5\nunknown;cat;0,7\n")) == 2


def test_lines_may_end_as_old_programs_end_them(tmp_path):
    for start in ("", "\ufeff", "sep=,\n"):
        text = start + 'id,label,prediction,unknown_score\na,0,0,1\n"b",-2,0,2\n'
        (tmp_path / "s.csv").write_bytes(text.replace("\n", "\r").encode())
        assert Scores.read(tmp_path / "s.csv").unknown_score.tolist() == [1, 2]


def test_columns_of_other_types(tmp_path):
    path = tmp_path / "s.parquet"
    good = {"label": ["a", "unknown"], "prediction": ["a", "a"], "unknown_score": [0.1, 0.2]}
    pl.DataFrame(good, schema_overrides={"label": pl.Categorical, "prediction": pl.Categorical}).write_parquet(path)
    assert Scores.read(path).class_names == ("a",)
    for name, column in {
        "label": [[0], [-2]],
        "prediction": [True, False],
        "unknown_score": [date(2020, 1, 1)] * 2,
        "id": [{"a": 1}, {"a": 2}],
    }.items():
        table = pl.DataFrame({"label": [0, -2], "prediction": [0, 0], "unknown_score": [0.1, 0.2]})
        table.with_columns(pl.Series(name, column)).write_parquet(path)
        with pytest.raises(OpenSetError, match=f"column '{name}' holds"):
            Scores.read(path)


def test_broken_archives_and_odd_arrays(tmp_path):
    rng = np.random.default_rng(0)
    np.savez_compressed(tmp_path / "a.npz", labels=[0, -2], predictions=[0, 0], unknown_score=[0.1, 0.2])
    whole = bytearray((tmp_path / "a.npz").read_bytes())
    for _ in range(60):
        broken = whole.copy()
        broken[rng.integers(len(broken))] ^= 1 << rng.integers(8)
        (tmp_path / "b.npz").write_bytes(broken)
        with suppress(OpenSetError):  # anything else would be a defect
            Scores.read(tmp_path / "b.npz")
    (tmp_path / "t.npz").write_text("plain text")
    with pytest.raises(OpenSetError, match="is not an NPZ file"):
        Scores.read(tmp_path / "t.npz")
    np.savez(tmp_path / "c.npz", labels=[0, -2], logits=[["a", "b"], ["c", "d"]])
    with pytest.raises(OpenSetError, match="'logits' must be numbers"):
        Scores.read(tmp_path / "c.npz")
    np.savez(tmp_path / "d.npz", labels=np.array([0, 2**63], dtype=np.uint64), logits=[[1.0], [2.0]])
    with pytest.raises(OpenSetError, match="too large for a class"):
        Scores.read(tmp_path / "d.npz")


@pytest.mark.parametrize(("dtype", "shape"), [("<f8", "(1000000000000,)"), ("<f8", f"({2**70},)"), ("V0", "(True,)")])
def test_an_archive_whose_header_asks_for_the_impossible_is_damaged(tmp_path, dtype, shape):
    header = f"{{'descr': '{dtype}', 'fortran_order': False, 'shape': {shape}, }}\n"
    with zipfile.ZipFile(tmp_path / "a.npz", "w") as archive:
        archive.writestr("labels.npy", b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header.encode())
    with pytest.raises(OpenSetError, match=r"a\.npz .*(damaged|cut off)"):
        Scores.read(tmp_path / "a.npz")


def test_a_number_of_thousands_of_digits_is_damage(tmp_path):
    digits = "1" * 5000
    (tmp_path / "a.json").write_text(f'{{"schema": {digits}}}')
    with pytest.raises(OpenSetError, match=r"a\.json is damaged: it holds a number of thousands of digits"):
        Threshold.read(tmp_path / "a.json")
    table = pl.DataFrame({"label": [0, -2], "prediction": [0, 0], "unknown_score": [0.1, 0.2]})
    table.write_parquet(tmp_path / "a.parquet", metadata={"openset": f'{{"meta": {{"seed": {digits}}}}}'})
    with pytest.raises(OpenSetError, match="its 'openset' entry is damaged: it holds a number of thousands of digits"):
        Scores.read(tmp_path / "a.parquet")


def test_training_outputs_of_another_network(tmp_path):
    np.savez(tmp_path / "test.npz", labels=[0, -2], logits=np.eye(2), features=np.eye(2))
    np.savez(tmp_path / "train.npz", labels=[0, 1, 0, 1], logits=np.eye(4)[:, :2], features=np.eye(4))
    np.savez(tmp_path / "bare.npz", labels=[0, 1])
    for score in ("knn", "mahalanobis"):
        with pytest.raises(OpenSetError, match="another network"):
            Scores.read(tmp_path / "test.npz", score=score, fit=tmp_path / "train.npz")
    with pytest.raises(OpenSetError, match="bare.npz has none"):
        Scores.read(tmp_path / "test.npz", score="knn", fit=tmp_path / "bare.npz")


def test_every_metric_compares_in_the_precision_of_the_scores():
    score = np.float32([0.1, 0.2, 0.1])
    found = open_set_confusion_matrix([0, 0, -2], [0] * 3, score, threshold=np.float64(0.1))
    assert found.counts.tolist() == [[1, 1], [1, 0]]
    assert Threshold(0.1, "by hand", {}, 3).apply(Scores([0, 0, -2], [0] * 3, score))["acceptance"] == 0.5


def test_whole_numbers_that_floats_cannot_hold_are_refused():
    with pytest.raises(OpenSetError, match=r"'unknown_score' holds whole numbers beyond 2\*\*53"):
        auroc([0, -2], [2**60, 2**60 + 1])
    assert auroc([0, -2], [2**53 - 1, 2**53]) == 1.0


def test_more_classes_than_small_integers_count():
    labels = np.array([32767, 0, -2], dtype=np.int16)
    assert open_set_f_score(labels, labels.clip(0), [0.1, 0.2, 0.3]) == pytest.approx(2 / 32768)
