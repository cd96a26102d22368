import numpy as np
import pytest

from samples import random_dataset

torch = pytest.importorskip("torch")
pytest.importorskip("torchmetrics")

import distributed_worker  # noqa: E402
from openset.curves import oscr_curve  # noqa: E402
from openset.errors import OpenSetError  # noqa: E402
from openset.metrics import open_auc  # noqa: E402
from openset.torchmetrics import OSCR, OpenAUC  # noqa: E402

DATA = random_dataset(200, decimals=1)
batches = distributed_worker.batches


def test_batches_add_up_to_the_whole():
    metric = OpenAUC()
    for _ in range(2):  # the second round starts anew
        for batch in batches():
            metric.update(*batch)
        assert metric.compute().item() == open_auc(*DATA)
        metric.reset()


@pytest.mark.parametrize("options", [{"ties": "strict"}, {"balanced": True}, {"against": "negative"}])
def test_options_reach_the_metric(options):
    metric = OpenAUC(**options)
    for batch in batches():
        metric.update(*batch)
    assert metric.compute().item() == open_auc(*DATA, **options)


def test_the_curve_is_the_same():
    metric = OSCR()
    for batch in batches():
        metric.update(*batch)
    curve, expected = metric.compute(), oscr_curve(*DATA)
    np.testing.assert_array_equal(curve.fpr, expected.fpr)
    np.testing.assert_array_equal(curve.ccr, expected.ccr)


def test_low_precision_scores_are_accepted():
    metric = OpenAUC()
    labels, predictions, score = (torch.tensor(part) for part in DATA)
    metric.update(labels, predictions, score.to(torch.bfloat16))
    assert metric.compute().item() == open_auc(DATA[0], DATA[1], score.to(torch.bfloat16).float().numpy())


@pytest.mark.slow
@pytest.mark.parametrize("share", ["halves", "all or nothing"])
def test_two_processes_see_the_whole(tmp_path, share):
    with torch.multiprocessing.Manager() as manager:
        results = manager.dict()
        torch.multiprocessing.spawn(distributed_worker.run, args=(str(tmp_path / "meeting"), share, results), nprocs=2)
        found = dict(results)
    expected = open_auc(*DATA)
    assert len(found) == 2
    for value, area in found.values():
        assert value == expected
        assert area == pytest.approx(expected, abs=1e-12)


def test_a_batch_of_knowns_alone_has_no_value_and_loses_nothing():
    metric, curve = OpenAUC(), OSCR()
    for batch in batches():
        for one in (metric, curve):
            one(*batch)
    knowns = [torch.tensor(part) for part in ([0, 1], [0, 0], [0.1, 0.2])]
    assert torch.isnan(metric(*knowns))
    assert torch.isnan(metric._forward_cache)  # what Lightning logs for the step
    assert [len(part) for part in curve(*knowns)] == [0, 0, 0]
    whole = [np.concatenate([part, more]) for part, more in zip(DATA, knowns, strict=True)]
    assert metric.compute().item() == open_auc(*whole)
    np.testing.assert_array_equal(curve.compute().ccr, oscr_curve(*whole).ccr)


def test_the_value_of_a_batch_is_its_own():
    metric = OpenAUC()
    for batch in batches():
        assert metric(*batch).item() == open_auc(*(part.numpy() for part in batch))


def test_a_batch_whose_parts_differ_in_length_is_refused():
    metric = OpenAUC()
    with pytest.raises(OpenSetError, match="labels 3, predictions 2, unknown_score 3"):
        metric.update(torch.tensor([0, 1, -2]), torch.tensor([0, 1]), torch.tensor([0.1, 0.2, 0.3]))
    assert not metric.labels
