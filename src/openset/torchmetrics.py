"""OpenAUC and OSCR as torchmetrics metrics: the same values, accumulated over batches and processes."""

from typing import Any, NamedTuple

import numpy as np

from openset.errors import needing

with needing("openset.torchmetrics"):
    import torch
    from torch import Tensor
    from torchmetrics import Metric
    from torchmetrics.utilities import dim_zero_cat

from openset._core.checks import check_lengths, open_mask
from openset._core.decisions import Ties
from openset.curves import oscr_curve
from openset.metrics import open_auc

Array = np.ndarray[Any, Any]


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
        # One type for all that is kept, exact for classes and for scores of any precision. A process that saw no batch
        # sends an empty tensor of the metric's type, which must be the type of what the others send.
        self.set_dtype(torch.float64)
        for name in ("labels", "predictions", "unknown_score"):
            self.add_state(name, default=[], dist_reduce_fx="cat")

    def update(self, labels: Tensor, predictions: Tensor, unknown_score: Tensor) -> None:
        """Add a batch: labels (0 .. K-1 known, -1 negative, -2 unknown), predicted known classes, unknown scores."""
        batch: dict[str, Any] = {
            name: _as_doubles(part)
            for name, part in (("labels", labels), ("predictions", predictions), ("unknown_score", unknown_score))
        }
        check_lengths(**batch)
        for name, part in batch.items():
            getattr(self, name).append(part)

    def forward(self, labels: Tensor, predictions: Tensor, unknown_score: Tensor) -> Any:
        """Add a batch; returns its own value, NaN or empty where it lacks knowns or open-set samples."""
        if self.dist_sync_on_step:
            return super().forward(labels, predictions, unknown_score)
        # Not the inherited way: that computes on the batch alone in place of the state, which an error there destroys.
        self.update(labels, predictions, unknown_score)
        batch = tuple(state[-1].cpu().numpy() for state in (self.labels, self.predictions, self.unknown_score))
        both = (batch[0] >= 0).any() and open_mask(batch[0], self.against).any()
        self._forward_cache = self._value(*batch) if both else self._undefined()
        return self._forward_cache

    def compute(self) -> Any:
        """The value of all batches."""
        states = (self.labels, self.predictions, self.unknown_score)
        return self._value(*(dim_zero_cat(state).cpu().numpy() for state in states))

    def _value(self, labels: Array, predictions: Array, unknown_score: Array) -> Any:
        raise NotImplementedError

    def _undefined(self) -> Any:
        raise NotImplementedError


def _as_doubles(values: Tensor) -> Tensor:
    values = values.detach().flatten()
    # Apple's GPUs have no 64-bit floats.
    return (values.cpu() if values.device.type == "mps" else values).double()


class OpenAUC(_OpenSetMetric):
    """Probability that a known is correct and ranked below an open-set sample; see `openset.metrics.open_auc`.

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

    def _value(self, labels: Array, predictions: Array, unknown_score: Array) -> Tensor:
        options: dict[str, Any] = {"against": self.against, "balanced": self.balanced, "n_classes": self.n_classes}
        return torch.tensor(
            open_auc(labels, predictions, unknown_score, ties=self.ties, **options), dtype=torch.float64
        )

    def _undefined(self) -> Tensor:
        return torch.tensor(torch.nan, dtype=torch.float64)


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

    def _value(self, labels: Array, predictions: Array, unknown_score: Array) -> OscrTensors:
        options: dict[str, Any] = {"against": self.against, "balanced": self.balanced, "n_classes": self.n_classes}
        curve = oscr_curve(labels, predictions, unknown_score, **options)
        return OscrTensors(*(torch.from_numpy(part.copy()) for part in (curve.fpr, curve.ccr, curve.thresholds)))

    def _undefined(self) -> OscrTensors:
        return OscrTensors(*(torch.empty(0, dtype=torch.float64) for _ in OscrTensors._fields))
