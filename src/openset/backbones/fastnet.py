"""A small network that trains quickly on a CPU."""

from torch import nn

from openset.backbones._base import BACKBONES, Backbone, GlobalMean


@BACKBONES.register("fastnet")
class FastNet(Backbone):
    """Four convolutions, halving the image twice; `width` scales the number of channels."""

    title = "Small and fast on a CPU"

    def __init__(self, shape: tuple[int, ...], n_outputs: int, *, width: int = 32) -> None:
        super().__init__(shape, n_outputs)
        stride = 2 if min(shape[1:]) > 16 else 1  # tiny images keep their pixels
        self.n_features = 4 * width
        self.stages = nn.ModuleList(
            [
                _layer(shape[0], width, kernel=5, stride=stride),
                _layer(width, 2 * width),
                _layer(2 * width, 4 * width, stride=2),
                nn.Sequential(_layer(4 * width, 4 * width), GlobalMean()),
            ]
        )


def _layer(before: int, after: int, *, kernel: int = 3, stride: int = 1) -> nn.Sequential:
    return nn.Sequential(
        nn.Conv2d(before, after, kernel, stride=stride, padding=kernel // 2, bias=False),
        nn.BatchNorm2d(after),
        nn.ReLU(),
    )
