"""Frames of every library give the scores that arrays give, and mistakes in them are named."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from openset.errors import OpenSetError
from openset.scores import Scores

COLUMNS = {
    "label": ["cat", "dog", "oos", "negative"],
    "prediction": ["cat", "cat", "dog", "dog"],
    "unknown_score": [0.1, 0.25, 0.9, -1.5],
    "id": [10, 11, 12, 13],
    "group": [None, None, "far", "near"],
}
MAKERS = {"pandas": pd.DataFrame, "polars": pl.DataFrame, "pyarrow": pa.table}


@pytest.mark.parametrize("library", MAKERS)
def test_every_library_gives_the_same_scores(library):
    found = Scores.from_frame(MAKERS[library](COLUMNS), unknown_label="oos")
    assert found.labels.tolist() == [0, 1, -2, -1]
    assert found.predictions.tolist() == [0, 0, 1, 1]
    assert found.unknown_score.tolist() == [0.1, 0.25, 0.9, -1.5]
    assert found.class_names == ("cat", "dog")
    assert found.ids.tolist() == ["10", "11", "12", "13"]
    assert found.groups.tolist() == ["", "", "far", "near"]


@pytest.mark.parametrize("library", MAKERS)
def test_logits_are_scored_and_float32_stays(library):
    logits = np.array([[2.0, 0.0], [0.1, 0.2]], dtype=np.float32)
    columns = {"Label": [0, -2], "logit_0": logits[:, 0], "logit_1": logits[:, 1]}
    found = Scores.from_frame(MAKERS[library](columns), score="energy")
    same = Scores.from_logits([0, -2], logits, score="energy")
    np.testing.assert_array_equal(found.unknown_score, same.unknown_score)
    assert found.meta["score"]["name"] == "energy"
    scores = {"label": [0, -2], "prediction": [0, 0], "unknown_score": np.float32([0.1, 0.2])}
    assert Scores.from_frame(MAKERS[library](scores)).unknown_score.dtype == np.float32


def test_kinds_of_columns_that_pandas_has():
    frame = pd.DataFrame(
        {
            "label": pd.Categorical(["a", "b", "unknown"]),
            "prediction": pd.array(["a", "a", "b"], dtype="string"),
            "unknown_score": pd.array([1, 2, 3], dtype="Int64"),
        },
        index=[7, 7, 7],
    )
    assert Scores.from_frame(frame).labels.tolist() == [0, 1, -2]


@pytest.mark.parametrize(
    ("frame", "message"),
    [
        (pd.DataFrame({"label": [0], "prediction": [0]}), "no column unknown_score"),
        (
            pd.DataFrame({"label": [0, None], "prediction": [0, 0], "unknown_score": [0, 1]}),
            "label is missing in row 1",
        ),
        (
            pd.DataFrame({"label": [0, 1], "prediction": [0, 0], "unknown_score": [0, None]}),
            "unknown_score is .* row 1",
        ),
        (pl.DataFrame({"label": ["a"], "prediction": ["a"], "unknown_score": ["x"]}), "unknown_score is 'x' in row 0"),
        (pl.DataFrame({"label": [], "prediction": [], "unknown_score": []}), "the frame has column names but no rows"),
        (pl.DataFrame({"label": [0], "Label": [0]}), "the frame has the column 'label' twice"),
        ([[1, 2]], "A frame of pandas, polars or pyarrow is needed, got list"),
        (pl.DataFrame({"label": [0]}).lazy(), "got LazyFrame. Collect it first"),
    ],
)
def test_mistakes_are_named(frame, message):
    with pytest.raises(OpenSetError, match=message):
        Scores.from_frame(frame)
