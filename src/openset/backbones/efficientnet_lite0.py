"""EfficientNet-Lite0 (Tan & Le, 2019, without squeeze-and-excitation): a small network with published weights."""

import re

import torch
from torch import Tensor, nn
from torch.nn import functional as F  # noqa: N812

from openset.backbones._base import BACKBONES, Backbone, GlobalMean

_GROUPS = (
    # kernel, stride, expansion, channels, blocks
    (3, 1, 1, 16, 1),
    (3, 2, 6, 24, 2),
    (5, 2, 6, 40, 2),
    (3, 2, 6, 80, 3),
    (5, 1, 6, 112, 3),
    (5, 2, 6, 192, 4),
    (3, 1, 6, 320, 1),
)
_STEM, _LAST = 32, 1280
_PARTS = {"_expand_conv": "expand.0", "_bn0": "expand.1", "_depthwise_conv": "filter.0", "_bn1": "filter.1"}
_PARTS |= {"_project_conv": "project.0", "_bn2": "project.1"}
_ENDS = {"_conv_stem": "stages.0.0", "_bn0": "stages.0.1", "_conv_head": "stages.7.1", "_bn1": "stages.7.2"}


@BACKBONES.register("efficientnet_lite0")
class EfficientNetLite0(Backbone):
    """1,280 features, 3.4 million parameters, 0.4 billion multiplications at 224 x 224 pixels.

    Made to be started from weights that were trained on ImageNet: `openset pretrained` turns a published file into a
    folder, `pretrained: FOLDER` in a recipe starts from it.
    """

    title = "EfficientNet-Lite0, for photos with pretrained weights"

    def __init__(self, shape: tuple[int, ...], n_outputs: int) -> None:
        super().__init__(shape, n_outputs)
        stages: list[nn.Module] = [nn.Sequential(*_convolution(shape[0], _STEM, 3, stride=2), nn.ReLU6())]
        before = _STEM
        for kernel, stride, expansion, channels, depth in _GROUPS:
            blocks = [
                _Block(before if place == 0 else channels, channels, kernel, stride if place == 0 else 1, expansion)
                for place in range(depth)
            ]
            stages.append(nn.Sequential(*blocks))
            before = channels
        stages[-1] = nn.Sequential(stages[-1], *_convolution(before, _LAST, 1), nn.ReLU6(), GlobalMean())
        self.stages = nn.ModuleList(stages)
        self.n_features = _LAST

    @classmethod
    def own_name(cls, name: str) -> str | None:
        """Published files count the sixteen blocks through; here they are grouped."""
        found = re.fullmatch(r"_blocks\.(\d+)\.(_\w+?)\.(\w+)", name)
        if found is None:
            layer, _, kind = name.partition(".")
            return f"{_ENDS[layer]}.{kind}" if layer in _ENDS else None
        number, group = int(found[1]), 0
        while group < len(_GROUPS) and number >= _GROUPS[group][-1]:
            number, group = number - _GROUPS[group][-1], group + 1
        if group == len(_GROUPS) or found[2] not in _PARTS:
            return None
        place = f"{group + 1}.0" if group + 1 == len(_GROUPS) else str(group + 1)
        return f"stages.{place}.{number}.{_PARTS[found[2]]}.{found[3]}"


class _Block(nn.Module):
    """Widen, filter each channel, narrow; beside a shortcut where the shape stays."""

    def __init__(self, before: int, after: int, kernel: int, stride: int, expansion: int) -> None:
        super().__init__()
        width = expansion * before
        self.expand = nn.Sequential(*_convolution(before, width, 1), nn.ReLU6()) if expansion > 1 else nn.Identity()
        self.filter = nn.Sequential(*_convolution(width, width, kernel, stride=stride, groups=width), nn.ReLU6())
        self.project = nn.Sequential(*_convolution(width, after, 1))
        self.shortcut = stride == 1 and before == after

    def forward(self, values: Tensor) -> Tensor:
        made: Tensor = self.project(self.filter(self.expand(values)))
        return made + values if self.shortcut else made


class _Convolution(nn.Conv2d):
    """Padded as TensorFlow does, where the published weights come from: at the far sides first."""

    def forward(self, values: Tensor) -> Tensor:
        kernel, stride = self.kernel_size[0], self.stride[0]
        height, width = (max((-(-side // stride) - 1) * stride + kernel - side, 0) for side in values.shape[2:])
        padded = F.pad(values, (width // 2, width - width // 2, height // 2, height - height // 2))
        return torch.conv2d(padded, self.weight, None, self.stride, groups=self.groups)


def _convolution(
    before: int, after: int, kernel: int, *, stride: int = 1, groups: int = 1
) -> tuple[nn.Module, nn.Module]:
    layer = _Convolution(before, after, kernel, stride=stride, groups=groups, bias=False)
    nn.init.kaiming_normal_(layer.weight, mode="fan_out", nonlinearity="relu")
    return layer, nn.BatchNorm2d(after, eps=1e-3)
