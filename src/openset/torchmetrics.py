"""OpenAUC and OSCR as torchmetrics metrics: the same figures, accumulated over batches and processes."""

from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor
from torchmetrics import Metric
from torchmetrics.utilities import dim_zero_cat

from openset.counts import Ties
from openset.curves import oscr_curve
from openset.metrics import open_auc


class _OpenSetMetric(Metric):
    """Keeps labels, predictions and unknown scores of all batches; processes are joined before computing."""

    full_state_update = False
    is_differentiable = False
    higher_is_better = True
    labels: list[Tensor]
    predictions: list[Tensor]
    unknown_score: list[Tensor]

    def __init__(
        self, *, against: str = "all", balanced: bool = False, n_classes: int | None = None, **kwargs: Any
    ) -> None:
        super().__init__(**kwargs)
        self.against, self.balanced, self.n_classes = against, balanced, n_classes
        for name in ("labels", "predictions", "unknown_score"):
            self.add_state(name, default=[], dist_reduce_fx="cat")

    def update(self, labels: Tensor, predictions: Tensor, unknown_score: Tensor) -> None:
        """Add a batch: labels (0 .. K-1 known, -1 negative, -2 unknown), predicted known classes, unknown scores."""
        self.labels.append(labels.detach().flatten())
        self.predictions.append(predictions.detach().flatten())
        self.unknown_score.append(unknown_score.detach().flatten())

    def _arrays(self) -> tuple[np.ndarray[Any, Any], ...]:
        states = (self.labels, self.predictions, self.unknown_score)
        return tuple(_as_numpy(dim_zero_cat(state)) for state in states)


def _as_numpy(values: Tensor) -> np.ndarray[Any, Any]:
    values = values.cpu()
    return np.asarray(values.float() if values.dtype == torch.bfloat16 else values)


class OpenAUC(_OpenSetMetric):
    """Probability that a known is classified right and ranked below an open-set sample; see `openset.metrics.open_auc`.

    >>> metric = OpenAUC()
    >>> metric.update(torch.tensor([0, 1, -2]), torch.tensor([0, 1, 1]), torch.tensor([0.1, 0.4, 0.9]))
    >>> metric.compute()
    tensor(1., dtype=torch.float64)
    """

    def __init__(
        self,
        *,
        ties: Ties = "half",
        against: str = "all",
        balanced: bool = False,
        n_classes: int | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(against=against, balanced=balanced, n_classes=n_classes, **kwargs)
        self.ties: Ties = ties

    def compute(self) -> Tensor:
        """OpenAUC of all batches."""
        value = open_auc(
            *self._arrays(), ties=self.ties, against=self.against, balanced=self.balanced, n_classes=self.n_classes
        )
        return torch.tensor(value, dtype=torch.float64)


class OscrTensors(NamedTuple):
    """An OSCR curve as torchmetrics can hand it on (it refuses frozen dataclasses)."""

    fpr: Tensor
    ccr: Tensor
    thresholds: Tensor


class OSCR(_OpenSetMetric):
    """The open-set classification rate curve of all batches; see `openset.curves.oscr_curve`.

    >>> metric = OSCR()
    >>> metric.update(torch.tensor([0, 1, -2]), torch.tensor([0, 0, 1]), torch.tensor([0.1, 0.4, 0.9]))
    >>> metric.compute().ccr
    tensor([0.0000, 0.5000, 0.5000, 0.5000], dtype=torch.float64)
    """

    def compute(self) -> OscrTensors:
        """OSCR curve of all batches."""
        curve = oscr_curve(*self._arrays(), against=self.against, balanced=self.balanced, n_classes=self.n_classes)
        return OscrTensors(*(torch.from_numpy(part.copy()) for part in (curve.fpr, curve.ccr, curve.thresholds)))
