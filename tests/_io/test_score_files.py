import json
import os
import stat
import subprocess
import sys
import threading
import zipfile

import numpy as np
import polars as pl
import pytest

from openset import Scores, evaluate
from openset._io.json_files import write_json
from openset._io.npz import write_npz
from openset.errors import OpenSetError
from openset.present.page.page import packed_json


def full_scores(dtype=np.float64):
    return Scores(
        [0, 1, -1, -2],
        [0, 0, 1, 1],
        np.array([0.1, 0.4, 0.9, 1e12], dtype=dtype),
        np.array([[0.9, 0.1], [0.6, 0.4], [0.5, 0.5], [0.2, 0.8]], dtype=dtype),
        ["cat", "<b>dog</b>"],
        ids=["a", "b", "c", "ü"],
        groups=["", "", "near", "far"],
        open_classes=["", "", "fox", "狐"],
        meta={"seed": 3},
    )


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("kind", ["parquet", "npz", "csv"])
def test_what_is_written_is_read(tmp_path, kind, dtype):
    scores, path = full_scores(dtype), tmp_path / "new" / f"scores.{kind}"
    scores.write(path)
    found = Scores.read(path)
    for name in ("labels", "predictions", "ids", "groups", "open_classes"):
        np.testing.assert_array_equal(getattr(found, name), getattr(scores, name))
    np.testing.assert_array_equal(found.probabilities, scores.probabilities)
    np.testing.assert_array_equal(found.unknown_score, scores.unknown_score)
    if kind != "csv":
        assert (found.class_names, found.meta) == (scores.class_names, scores.meta)
        assert found.unknown_score.dtype == dtype
    assert [file.name for file in path.parent.iterdir()] == [path.name]


def csv(tmp_path, text, name="scores.csv", encoding="utf-8"):
    path = tmp_path / name
    path.write_bytes(text.encode(encoding))
    return path


def test_a_spreadsheets_csv_is_read(tmp_path):
    text = "Label; Prediction ;Unknown_Score\ncat;cat;0,5\nunknown;dog;1,5\nNegative;dog;-2\ndog;dog;1e-3\n"
    scores = Scores.read(csv(tmp_path, text, encoding="utf-8-sig"))
    assert scores.class_names == ("cat", "dog")
    assert scores.labels.tolist() == [0, -2, -1, 1]
    assert scores.predictions.tolist() == [0, 1, 1, 1]
    assert scores.unknown_score.tolist() == [0.5, 1.5, -2.0, 0.001]


def test_numbers_may_look_like_a_spreadsheets(tmp_path):
    scores = Scores.read(csv(tmp_path, 'label,prediction,unknown_score\n"0","1.0", 0.5 \nunknown,0,7\n1,1,-3\n'))
    assert scores.labels.tolist() == [0, -2, 1]
    assert scores.predictions.tolist() == [1, 0, 1]
    assert scores.unknown_score.tolist() == [0.5, 7.0, -3.0]


@pytest.mark.parametrize("separator", [";", "\t"])
@pytest.mark.parametrize(
    "cells", [("0,5", "1,5", "-2"), ("1,234", "0,7", "12"), ("1,234", "2,000", "10,500"), (",5", "1,", "1e3")]
)
def test_a_decimal_comma_is_read_where_columns_are_not_separated_by_commas(tmp_path, separator, cells):
    rows = ["label,prediction,unknown_score".replace(",", separator), *(f"0{separator}0{separator}{c}" for c in cells)]
    found = Scores.read(csv(tmp_path, "\n".join(rows)))
    assert found.unknown_score.tolist() == [float(cell.replace(",", ".")) for cell in cells]


@pytest.mark.parametrize(
    ("separator", "cells", "bad"),
    [
        (",", ("1,000", "999", "2,000"), "'1,000' in line 2"),
        (",", ("0.5", "0,7", "1"), "'0,7' in line 3"),
        (";", ("1.000,5", "999", "2"), "'1.000,5' in line 2"),
        (";", ("0.5", "0,7", "1"), "'0,7' in line 3"),
        (";", ("1,000", "999", "2,000"), "'1,000' in line 2"),
        (";", ("0,5", "1,000,000", "2"), "'1,000,000' in line 3"),
        (";", ("0,5", "high", "2"), "'high' in line 3"),
    ],
)
def test_a_comma_that_may_separate_thousands_is_refused(tmp_path, separator, cells, bad):
    rows = [
        "label,prediction,unknown_score".replace(",", separator),
        *(f'0{separator}0{separator}"{c}"' for c in cells),
    ]
    with pytest.raises(OpenSetError, match=f"unknown_score is {bad}; "):
        Scores.read(csv(tmp_path, "\n".join(rows)))


def test_texts_of_a_table_without_separator_have_no_decimal_commas(tmp_path):
    pl.DataFrame({"label": [0, -2], "prediction": [0, 0], "unknown_score": ["0.5", "1,000"]}).write_parquet(
        tmp_path / "a.parquet"
    )
    with pytest.raises(OpenSetError, match="unknown_score is '1,000' in row 1; "):
        Scores.read(tmp_path / "a.parquet")


def test_columns_named_by_class_give_the_order_of_classes(tmp_path):
    text = "label,logit_dog,logit_cat\ncat,0.0,2.0\nunknown,0.1,0.2\ndog,3.0,1.0\n"
    scores = Scores.read(csv(tmp_path, text), score="energy")
    assert scores.class_names == ("dog", "cat")
    assert scores.labels.tolist() == [1, -2, 0]
    assert scores.predictions.tolist() == [1, 1, 0]


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_classes_keep_the_names_that_their_columns_give_them(tmp_path, kind):
    columns = {
        " Label": ["Cat", "polar bear", "Unknown", "cat"],
        "PREDICTION ": ["Cat", "polar bear", "polar bear", "Cat"],
        "Unknown Score": [0.1, 0.2, 0.3, 0.4],
        "Prob_Cat": [0.8, 0.1, 0.2, 0.5],
        "prob_polar bear": [0.1, 0.8, 0.4, 0.2],
        "PROB cat ": [0.1, 0.1, 0.4, 0.3],
        "Open Class": ["", "", "Fox", ""],
        "Remark": ["a"] * 4,
        "remark": ["b"] * 4,
    }
    table, path = pl.DataFrame(columns), tmp_path / f"s.{kind}"
    table.write_csv(path) if kind == "csv" else table.write_parquet(path)
    scores = Scores.read(path)
    assert scores.class_names == ("Cat", "polar bear", "cat")
    assert scores.labels.tolist() == [0, 1, -2, 2]
    assert scores.probabilities[0].tolist() == [0.8, 0.1, 0.1]
    assert scores.open_classes[2] == "Fox"


def test_columns_named_as_the_error_says_are_read(tmp_path):
    text = "label,prediction,unknown_score,{},{}\nCat,Cat,1,.7,.3\npolar bear,Cat,2,.6,.4\nunknown,Cat,3,.5,.5\n"
    with pytest.raises(OpenSetError, match="name them prob_Cat and so on"):
        Scores.read(csv(tmp_path, text.format("prob_0", "prob_1")))
    named = Scores.read(csv(tmp_path, text.format("prob_Cat", "prob_polar bear")))
    assert named.class_names == ("Cat", "polar bear")


def test_logits_become_scores(tmp_path):
    logits = np.random.default_rng(0).standard_normal((6, 3)).astype(np.float32)
    labels = np.array([0, 1, 2, -1, -2, -2])
    expected = Scores.from_logits(labels, logits, score="msp")
    np.savez(tmp_path / "ours.npz", labels=labels, logits=logits)
    np.savez(tmp_path / "theirs.npz", gt=labels, logits=logits, scores=softmax32(logits), features=logits)
    pl.DataFrame({"label": labels, **{f"logit_{i}": logits[:, i] for i in range(3)}}).write_parquet(
        tmp_path / "l.parquet"
    )
    for name in ("ours.npz", "theirs.npz", "l.parquet"):
        found = Scores.read(tmp_path / name, score="msp")
        np.testing.assert_allclose(found.unknown_score, expected.unknown_score)
        np.testing.assert_array_equal(found.predictions, expected.predictions)
    assert Scores.read(tmp_path / "ours.npz").meta["score"] == {"name": "max_logit", "params": {}}
    cut = Scores.read(tmp_path / "theirs.npz", background=True, score="msp") if labels.max() < 2 else None
    assert cut is None


def softmax32(logits):
    e = np.exp(logits)
    return e / e.sum(axis=1, keepdims=True)


def test_background_and_fit_reach_the_score(tmp_path):
    rng = np.random.default_rng(0)
    train, labels = rng.standard_normal((60, 3)), rng.integers(0, 2, 60)
    np.savez(tmp_path / "train.npz", labels=labels, logits=train, features=train)
    np.savez(tmp_path / "test.npz", labels=np.array([0, 1, -2]), logits=train[:3], features=train[:3])
    found = Scores.read(tmp_path / "test.npz", score="knn", background=True, fit=tmp_path / "train.npz")
    assert found.n_classes == 2
    assert found.meta["score"] == {"name": "knn", "params": {"k": 50}}
    assert found.meta["background"] is True
    assert len(found.meta["fit"]) == 16


@pytest.mark.parametrize("kind", ["parquet", "npz", "csv"])
@pytest.mark.parametrize("made", ["scores", "logits"])
def test_scores_know_of_the_background_class_however_they_are_read(tmp_path, kind, made):
    # Two known classes; the probabilities of the negative are .05 and .1, so that gamma_minus is .9 and not 1.4.
    labels, logits = np.array([0, 1, -1]), np.log([[0.8, 0.1, 0.1], [0.1, 0.7, 0.2], [0.05, 0.1, 0.85]])
    path = tmp_path / f"s.{kind}"
    if made == "scores":
        scores = Scores.from_logits(labels, logits, background=True)
        Scores(labels, scores.predictions, scores.unknown_score, scores.probabilities, meta={"seed": 3}).write(path)
    elif kind == "npz":
        np.savez(path, labels=labels, logits=logits)
    else:
        table = pl.DataFrame({"label": labels, **{f"logit_{i}": logits[:, i] for i in range(3)}})
        table.write_csv(path) if kind == "csv" else table.write_parquet(path)
    found = Scores.read(path, background=True)
    assert found.meta["background"] is True
    assert found.meta.get("seed") == (3 if made == "scores" and kind != "csv" else None)
    gamma = evaluate(found, intervals=False).find("confidence", part="gamma_minus")
    assert gamma.value == pytest.approx(0.9)


def test_more_than_ten_columns_stay_in_order(tmp_path):
    columns = {f"prob_{i}": [float(i == 11)] * 2 for i in reversed(range(12))}
    pl.DataFrame({"label": [0, -2], "prediction": [11, 11], "unknown_score": [0.1, 0.2], **columns}).write_parquet(
        tmp_path / "p.parquet"
    )
    assert Scores.read(tmp_path / "p.parquet").probabilities.argmax(axis=1).tolist() == [11, 11]


NO_LABELS = (
    "there is no column 'label', the class of each sample (in NPZ files: 'labels' or 'gt'). Needed are label, pred"
)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("label,prediction\n0,0\n", "there is no column unknown_score. Needed are label, prediction and unknown_score"),
        ("label,unknown_score\n0,0.1\n", "there is no column 'prediction'"),
        (
            "prediction,unknown_score\n0,0.1\n",
            NO_LABELS,
        ),
        ("y_true,y_pred,score\n0,0,0.1\n", NO_LABELS),
        (
            "label,prediction,unknown_score\n0,0,0.1\n-2,0,high\n",
            "unknown_score is 'high' in line 3; it must be a number",
        ),
        ("label,prediction,unknown_score\n0,0,0.1\n-2,0,\n", "unknown_score is missing in line 3"),
        ("label,prediction,unknown_score\n0,0,0.1\n-2,0,nan\n", "unknown_score is nan in line 3"),
        ("label,prediction,unknown_score\n0,0,inf\n-2,0,1\n", "unknown_score is inf in line 2"),
        ("label,prediction,unknown_score\n0,0,0.1\n-3,0,0.2\n", "Label -3 in line 3 is not defined"),
        ("label,prediction,unknown_score\n0,-1,0.1\n-2,0,0.2\n", "Prediction -1 in line 2 is not a known class"),
        ("label,prediction,unknown_score\ncat,cat,1\nunknown,unknown,2\n", "prediction is 'unknown' in line 3"),
        ("label,prediction,unknown_score\n,cat,1\nunknown,cat,2\n", "label is missing in line 2"),
        ("label,prediction,unknown_score\n0.5,0,1\n-2,0,2\n", "label is '0.5' in line 2, which is neither"),
        ("label,prediction,unknown_score\n", "has column names but no rows"),
        ("label,prediction,unknown_score,prob_0,prob_2\n0,0,1,1,0\n-2,0,2,1,0\n", "have gaps"),
        ("label,prediction,unknown_score,prob_0\ncat,cat,1,1\nunknown,cat,2,1\n", "name them prob_cat and so on"),
        ("label,logit_0\ncat,1\nunknown,2\n", "name them logit_cat and so on"),
        ("label,prediction,unknown_score,prob_0\n0,0,1,7\n-2,0,2,1\n", "must lie between 0 and 1"),
        ("label,logit_0\n0,x\n", "logit_0 is 'x' in line 2"),
        ("label,logit_Cat,logit_dog\ncat,1,0\n", "neither a number nor a class name. Did you mean 'Cat'?"),
        ("label,logit_cat,Logit_Unknown\ncat,1,0\n", "column logit_Unknown cannot be a known class: 'Unknown' marks"),
        ("label,logit_Cat,Logit Cat\nCat,1,0\n", "has the column 'logit_Cat' twice"),
        ("label,prediction,unknown_score\n0,0,1,9\n", "is not a readable CSV file"),
    ],
)
def test_a_broken_csv_is_named_with_its_line(tmp_path, text, message):
    path = csv(tmp_path, text)
    with pytest.raises(OpenSetError) as caught:
        Scores.read(path)
    assert message in str(caught.value)
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)


def test_pickled_objects_are_never_loaded(tmp_path):
    class Bomb:
        def __reduce__(self):
            return (open, (str(tmp_path / "exploded"), "w"))

    np.savez(tmp_path / "bomb.npz", labels=np.array([Bomb()], dtype=object))
    with pytest.raises(OpenSetError, match="pickled Python objects, which could run code"):
        Scores.read(tmp_path / "bomb.npz")
    assert not (tmp_path / "exploded").exists()


def test_an_archive_is_given_arrays_and_nothing_else(tmp_path, monkeypatch):
    given = {}
    monkeypatch.setattr(np, "savez_compressed", lambda file, **arrays: given.update(arrays))
    write_npz(tmp_path / "a.npz", {"labels": np.zeros(2)})
    assert list(given) == ["labels"]  # NumPy 1.26 knows no options and would store them


@pytest.mark.parametrize("kind", ["csv", "npz"])
def test_probabilities_alone_are_scored_by_the_largest(kind, tmp_path):
    """As `predict_proba` gives them."""
    rows = np.array([[0.9, 0.1], [0.25, 0.75], [0.6, 0.4]])
    path = tmp_path / f"scores.{kind}"
    if kind == "csv":
        path.write_text("label,prob_cat,prob_dog\ncat,0.9,0.1\ncat,0.25,0.75\nunknown,0.6,0.4\n")
    else:
        np.savez(path, labels=[0, 0, -2], probabilities=rows)
    for score in (None, "msp"):
        found = Scores.read(path, score=score)
        assert found.predictions.tolist() == [0, 1, 0]
        np.testing.assert_allclose(found.unknown_score, [0.1, 0.25, 0.4], rtol=1e-12)
        assert found.meta["score"] == {"name": "msp", "params": {"temperature": 1.0}}
    with pytest.raises(OpenSetError, match="score 'energy' is made from logits, and the file has none"):
        Scores.read(path, score="energy")


@pytest.mark.parametrize("array", [np.array([None]), np.array([(0, None)], dtype=[("a", "i4"), ("b", "O")])])
def test_objects_are_never_written(tmp_path, array):
    with pytest.raises(OpenSetError, match=r"a\.npz: the array 'ids' holds Python objects; give it numbers or text"):
        write_npz(tmp_path / "a.npz", {"labels": np.zeros(2), "ids": array})
    assert not list(tmp_path.iterdir())


def test_files_that_cannot_be_read_are_named(tmp_path):
    full_scores().write(tmp_path / "s.parquet")
    whole = (tmp_path / "s.parquet").read_bytes()
    (tmp_path / "cut.parquet").write_bytes(whole[: len(whole) // 2])
    (tmp_path / "cut.npz").write_bytes(b"PK\x03\x04 and no more")
    (tmp_path / "empty.csv").write_bytes(b"")
    (tmp_path / "binary.csv").write_bytes(b"\xff\xfe\x00\x01")
    (tmp_path / "scores.xlsx").write_bytes(b"x")
    np.save(tmp_path / "one.npy", np.zeros(3))
    (tmp_path / "one.npy").rename(tmp_path / "one.npz")
    for name, message in {
        "none.csv": "There is no file",
        "cut.parquet": "is not a readable Parquet file, or it is cut off",
        "cut.npz": "is not a readable NPZ file",
        "empty.csv": "is empty",
        "binary.csv": "is not a text file in UTF-8; save it as CSV UTF-8",
        "scores.xlsx": "cannot read '.xlsx'; use .parquet, .csv, .tsv, .npz, .npy",
        "one.npz": "is a single array",
        ".": "is a folder",
    }.items():
        with pytest.raises(OpenSetError) as caught:
            Scores.read(tmp_path / name)
        assert message in str(caught.value)
        assert "\n" not in str(caught.value)


def test_scores_where_logits_are_needed(tmp_path):
    full_scores().write(tmp_path / "s.parquet")
    with pytest.raises(OpenSetError, match="score 'energy' is made from logits, and the file has none"):
        Scores.read(tmp_path / "s.parquet", score="energy")
    with pytest.raises(OpenSetError, match="no score named 'enrgy'"):
        Scores.read(tmp_path / "s.parquet", score="enrgy")


def test_nothing_is_left_behind_when_writing_fails(tmp_path):
    with pytest.raises(OpenSetError, match="use a name that ends in .parquet, .csv, .tsv, .npz"):
        full_scores().write(tmp_path / "scores.txt")
    (tmp_path / "folder.parquet").mkdir()
    with pytest.raises(OpenSetError, match="it is a folder; give a file name"):
        full_scores().write(tmp_path / "folder.parquet")
    (tmp_path / "file").write_text("x")
    with pytest.raises(OpenSetError, match="Cannot write"):
        full_scores().write(tmp_path / "file" / "scores.parquet")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file", "folder.parquet"]


def test_meta_that_is_not_ours_does_no_harm(tmp_path):
    table = pl.DataFrame({"label": [0, -2], "prediction": [0, 0], "unknown_score": [0.1, 0.2]})
    table.write_parquet(tmp_path / "a.parquet", metadata={"openset": "[]"})
    assert Scores.read(tmp_path / "a.parquet").meta == {}
    table.write_parquet(tmp_path / "b.parquet", metadata={"openset": "{"})
    with pytest.raises(OpenSetError, match="its 'openset' entry is not valid JSON"):
        Scores.read(tmp_path / "b.parquet")
    np.savez(
        tmp_path / "c.npz",
        labels=[0, -2],
        predictions=[0, 0],
        unknown_score=[0.1, 0.2],
        openset=np.array(json.dumps({})),
    )
    assert len(Scores.read(tmp_path / "c.npz")) == 2


@pytest.mark.parametrize("about", ['{"class_names": ["\\ud800"]}', '{"meta": {"a": ["\\ud800"]}}'])
def test_half_characters_are_refused_where_they_come_in(tmp_path, about):
    columns = {"label": [0, -2], "prediction": [0, 0], "unknown_score": [0.1, 0.2]}
    pl.DataFrame(columns).write_parquet(tmp_path / "a.parquet", metadata={"openset": about})
    np.savez(
        tmp_path / "a.npz",
        openset=about,
        **{f"{name}s".replace("score" + "s", "score"): column for name, column in columns.items()},
    )
    for kind in ("parquet", "npz"):
        with pytest.raises(OpenSetError, match=rf"a\.{kind}: .*half a character"):
            Scores.read(tmp_path / f"a.{kind}")


def test_numbers_that_json_cannot_hold_are_nothing_in_meta(tmp_path):
    table = pl.DataFrame({"label": [0, -2], "prediction": [0, 0], "unknown_score": [0.1, 0.2]})
    table.write_parquet(tmp_path / "a.parquet", metadata={"openset": '{"meta": {"x": 1e999, "y": NaN}}'})
    assert Scores.read(tmp_path / "a.parquet").meta == {"x": None, "y": None}


def test_text_that_no_file_can_hold_is_an_error(tmp_path):
    with pytest.raises(OpenSetError, match=r"Cannot write .*a\.json: .*half a character"):
        write_json(tmp_path / "a.json", {"a": "\ud800"})
    with pytest.raises(OpenSetError, match="half a character"):
        packed_json({"a": "\ud800"})
    assert not list(tmp_path.iterdir())


def test_a_file_name_that_is_no_text_is_named(tmp_path):
    path = os.fsdecode(os.fsencode(tmp_path) + b"/\xff.csv")
    full_scores().write(tmp_path / "a.csv")
    (tmp_path / "a.csv").rename(path)
    with pytest.raises(
        OpenSetError, match=r"Cannot read: the name of the file .*\\xff\.csv is not in UTF-8; rename it"
    ) as caught:
        Scores.read(path)
    str(caught.value).encode()


def test_what_is_no_plain_file_is_written_through(tmp_path):
    os.mkfifo(tmp_path / "pipe.json")
    found = []
    reader = threading.Thread(target=lambda: found.append((tmp_path / "pipe.json").read_text()), daemon=True)
    reader.start()
    write_json(tmp_path / "pipe.json", [1])
    reader.join(10)
    assert json.loads(found[0]) == [1]
    assert stat.S_ISFIFO((tmp_path / "pipe.json").stat().st_mode)


def test_our_own_output_goes_on_where_it_is(tmp_path):
    code = "from openset._io.json_files import write_json; print('a'); write_json('/dev/stdout', [1]); print('b')"
    with (tmp_path / "out.txt").open("w") as out:
        subprocess.run([sys.executable, "-c", code], stdout=out, check=True)
    assert (tmp_path / "out.txt").read_text().split() == ["a", "[", "1", "]", "b"]


def test_links_are_followed(tmp_path):
    (tmp_path / "there").mkdir()
    (tmp_path / "there" / "real.json").write_text("old")
    (tmp_path / "link.json").symlink_to("there/real.json")
    (tmp_path / "new.json").symlink_to("there/new.json")
    (tmp_path / "loop.json").symlink_to("loop.json")
    for link, target in (("link.json", "real.json"), ("new.json", "new.json")):
        write_json(tmp_path / link, [1])
        assert (tmp_path / link).is_symlink()
        assert json.loads((tmp_path / "there" / target).read_text()) == [1]
    with pytest.raises(OpenSetError, match=r"Cannot write .*loop\.json"):
        write_json(tmp_path / "loop.json", [1])


def test_a_name_may_be_as_long_as_the_system_allows(tmp_path):
    write_json(tmp_path / ("a" * 250 + ".json"), [1])
    with pytest.raises(OpenSetError, match="Cannot write .*: file name too long"):
        write_json(tmp_path / ("a" * 300 + ".json"), [1])


@pytest.mark.parametrize("kind", ["parquet", "csv"])
def test_brackets_in_a_file_name_are_no_pattern(tmp_path, kind):
    full_scores().write(tmp_path / f"a[1].{kind}")
    assert len(Scores.read(tmp_path / f"a[1].{kind}")) == 4


def test_two_blocks_of_named_columns_are_put_into_one_order(tmp_path):
    head = "label,prediction,unknown_score,prob_cat,prob_dog,logit_dog,logit_{}\n"
    rows = "cat,cat,.1,.9,.1,-2,2\ndog,dog,.2,.2,.8,2,-2\nunknown,cat,.9,.5,.5,0,0\n"
    path = csv(tmp_path, head.format("cat") + rows)
    found = Scores.read(path)
    assert (found.class_names, found.labels.tolist()) == (("cat", "dog"), [0, 1, -2])
    np.testing.assert_array_equal(found.probabilities[:2], [[0.9, 0.1], [0.2, 0.8]])
    assert Scores.read(path, score="max_logit").predictions.tolist()[:2] == [0, 1]
    with pytest.raises(OpenSetError, match=r"prob_\.\.\. and logit_\.\.\. name different classes, 'cat' for one"):
        Scores.read(csv(tmp_path, head.format("hat") + rows))


def test_classes_that_are_called_by_numbers(tmp_path):
    head = "label,prediction,unknown_score,prob_1,prob_2,prob_cat\n"
    found = Scores.read(csv(tmp_path, head + "1,1,.1,.8,.1,.1\n2,2,.1,.1,.8,.1\ncat,2,.1,.1,.5,.4\n-2,1,.9,.4,.3,.3\n"))
    assert found.labels.tolist() == [0, 1, 2, -2]
    assert found.predictions.tolist() == [0, 1, 1, 0]
    with pytest.raises(OpenSetError, match=r"label is 3 in line 2, but classes have names here \('1'\): use either"):
        Scores.read(csv(tmp_path, head + "3,1,.1,.8,.1,.1\n-2,1,.9,.4,.3,.3\n"))


def test_numbers_beside_names_are_refused(tmp_path):
    head = "label,prediction,unknown_score,prob_cat,prob_dog\n"
    with pytest.raises(OpenSetError, match=r"label is 1 in line 3, but classes have names here \('cat'\)"):
        Scores.read(csv(tmp_path, head + "cat,cat,.1,.8,.2\n1,dog,.1,.8,.2\nunknown,cat,.9,.5,.5\n"))
    numbers = Scores.read(csv(tmp_path, head + "0,0,.1,.8,.2\n1,0,.1,.8,.2\n-2,0,.9,.5,.5\n"))
    assert numbers.labels.tolist() == [0, 1, -2]


def test_labels_with_a_decimal_comma(tmp_path):
    found = Scores.read(csv(tmp_path, "label;prediction;unknown_score\n0,0;0,0;0,1\n1,0;1,0;0,2\n-2,0;0,0;0,9\n"))
    assert (found.labels.tolist(), found.class_names) == ([0, 1, -2], None)


def test_probabilities_close_to_one_stay_apart(tmp_path):
    rows = np.float32([[1, 1e-9], [1, 1e-12], [1, 2e-8]])
    np.savez(tmp_path / "p.npz", labels=[0, 0, -2], probabilities=rows)
    np.testing.assert_allclose(Scores.read(tmp_path / "p.npz").unknown_score, [1e-9, 1e-12, 2e-8], rtol=1e-6)
    np.savez(tmp_path / "b.npz", labels=[0, 0, -2], probabilities=[[0.9, 0.1], [0.2, 0.3], [0.1, 0.1]])
    for background in (True, False):  # what is missing to 1 is the background's
        found = Scores.read(tmp_path / "b.npz", background=background)
        np.testing.assert_allclose(found.unknown_score, [0.1, 0.7, 0.9], rtol=1e-12)


def test_a_small_share_of_the_background_counts_as_unknown(tmp_path):
    # Rows that add up to 1 but for rounding, so that only --background tells whom the rest belongs to.
    rows = [[0.9, 0.0995], [0.0996, 0.9], [0.5, 0.4991]]
    np.savez(tmp_path / "p.npz", labels=[0, 1, -2], probabilities=rows)
    with_background = Scores.read(tmp_path / "p.npz", background=True)
    np.testing.assert_allclose(with_background.unknown_score, [0.1, 0.1, 0.5], rtol=1e-12)
    assert with_background.probabilities.tolist() == rows  # never spread over the known classes
    np.testing.assert_allclose(Scores.read(tmp_path / "p.npz").unknown_score, [0.0995, 0.0996, 0.4991], rtol=1e-12)


@pytest.mark.parametrize(
    ("probabilities", "message"),
    [
        ([0.1, 0.2, 0.3], r"p\.npz: 'probabilities' must have one column per known class, got shape \(3,\)"),
        (np.zeros((3, 0)), r"one column per known class, got shape \(3, 0\)"),
        ([["a"], ["b"], ["c"]], "'probabilities' must be numbers"),
    ],
)
def test_odd_probabilities_alone(tmp_path, probabilities, message):
    np.savez(tmp_path / "p.npz", labels=[0, 1, -2], probabilities=probabilities)
    with pytest.raises(OpenSetError, match=message):
        Scores.read(tmp_path / "p.npz")


def test_what_is_wrong_with_training_outputs_is_said_of_their_file(tmp_path):
    np.savez(tmp_path / "t.npz", labels=[0, 1, -2], logits=np.eye(3), features=np.eye(3))
    wrong = {
        "'features' has a NaN or infinite value in row 0": {"labels": [0, 1], "features": [[np.nan, 1, 1], [0, 1, 1]]},
        "'features' must have one row per sample": {"labels": [0, 1], "features": [1.0, 2.0]},
        "inputs differ in length": {"labels": [0, 1], "features": np.eye(3)},
        "'logits' is a single value": {"labels": [0, 1], "logits": 3.0},
    }
    for message, arrays in wrong.items():
        np.savez(tmp_path / "fit.npz", **arrays)
        with pytest.raises(OpenSetError, match=rf"fit\.npz: .*{message}"):
            Scores.read(tmp_path / "t.npz", score="knn", fit=tmp_path / "fit.npz")


def test_encrypted_and_damaged_archives(tmp_path):
    np.savez(tmp_path / "a.npz", labels=np.zeros(3))
    data = bytearray((tmp_path / "a.npz").read_bytes())
    for mark, flags in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        data[data.index(mark) + flags] |= 1  # encrypted
    (tmp_path / "a.npz").write_bytes(data)
    with pytest.raises(OpenSetError, match="encrypted, or packed in an unknown way"):
        Scores.read(tmp_path / "a.npz")
    with zipfile.ZipFile(tmp_path / "z.npz", "w", zipfile.ZIP_LZMA) as archive:
        archive.writestr("labels.npy", b"\x93NUMPY" + bytes(5000))
    data = bytearray((tmp_path / "z.npz").read_bytes())
    data[60:80] = b"\xff" * 20
    (tmp_path / "z.npz").write_bytes(data)
    with pytest.raises(OpenSetError, match="is not a readable NPZ file"):
        Scores.read(tmp_path / "z.npz")


@pytest.mark.parametrize("kind", ["parquet", "csv"])
def test_wide_floats_are_written(tmp_path, kind):
    scores = Scores([0, -2], [0, 0], np.longdouble([0.1, 0.9]), np.longdouble([[1.0], [0.5]]))
    scores.write(tmp_path / f"s.{kind}")
    assert Scores.read(tmp_path / f"s.{kind}").probabilities.tolist() == [[1.0], [0.5]]


def written(tmp_path, kind, labels, predictions, **more):
    """A small file of scores of any kind, as somebody else's program might write it."""
    path, score = tmp_path / f"s.{kind}", np.linspace(0, 1, len(labels))
    if kind == "npz":
        np.savez(path, labels=labels, predictions=predictions, unknown_score=score, **more)
        return path
    table = pl.DataFrame({"label": labels, "prediction": predictions, "unknown_score": score}, strict=False)
    table.write_parquet(path) if kind == "parquet" else table.write_csv(path, separator="\t" if kind == "tsv" else ",")
    return path


KINDS = ["csv", "tsv", "parquet", "npz"]


@pytest.mark.parametrize("kind", KINDS)
def test_labels_may_be_names_in_every_kind_of_file(tmp_path, kind):
    path = written(tmp_path, kind, ["dog", "cat", "unknown", "negative"], ["dog", "dog", "cat", "cat"])
    found = Scores.read(path)
    assert (found.class_names, found.labels.tolist()) == (("cat", "dog"), [1, 0, -2, -1])
    assert found.predictions.tolist() == [1, 1, 0, 0]
    with pytest.raises(OpenSetError, match=rf"s\.{kind}: label is 'oos' in (line 4|row 2) .* did you mean unknown"):
        Scores.read(written(tmp_path, kind, ["dog", "cat", "oos", "pets"], ["dog", "dog", "cat", "pets"]))
    path = written(tmp_path, kind, ["dog", "cat", "oos", "pets"], ["dog", "dog", "cat", "cat"])
    found = Scores.read(path, unknown_label="oos", negative_label="pets")
    assert (found.class_names, found.labels.tolist()) == (("cat", "dog"), [1, 0, -2, -1])
    assert Scores.read(path, known_classes=["oos"]).class_names == ("cat", "dog", "oos", "pets")


@pytest.mark.parametrize("kind", KINDS)
def test_numbers_may_mean_open_set_samples(tmp_path, kind):
    path = written(tmp_path, kind, [0, 1, 2, -1], [0, 1, 0, 1])
    assert Scores.read(path, unknown_label=-1, negative_label="2").labels.tolist() == [0, 1, -1, -2]


def test_class_names_of_an_archive(tmp_path):
    logits, names = np.eye(3)[[0, 1, 2, 0]], np.array(["owl", "elk", "ant"])
    np.savez(tmp_path / "a.npz", labels=["owl", "elk", "unknown", "ant"], logits=logits, class_names=names)
    found = Scores.read(tmp_path / "a.npz")
    assert (found.class_names, found.labels.tolist()) == (("owl", "elk", "ant"), [0, 1, -2, 2])
    np.savez(tmp_path / "b.npz", labels=["owl", "elk", "unknown", "ant"], logits=logits)
    with pytest.raises(OpenSetError, match=r"labels are names \('ant'\) but there is no array 'class_names'"):
        Scores.read(tmp_path / "b.npz")
    np.savez(tmp_path / "c.npz", labels=[0, 1, -2, 2], logits=logits, class_names=names)
    assert Scores.read(tmp_path / "c.npz").class_name(1) == "elk"


def test_an_array_with_the_label_in_front(tmp_path):
    logits = np.random.default_rng(0).standard_normal((5, 3)).astype(np.float32)
    labels = np.array([0, 1, 2, -2, -2])
    np.save(tmp_path / "net_val_logits.npy", np.column_stack([labels, logits]).astype(np.float32))
    found = Scores.read(tmp_path / "net_val_logits.npy", score="msp")
    expected = Scores.from_logits(labels, logits, score="msp")
    np.testing.assert_array_equal(found.labels, labels)
    np.testing.assert_array_equal(found.unknown_score, expected.unknown_score)
    with pytest.raises(OpenSetError, match="needs features, and the file has none"):
        Scores.read(tmp_path / "net_val_logits.npy", score="knn", fit=tmp_path / "net_val_logits.npy")
    np.save(tmp_path / "net_val_FV.npy", np.column_stack([labels, logits * 2]))
    train = np.column_stack([[0, 1, 2, 0, 1, 2], np.random.default_rng(1).standard_normal((6, 3))])
    np.save(tmp_path / "net_train_FV.npy", train)
    found = Scores.read(tmp_path / "net_val_logits.npy", score="knn", fit=tmp_path / "net_train_FV.npy")
    assert found.meta["score"]["name"] == "knn"
    np.save(tmp_path / "net_val_FV.npy", np.column_stack([labels[::-1], logits * 2]))
    with pytest.raises(OpenSetError, match=r"the features in .*net_val_FV\.npy are of other samples"):
        Scores.read(tmp_path / "net_val_logits.npy")


@pytest.mark.parametrize(
    ("array", "name", "message"),
    [
        (np.zeros(3), "a.npy", r"label in column 0 and logits in the others; this one has shape \(3,\) of float64"),
        (np.zeros((3, 1)), "a.npy", r"shape \(3, 1\)"),
        (np.array([["a", "b"]]), "a.npy", "of <U1"),
        (np.array([[0.5, 1.0]]), "a.npy", r"column 0 \(the label\)' must be whole numbers, got 0.5 in row 0"),
        (np.zeros((3, 4)), "x_preds.npy", "by its name it holds predictions"),
        (np.array([[0, 1, None]], dtype=object), "a.npy", "pickled Python objects"),
    ],
)
def test_arrays_that_are_not_labels_and_logits(tmp_path, array, name, message):
    np.save(tmp_path / name, array, allow_pickle=True)
    with pytest.raises(OpenSetError, match=message) as caught:
        Scores.read(tmp_path / name)
    assert name in str(caught.value)


def test_a_tab_separates_whatever_else_a_tsv_holds(tmp_path):
    path = tmp_path / "s.tsv"
    path.write_text("label\tprediction\tunknown_score\tid\ncat\tcat\t0,5\ta,b;c\nunknown\tcat\t1,5\td,e;f\n")
    found = Scores.read(path)
    assert (found.unknown_score.tolist(), found.ids.tolist()) == ([0.5, 1.5], ["a,b;c", "d,e;f"])


def test_predictions_that_contradict_the_probabilities(tmp_path):
    probabilities = np.array([[0.9, 0.1], [0.2, 0.8], [0.7, 0.3], [0.6, 0.4]])
    arrays = {"labels": [0, 1, 0, -2], "unknown_score": [0.1, 0.2, 0.3, 0.4], "probabilities": probabilities}
    np.savez(tmp_path / "one.npz", predictions=[0, 1, 1, 0], **arrays)
    note = Scores.read(tmp_path / "one.npz").notes
    assert "In 1 of 4 rows (row 2 first) the prediction is not the class of the largest probability" in note[0]
    assert "predictions are used as given" in note[0]
    assert len(note) == 1
    assert evaluate(Scores.read(tmp_path / "one.npz"), intervals=False).notes[:1] == note
    np.savez(tmp_path / "all.npz", predictions=[1, 0, 1, 1], **arrays)
    with pytest.raises(OpenSetError, match=r"all\.npz: in 4 of 4 rows .* class 1 is predicted and class 0 has 0.9"):
        Scores.read(tmp_path / "all.npz")
    np.savez(tmp_path / "none.npz", predictions=[0, 1, 0, 0], **arrays)
    assert Scores.read(tmp_path / "none.npz").notes == ()


def test_equal_probabilities_do_not_contradict(tmp_path):
    given = {"labels": [0, -2], "unknown_score": [0.1, 0.2], "probabilities": [[0.5, 0.5], [0.5, 0.5 + 1e-9]]}
    np.savez(tmp_path / "a.npz", predictions=[1, 0], **given)
    assert Scores.read(tmp_path / "a.npz").notes == ()


def test_probabilities_that_do_not_add_up_are_told(tmp_path):
    given = {"labels": [0, -2], "predictions": [0, 0], "unknown_score": [0.1, 0.2]}
    np.savez(tmp_path / "a.npz", probabilities=[[0.9, 0.1], [0.15, 0.05]], **given)
    (note,) = Scores.read(tmp_path / "a.npz").notes
    assert "add up to 0.6 on average and to 0.2 at least (row 1), not to 1: they are used as given" in note
    assert Scores.read(tmp_path / "a.npz", background=True).notes == ()
    np.savez(tmp_path / "b.npz", probabilities=[[0.9, -0.1], [0.15, 0.05]], **given)
    with pytest.raises(OpenSetError, match="must lie between 0 and 1, row 0 does not"):
        Scores.read(tmp_path / "b.npz")
