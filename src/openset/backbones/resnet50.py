"""ResNet-50 (He et al., 2016, with the stride in the 3 x 3 convolution), written out so that torch alone is enough."""

import torch
from torch import Tensor, nn

from openset.backbones._base import BACKBONES, Backbone, GlobalMean


@BACKBONES.register("resnet50")
class ResNet50(Backbone):
    """50 layers, 2,048 features; 25.6 million parameters with a head of 1,000 classes and bias.

    `two_layers` adds the layer of the ImageNet protocols: 2,048 to as many features as there are logits, with bias, so
    that with the head (without bias) the network has their two last layers.
    """

    title = "ResNet-50"

    def __init__(self, shape: tuple[int, ...], n_outputs: int, *, two_layers: bool = False) -> None:
        super().__init__(shape, n_outputs)
        stem = nn.Sequential(
            nn.Conv2d(shape[0], 64, 7, stride=2, padding=3, bias=False),
            nn.BatchNorm2d(64),
            nn.ReLU(),
            nn.MaxPool2d(3, stride=2, padding=1),
        )
        stages: list[nn.Module] = [stem]
        before = 64
        for width, depth, stride in ((64, 3, 1), (128, 4, 2), (256, 6, 2), (512, 3, 2)):
            blocks = [
                _Bottleneck(before if place == 0 else 4 * width, width, stride if place == 0 else 1)
                for place in range(depth)
            ]
            stages.append(nn.Sequential(*blocks))
            before = 4 * width
        last = [GlobalMean(), nn.Linear(before, n_outputs)] if two_layers else [GlobalMean()]
        stages[-1] = nn.Sequential(stages[-1], *last)
        self.stages = nn.ModuleList(stages)
        self.n_features = n_outputs if two_layers else before
        for module in self.modules():
            if isinstance(module, nn.Conv2d):
                nn.init.kaiming_normal_(module.weight, mode="fan_out", nonlinearity="relu")


class _Bottleneck(nn.Module):
    """1 x 1, 3 x 3, 1 x 1 convolution beside a shortcut."""

    def __init__(self, before: int, width: int, stride: int) -> None:
        super().__init__()
        after = 4 * width
        self.body = nn.Sequential(
            *_conv(before, width, 1), nn.ReLU(), *_conv(width, width, 3, stride), nn.ReLU(), *_conv(width, after, 1)
        )
        same = before == after and stride == 1
        self.shortcut = nn.Identity() if same else nn.Sequential(*_conv(before, after, 1, stride))

    def forward(self, values: Tensor) -> Tensor:
        """Sum of both ways."""
        return torch.relu(self.body(values) + self.shortcut(values))


def _conv(before: int, after: int, kernel: int, stride: int = 1) -> tuple[nn.Module, nn.Module]:
    conv = nn.Conv2d(before, after, kernel, stride=stride, padding=kernel // 2, bias=False)
    return conv, nn.BatchNorm2d(after)
