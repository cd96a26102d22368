"""A callback for Lightning's Trainer that logs OpenAUC and AUROC of the validation data after each epoch."""

import sys
from importlib import import_module
from typing import Any

import numpy as np
import torch

from openset.errors import MissingPackageError, OpenSetError, is_installed
from openset.metrics import auroc, open_auc
from openset.posthoc import Outputs, parse_score, score


def _callback_class() -> Any:
    """`Callback` of the Lightning that the user has imported: both packages have one, and a trainer takes its own."""
    names = ("lightning.pytorch", "pytorch_lightning")
    for name in (*(one for one in names if one in sys.modules), *names):
        if name in sys.modules or is_installed(name.partition(".")[0]):
            return import_module(name).Callback
    raise MissingPackageError("A Lightning callback needs the package lightning: pip install 'lightning'.")


class OpenSetCallback(_callback_class()):  # type: ignore[misc]
    """Logs `val_open_auc` and `val_auroc`, computed over the whole validation part.

    `validation_step` must return a mapping with `logits` (n, K) and `labels` (n,): 0 .. K-1 known, -1 negative, -2
    unknown. `score` is any unknown score of logits. While one of the two kinds is missing, as in the short check before
    training, nothing is logged. With several processes each logs its own part, and Lightning takes the mean.
    """

    def __init__(self, *, score: str = "max_logit", prefix: str = "val_") -> None:
        super().__init__()
        self.spec, self.prefix = parse_score(score), prefix
        if set(self.spec.card.needs) != {"logits"}:
            raise OpenSetError(f"OpenSetCallback: the score '{score}' needs more than logits; use energy, for example.")
        self._batches: list[tuple[Any, Any]] = []

    def on_validation_epoch_start(self, trainer: Any, pl_module: Any) -> None:
        """Forget the batches of the epoch before."""
        self._batches = []

    def on_validation_batch_end(
        self, trainer: Any, pl_module: Any, outputs: Any, batch: Any, batch_idx: int, dataloader_idx: int = 0
    ) -> None:
        """Keep what the step returned."""
        try:
            parts = (outputs["logits"], outputs["labels"])
        except (TypeError, KeyError, IndexError) as error:
            raise OpenSetError(
                "OpenSetCallback: validation_step must return a mapping with 'logits' and 'labels'."
            ) from error
        logits, labels = (torch.as_tensor(one).detach().cpu() for one in parts)
        self._batches.append((logits.float().numpy(), labels.numpy()))

    def on_validation_epoch_end(self, trainer: Any, pl_module: Any) -> None:
        """Log both metric values."""
        if not self._batches:
            return
        logits, labels = (np.concatenate(part) for part in zip(*self._batches, strict=True))
        if not (labels >= 0).any() or not (labels < 0).any():
            return
        unknown = score(Outputs(logits=logits), self.spec)
        best = logits.argmax(axis=1)
        values = {"open_auc": open_auc(labels, best, unknown), "auroc": auroc(labels, unknown)}
        pl_module.log_dict({f"{self.prefix}{name}": value for name, value in values.items()}, sync_dist=True)
