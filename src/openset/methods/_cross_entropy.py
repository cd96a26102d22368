"""Cross-entropy with both kinds of label smoothing; the classification part of most methods."""

from typing import Literal

import torch
from torch import Tensor, nn
from torch.nn import functional as F  # noqa: N812

from openset.errors import OpenSetError, check_choice, check_share

Smoothing = Literal["uniform", "others"]


class CrossEntropyLoss(nn.Module):
    """Mean cross-entropy of the known samples; samples with a label below 0 do not count.

    Label smoothing eps comes in two kinds: `uniform` moves eps to all K classes alike (eps / K each, as torch does),
    `others` moves it to the K - 1 wrong classes (eps / (K - 1) each), as the OpenAUC and CE+ recipes do.

    >>> logits, labels = torch.tensor([[2.0, 0.0, 0.0, 0.0]]), torch.tensor([0])
    >>> [round(CrossEntropyLoss(0.9, kind)(logits, labels).item(), 3) for kind in ("uniform", "others")]
    [1.691, 2.141]
    """

    def __init__(self, label_smoothing: float = 0.0, smoothing: Smoothing = "uniform") -> None:
        super().__init__()
        self.label_smoothing = check_share("CrossEntropyLoss", "label_smoothing", label_smoothing, zero=True, one=False)
        self.smoothing = check_choice("CrossEntropyLoss", "smoothing", smoothing, ["uniform", "others"])

    def forward(self, logits: Tensor, labels: Tensor) -> Tensor:
        """The loss of logits (n, K) and labels (n)."""
        return mean_over(self.each(logits, labels), labels >= 0)

    def each(self, logits: Tensor, labels: Tensor) -> Tensor:
        """The loss of every sample; meaningless where the label is below 0."""
        n_classes = logits.shape[1]
        if n_classes < 2 and self.smoothing == "others" and self.label_smoothing:
            raise OpenSetError("Label smoothing over the other classes needs two or more classes.")
        # eps on the wrong classes alone is torch's smoothing with eps K / (K - 1).
        spread = self.label_smoothing * (n_classes / (n_classes - 1) if self.smoothing == "others" else 1.0)
        log_shares = F.log_softmax(logits.float(), dim=1)
        own = -log_shares.gather(1, labels.clamp(min=0)[:, None])[:, 0]
        return own if spread == 0 else (1 - spread) * own - spread * log_shares.mean(dim=1)


def mean_over(values: Tensor, mask: Tensor) -> Tensor:
    """Mean of the chosen values; 0 if there are none."""
    return torch.where(mask, values, 0).sum() / mask.sum().clamp(min=1)
