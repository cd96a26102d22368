"""The OpenAUC loss in a plain PyTorch loop: two networks trained alike, one with it and one without."""

import numpy as np
import torch
from sklearn.datasets import load_digits
from torch import Tensor, nn

from openset import Scores, compare, evaluate
from openset.methods import OpenAUCLoss

KNOWN = 6  # the digits 0 to 5; 6 to 9 are never seen in training


def train(criterion: nn.Module, images: Tensor, labels: Tensor, epochs: int) -> nn.Module:
    """A network trained on known digits alone."""
    torch.manual_seed(0)
    network = nn.Sequential(nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, KNOWN))
    optimizer = torch.optim.SGD(network.parameters(), lr=0.05, momentum=0.9)
    for _ in range(epochs):
        for rows in torch.randperm(len(labels)).split(64):
            optimizer.zero_grad()
            criterion(network(images[rows]), labels[rows]).backward()
            optimizer.step()
    return network


def main(epochs: int = 20) -> None:
    """Train on half of the digits 0 to 5, test on the other half and on all of 6 to 9."""
    images, digits = load_digits(return_X_y=True)
    images, digits = torch.tensor(images / 16, dtype=torch.float32), torch.tensor(digits)
    known = digits < KNOWN
    training = known & (torch.arange(len(digits)) % 2 == 0)
    labels = torch.where(known, digits, -2)[~training].numpy()
    scores = {}
    for name, criterion in (("cross-entropy", nn.CrossEntropyLoss()), ("OpenAUC", OpenAUCLoss(weight=0.1))):
        network = train(criterion, images[training], digits[training], epochs)
        with torch.no_grad():
            scores[name] = Scores.from_logits(labels, np.asarray(network(images[~training])), score="max_logit")
        result = evaluate(scores[name]).find("open_auc")
        print(f"{name}: OpenAUC {result.value:.3f} [{result.low:.3f}, {result.high:.3f}]")
    both = compare(scores["OpenAUC"], scores["cross-entropy"])
    print(f"difference {both.difference.value:+.3f} [{both.difference.low:+.3f}, {both.difference.high:+.3f}]")


if __name__ == "__main__":
    main()
