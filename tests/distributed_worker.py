"""One of two processes that evaluate parts of the same data; a module of its own so that a new process can load it."""

import torch

from openset.curves import OscrCurve
from openset.torchmetrics import OSCR, OpenAUC
from samples import random_dataset


def batches(size=37):
    tensors = [torch.tensor(part) for part in random_dataset(200, decimals=1)]
    return [[part[start : start + size] for part in tensors] for start in range(0, 200, size)]


def run(rank, meeting, share, results):
    """Share "halves" deals the batches out in turn; "all or nothing" gives them all to the first process."""
    # They meet at a file: a port that was free a moment ago may no longer be.
    torch.distributed.init_process_group("gloo", init_method=f"file://{meeting}", rank=rank, world_size=2)
    metric, curve = OpenAUC(), OSCR()
    for batch in batches()[rank::2] if share == "halves" else batches() * (rank == 0):
        metric.update(*batch)
        curve.update(*batch)
    points = curve.compute()
    area = OscrCurve(points.thresholds.numpy(), points.fpr.numpy(), points.ccr.numpy()).area()
    results[rank] = (metric.compute().item(), area)
    torch.distributed.destroy_process_group()
