import socket

import numpy as np
import pytest
from samples import random_dataset

torch = pytest.importorskip("torch")
pytest.importorskip("torchmetrics")

import distributed_worker  # noqa: E402

from openset.curves import oscr_curve  # noqa: E402
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


def test_two_processes_see_the_whole():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with torch.multiprocessing.Manager() as manager:
        results = manager.dict()
        torch.multiprocessing.spawn(distributed_worker.run, args=(port, results), nprocs=2)
        found = dict(results)
    expected = open_auc(*DATA)
    assert len(found) == 2
    for value, area in found.values():
        assert value == expected
        assert area == pytest.approx(expected, abs=1e-12)
