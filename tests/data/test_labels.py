import numpy as np
import pytest

from openset.data.labels import class_ids
from openset.errors import OpenSetError


@pytest.mark.parametrize("values", [[0, 2, 1], ["0", "2", "1"], np.array([0.0, 2.0, 1.0])])
def test_whole_numbers_in_any_form_are_ids(values):
    ids, names = class_ids(values, None, "here")
    assert ids.tolist() == [0, 2, 1]
    assert ids.dtype == np.int64
    assert names == ("0", "1", "2")


def test_names_are_numbered_in_sorted_order_or_as_told():
    assert class_ids(["owl", "cat", "owl"], None, "here")[0].tolist() == [1, 0, 1]
    assert class_ids(["owl", "cat"], ["owl", "cat"], "here")[0].tolist() == [0, 1]


def test_negative_and_unknown_are_labels_only_where_allowed():
    ids, names = class_ids(["owl", "negative", "unknown"], None, "here", open_labels=True)
    assert (ids.tolist(), names) == ([0, -1, -2], ("owl",))
    assert class_ids([0, -1, -2], None, "here", open_labels=True)[0].tolist() == [0, -1, -2]
    with pytest.raises(OpenSetError, match="row 1: label -1 is out of range"):
        class_ids([0, -1], None, "here")
    with pytest.raises(OpenSetError, match="row 0: label -3"):
        class_ids([-3], None, "here", open_labels=True)


@pytest.mark.parametrize(
    ("values", "names", "message"),
    [
        ([0, 5], ["a", "b"], "here, row 1: label 5 is out of range; classes are numbered 0 to 1"),
        (["cat", "olw"], ["owl", "cat"], "here, row 1: no class 'olw'. Did you mean 'owl'"),
        (["cat", ""], None, "here, row 1: the label is empty"),
        ([], None, "here holds no samples"),
    ],
)
def test_a_bad_label_is_named_with_its_row(values, names, message):
    with pytest.raises(OpenSetError, match=message):
        class_ids(values, names, "here")


@pytest.mark.parametrize("empty", [np.nan, np.inf, None, "nan"])
def test_numbers_with_a_gap_do_not_become_names(empty):
    with pytest.raises(OpenSetError, match="here, row 2: the label is empty or not a number"):
        class_ids([0, 1, empty, 1], None, "here")
    assert class_ids(["nan", "cat"], None, "here")[1] == ("cat", "nan")  # beside other words it is one
