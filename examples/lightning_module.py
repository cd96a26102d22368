"""OpenAUC while a Lightning module trains, with the torchmetrics metric; needs pip install pytorch-lightning."""

import pytorch_lightning as lightning
import torch
from sklearn.datasets import load_digits
from torch import Tensor, nn
from torch.utils.data import DataLoader, TensorDataset

from openset.torchmetrics import OpenAUC

KNOWN = 6


class Classifier(lightning.LightningModule):
    """Knows the digits 0 to 5; validation also shows 6 to 9, labelled -2."""

    def __init__(self) -> None:
        super().__init__()
        self.network = nn.Sequential(nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, KNOWN))
        self.open_auc = OpenAUC()

    def training_step(self, batch: tuple[Tensor, Tensor], _: int) -> Tensor:
        """Cross-entropy on known digits."""
        images, labels = batch
        return nn.functional.cross_entropy(self.network(images), labels)

    def validation_step(self, batch: tuple[Tensor, Tensor], _: int) -> None:
        """The unknown score is the negated largest logit."""
        images, labels = batch
        largest, predictions = self.network(images).max(dim=1)
        self.open_auc.update(labels, predictions, -largest)

    def on_validation_epoch_end(self) -> None:
        """One value over all batches and processes."""
        self.log("open_auc", self.open_auc.compute().float(), prog_bar=True)
        self.open_auc.reset()

    def configure_optimizers(self) -> torch.optim.Optimizer:
        """Any will do."""
        return torch.optim.Adam(self.parameters(), lr=1e-3)


def main(epochs: int = 5) -> float:
    """Train, and return the last OpenAUC."""
    images, digits = load_digits(return_X_y=True)
    images, digits = torch.tensor(images / 16, dtype=torch.float32), torch.tensor(digits)
    training = (digits < KNOWN) & (torch.arange(len(digits)) % 2 == 0)
    labels = torch.where(digits < KNOWN, digits, -2)
    trainer = lightning.Trainer(
        max_epochs=epochs,
        accelerator="cpu",
        logger=False,
        enable_checkpointing=False,
        enable_progress_bar=False,
        enable_model_summary=False,
        num_sanity_val_steps=0,
    )
    trainer.fit(
        Classifier(),
        DataLoader(TensorDataset(images[training], digits[training]), batch_size=64, shuffle=True),
        DataLoader(TensorDataset(images[~training], labels[~training]), batch_size=256),
    )
    value = float(trainer.callback_metrics["open_auc"])
    print(f"OpenAUC after {epochs} epochs: {value:.3f}")
    return value


if __name__ == "__main__":
    main()
