"""The network of the open-set literature for small images."""

from itertools import pairwise

from torch import nn

from openset.backbones._base import BACKBONES, Backbone, GlobalMean
from openset.errors import check_share


@BACKBONES.register("classifier32")
class Classifier32(Backbone):
    """Nine 3 x 3 convolutions in three blocks ("VGG32"); 999,872 parameters with a head of 6 classes, colour images.

    Each block starts with Dropout2d and ends with stride 2; convolutions without bias, batch norm, LeakyReLU 0.2.
    """

    title = "VGG32 of the open-set literature"

    def __init__(self, shape: tuple[int, ...], n_outputs: int, *, dropout: float = 0.2) -> None:
        super().__init__(shape, n_outputs)
        check_share("classifier32", "dropout", dropout, zero=True, one=False)
        widths = [(shape[0], 64, 64, 128), (128, 128, 128, 128), (128, 128, 128, 128)]
        blocks = [_block(block, dropout) for block in widths]
        blocks[-1].append(GlobalMean())
        self.stages = nn.ModuleList(blocks)
        self.n_features = 128
        for module in self.modules():
            if isinstance(module, nn.Conv2d):
                nn.init.normal_(module.weight, 0.0, 0.05)
            elif isinstance(module, nn.BatchNorm2d):
                nn.init.normal_(module.weight, 1.0, 0.02)


def _block(widths: tuple[int, ...], dropout: float) -> nn.Sequential:
    layers: list[nn.Module] = [nn.Dropout2d(dropout)]
    steps = list(pairwise(widths))
    for place, (before, after) in enumerate(steps):
        stride = 2 if place == len(steps) - 1 else 1
        layers += [
            nn.Conv2d(before, after, 3, stride=stride, padding=1, bias=False),
            nn.BatchNorm2d(after),
            nn.LeakyReLU(0.2),
        ]
    return nn.Sequential(*layers)
