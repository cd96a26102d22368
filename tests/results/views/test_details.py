import numpy as np
import pytest

from openset.intervals import clopper_pearson
from openset.metrics import open_set_confusion_matrix
from openset.results.views import class_rates, details_at
from openset.scores import Scores


@pytest.mark.parametrize("against", ["all", "negative", "hard"])
def test_counts_are_those_of_the_confusion_matrix(make_scores, against):
    scores = make_scores(decimals=1, groups=True)
    thresholds = np.array([-np.inf, -1.0, 0.0, 0.5, 1.2, 9.0])
    found = details_at(scores, thresholds, against=against)
    for place, threshold in enumerate(thresholds):
        matrix = open_set_confusion_matrix(
            scores.labels,
            scores.predictions,
            scores.unknown_score,
            threshold=threshold,
            open_classes=scores.open_classes,
            against=against,
            groups=scores.groups,
            n_classes=4,
        )
        assert np.array_equal(found.matrix[place], matrix.counts)
        assert found.open_names == matrix.rows[4:]
        assert np.array_equal(found.right[place], np.diag(matrix.counts[:4, :4]))
        assert np.array_equal(found.accepted[place], matrix.counts[:4, :4].sum(axis=1))
        assert np.array_equal(found.intruders[place], matrix.counts[4:, :4].sum(axis=0))
        passed = {slip.open_class: slip for slip in matrix.accepted_open_classes()}
        for row, name in enumerate(found.open_names):
            assert found.open_accepted[place, row] == (passed[name].accepted if name in passed else 0)
            assert found.taken[place, row] == (passed[name].most if name in passed else 0)
            taken_for = found.taken_for[place, row]
            assert (str(taken_for) if taken_for >= 0 else None) == (passed[name].taken_for if name in passed else None)


def test_beyond_fifty_classes_there_is_no_matrix(make_scores):
    assert details_at(make_scores(n_classes=51), [0.0]).matrix is None
    assert details_at(make_scores(n_classes=50), [0.0]).matrix is not None


def test_classes_without_samples_are_left_out_of_class_rates():
    scores = Scores([0, 2, -2], [0, 2, 0], [0.1, 0.9, 0.5], class_names=["a", "b", "c"])
    found = class_rates(scores, 0.5)
    assert found.names == ("a", "c")
    assert found.ccr.tolist() == [1.0, 0.0]
    assert found.accuracy.tolist() == [1.0, 1.0]
    expected = [clopper_pearson(round(share * n), n) for share, n in zip(found.ccr, found.total, strict=True)]
    assert found.low.tolist() == [one.low for one in expected]  # as of every other fraction
    assert found.high.tolist() == [one.high for one in expected]
