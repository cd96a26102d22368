import numpy as np
import pytest

from openset._core.labels import LabelWords, TextColumn, as_column, read_labels
from openset._core.lookalikes import find_twins, meant_word
from openset.errors import OpenSetError

ZERO_WIDTH, ACCENT = chr(0x200B), chr(0x301)


def read(labels, predictions=None, names=None, nameless="", **words):
    columns = [None if column is None else as_column("labels", column) for column in (labels, predictions)]
    found = read_labels(*columns, names, words=LabelWords.of(**words), nameless=nameless)
    return (
        found.labels.tolist(),
        None if predictions is None else found.predictions.tolist(),
        found.class_names,
    )


def test_numbers_stay_numbers_however_they_are_kept():
    for labels in ([0, 1, -2], ["0", "1", "-2"], [0.0, 1.0, -2.0], [0, 1, "unknown"], ["0", "1.0", " Unknown "]):
        assert read(labels) == ([0, 1, -2], None, None)
    assert read(np.array([b"0", b"1", b"negative"])) == ([0, 1, -1], None, None)


def test_names_are_numbered_in_their_order():
    labels, predictions = ["dog", "cat", "unknown", "negative"], ["dog", "elk", "cat", "cat"]
    assert read(labels, predictions) == ([1, 0, -2, -1], [1, 2, 0, 0], ("cat", "dog", "elk"))
    names = ("elk", "dog", "cat")
    assert read(labels, predictions, names) == ([1, 2, -2, -1], [1, 0, 2, 2], names)
    assert read(np.array(labels, dtype=object), predictions, names)[0] == [1, 2, -2, -1]


def test_other_words_for_open_set_samples():
    labels, predictions = ["cat", "oos", "other", "UNKNOWN"], ["cat", "cat", "dog", "dog"]
    found = read(labels, predictions, unknown="OOS", negative=["other"])
    assert found == ([0, -2, -1, -2], [0, 0, 1, 1], ("cat", "dog"))
    assert read([0, 1, 10, -1], unknown=10) == ([0, 1, -2, -1], None, None)
    assert read([0, 1, -1, 7], unknown=-1, negative=7) == ([0, 1, -2, -1], None, None)
    assert read(["0", "1", "oos", "10.0"], unknown=["oos", 10]) == ([0, 1, -2, -2], None, None)
    assert read(["unknown", "cat"], ["cat", "unknown"], known="unknown")[2] == ("cat", "unknown")
    with pytest.raises(OpenSetError, match="The label 'oos' cannot be both unknown and negative"):
        LabelWords.of("oos", "Oos")


@pytest.mark.parametrize(
    ("word", "meant"),
    [
        *(
            (word, "unknown")
            for word in ("unkown", "Unknwon", "ood", "OOS", "out-of-scope", "Open set", "unk", "other")
        ),
        *((f"unknown{mark}1", "unknown") for mark in "_- "),
        *((word, "negative") for word in ("negatve", "NEG", "Known Unknown")),
    ],
)
def test_a_class_that_is_never_predicted_and_looks_like_a_word_is_asked_about(word, meant):
    labels, predictions = ["cat", word, "dog", word], ["cat", "dog", "dog", "cat"]
    with pytest.raises(OpenSetError) as caught:
        read(labels, predictions)
    assert f"label is '{word}' in row 1 (2 rows) and is never predicted: did you mean {meant}?" in str(caught.value)
    assert f"--{meant}-label '{word}' reads it so, --known-class '{word}' keeps it" in str(caught.value)
    assert read(labels, predictions, **{meant: word})[0][1] in (-1, -2)
    assert word in read(labels, predictions, known=[word])[2]
    assert word in read(labels, [*predictions[:3], word])[2]  # a class that the model knows
    assert word in read(labels, predictions, names=["cat", "dog", word])[2]  # a class that somebody named


def test_neighbours_that_changed_places_are_one_typing_error():
    for word in ("engative", "negativ", "nnegative", "negatvie", "negadive"):
        assert meant_word(word) == "negative"
    assert [meant_word(word) for word in ("negaitev", "gnegatie")] == [None, None]
    assert meant_word("nuknwon") == "unknown"


@pytest.mark.parametrize("word", ["known", "native", "relative", "unicorn", "ode", "penguin", "bookmark", "nowhere"])
def test_other_names_are_not_asked_about(word):
    assert meant_word(word) is None
    assert word in read(["cat", word], ["cat", "cat"])[2]


def test_a_word_among_numbers_is_asked_about():
    for nameless in ("", "columns are numbered; name them logit_{} and so on"):
        with pytest.raises(OpenSetError, match=r"label is 'oos' in row 2 \(1 row\) and is never predicted"):
            read(["0", "1", "oos"], ["0", "1", "1"], nameless=nameless)
    with pytest.raises(OpenSetError, match="neither a number nor a class name. Did you mean unknown\\? Then add --unk"):
        read(["cat", "oos"], ["cat", "cat"], names=["cat", "dog"])


@pytest.mark.parametrize(
    ("one", "two"),
    [("Cat", "cat"), ("polar bear", "polar  bear"), ("caf\xe9", "cafe" + ACCENT), ("cat", "ca" + ZERO_WIDTH + "t")],
)
def test_two_spellings_of_one_class_are_named(one, two):
    labels, predictions = ["dog", one, two, "unknown"], ["dog", one, one, "dog"]
    with pytest.raises(OpenSetError, match="The classes .* in row [12] and row [12]: make them one") as caught:
        read(labels, predictions)
    told = str(caught.value)
    assert (f"'{one}'" in told and f"'{two}'" in told) or (ascii(one) in told and ascii(two) in told)
    assert len(read(labels, predictions, known=[one, two])[2]) == 3
    with pytest.raises(OpenSetError):
        read(labels, ["dog", "dog", "dog", two])  # a label and a prediction


def test_classes_named_on_purpose_may_differ_in_capitals_but_not_invisibly():
    assert read(["Cat", "cat"], ["cat", "cat"], names=["Cat", "cat"])[0] == [0, 1]
    with pytest.raises(OpenSetError, match=r"'cafe\\u0301' and 'caf\\xe9' look the same"):
        read([0, 1], names=["caf\xe9", "cafe" + ACCENT])
    with pytest.raises(OpenSetError, match=r"'cafe\\u0301' and 'caf\\xe9' look the same"):
        read(["cafe" + ACCENT], names=["caf\xe9", "tea"])


def test_names_where_columns_have_none():
    with pytest.raises(OpenSetError, match=r"labels are names \('cat'\) but columns are numbered; name them logit_cat"):
        read(["cat"], nameless="columns are numbered; name them logit_{} and so on")


@pytest.mark.parametrize(
    ("labels", "predictions", "message"),
    [
        (["cat", "0"], ["cat", "cat"], r"label is 0 in row 1, but classes have names here \('cat'\): use either"),
        (["cat", "cat"], [0, 1], r"prediction is 0 in row 0, but classes have names here"),
        (["cat", "unknown"], ["cat", "unknown"], "prediction is 'unknown' in row 1; a prediction is the best"),
        (["cat", None], ["cat", "cat"], "label is missing in row 1"),
        (["0.5", "1"], None, "label is '0.5' in row 0, which is neither"),
        (["1e30", "1"], None, "label is '1e30' in row 0, which is too large for the number of a class"),
        (np.array([(1, 2)], dtype=[("a", "i4"), ("b", "i4")]), None, "'labels' must be whole numbers"),
    ],
)
def test_what_cannot_be_read_is_named(labels, predictions, message):
    with pytest.raises(OpenSetError, match=message):
        read(labels, predictions)


def test_the_first_of_many_wrong_words_is_named():
    column = TextColumn(("a", "b", "c"), np.array([2, 1, 0, 1]))
    assert column.earliest(["a", "b"]) == (1, "b")
    assert column.earliest([]) is None


def test_many_classes_are_read_at_once():
    names = [f"class {number}" for number in range(20_000)]
    labels, _, found = read(names * 3, names * 3)
    assert labels[:20_000] == [sorted(names).index(name) for name in names[:3]] + labels[3:20_000]
    assert len(found) == 20_000
    assert find_twins(names, capitals=True) is None
