"""A small one-stage detector: anchors on a grid, and one of the heads of `openset.detection.adapters.heads`.

It exists for the demo and to compare the paper's families in a form one can read: every cell of a grid predicts, for
each anchor, a box and what its head needs to score the classes. With the head `objectness` it is YOLOv2 in small.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional

from openset.detection.adapters.heads import HEADS, Head
from openset.detection.read.coco import Floats, Ints

STRIDE = 8
ANCHORS = ((20.0, 20.0), (32.0, 32.0))


class SmallYolo(nn.Module):
    """A convolutional network from pictures to (anchors x (4 + outputs of the head)) numbers per cell."""

    def __init__(self, n_classes: int, *, head: str = "objectness", width: int = 16, dropout: float = 0.1) -> None:
        super().__init__()
        self.family: Head = HEADS[head]
        self.n_outputs = 4 + self.family.n_outputs(n_classes)
        channels = [3, width, 2 * width, 4 * width, 4 * width, 4 * width]
        layers: list[nn.Module] = []
        for i, (inside, outside) in enumerate(pairwise(channels)):
            stride = 2 if i < 3 else 1  # three halvings: one cell is 8 pixels wide
            layers += [nn.Conv2d(inside, outside, 3, stride, padding=1, bias=False), nn.BatchNorm2d(outside)]
            layers.append(nn.LeakyReLU(0.1))
        self.body = nn.Sequential(*layers)
        self.dropout = nn.Dropout2d(dropout)
        self.head = nn.Conv2d(channels[-1], len(ANCHORS) * self.n_outputs, 1)

    def forward(self, pictures: Tensor) -> Tensor:
        """Raw predictions, (pictures, rows, columns, anchors, 4 + outputs of the head)."""
        raw = self.head(self.dropout(self.body(pictures)))
        n, _, rows, columns = raw.shape
        return raw.view(n, len(ANCHORS), self.n_outputs, rows, columns).permute(0, 3, 4, 1, 2)


def decode(raw: Tensor) -> Tensor:
    """Boxes (x, y, width, height in pixels) of raw predictions."""
    _, rows, columns, _, _ = raw.shape
    row = torch.arange(rows, device=raw.device).view(1, -1, 1, 1)
    column = torch.arange(columns, device=raw.device).view(1, 1, -1, 1)
    anchors = torch.tensor(ANCHORS, device=raw.device)
    size = anchors * raw[..., 2:4].clamp(max=4).exp()
    x = (raw[..., 0].sigmoid() + column) * STRIDE - size[..., 0] / 2
    y = (raw[..., 1].sigmoid() + row) * STRIDE - size[..., 1] / 2
    return torch.cat([x[..., None], y[..., None], size], dim=-1)


@contextmanager
def one_thread() -> Iterator[None]:
    """This network is so small that several threads mostly wait for one another, above all on a busy machine."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


@dataclass(frozen=True, eq=False)
class Targets:
    """Which cell and anchor answers for which object, and what it should say; one row per object."""

    place: tuple[Tensor, Tensor, Tensor, Tensor]
    """Picture, row, column, anchor."""
    box: Tensor
    label: Tensor


def assign(boxes: Sequence[Floats], classes: Sequence[Ints]) -> Targets:
    """The cell at the centre of an object and the anchor of the most similar shape answer for it."""
    picture = np.repeat(np.arange(len(boxes)), [len(one) for one in boxes])
    box = np.concatenate([np.zeros((0, 4)), *boxes])
    label = np.concatenate([np.zeros(0, dtype=np.int64), *classes])
    anchors = np.array(ANCHORS)
    both = np.minimum(box[:, None, 2:], anchors).prod(axis=2)
    similar = both / (box[:, None, 2:].prod(axis=2) + anchors.prod(axis=1) - both)
    cell = ((box[:, :2] + box[:, 2:] / 2) // STRIDE).astype(np.int64)
    columns = (picture, cell[:, 1], cell[:, 0], similar.argmax(axis=1))
    a, b, c, d = (torch.from_numpy(np.ascontiguousarray(column)) for column in columns)
    return Targets((a, b, c, d), torch.from_numpy(box.astype(np.float32)), torch.from_numpy(label))


def loss(raw: Tensor, targets: Targets, head: Head) -> Tensor:
    """YOLOv2's sum: boxes where an object is, and what the head is to learn everywhere."""
    mine = raw[targets.place]
    overlap = pair_iou(decode(raw)[targets.place].detach(), targets.box)
    anchors = torch.tensor(ANCHORS)[targets.place[3]]
    centre = (targets.box[:, :2] + targets.box[:, 2:] / 2) / STRIDE
    place = functional.mse_loss(mine[:, :2].sigmoid(), centre - centre.floor(), reduction="sum")
    size = functional.mse_loss(mine[:, 2:4], (targets.box[:, 2:] / anchors).clamp(min=1e-3).log(), reduction="sum")
    claims = head.loss(raw[..., 4:], targets.place, targets.label, overlap)
    return (claims + 5 * (place + size)) / max(len(targets.label), 1)


def pair_iou(a: Tensor, b: Tensor) -> Tensor:
    """IoU row by row of boxes x, y, width, height."""
    low = torch.maximum(a[..., :2], b[..., :2])
    high = torch.minimum(a[..., :2] + a[..., 2:], b[..., :2] + b[..., 2:])
    both = (high - low).clamp(min=0).prod(dim=-1)
    return both / (a[..., 2:].prod(dim=-1) + b[..., 2:].prod(dim=-1) - both).clamp(min=1e-9)


@one_thread()
def train(
    pictures: NDArray[np.uint8],
    boxes: Sequence[Floats],
    classes: Sequence[Ints],
    n_classes: int,
    *,
    steps: int,
    head: str = "objectness",
    batch: int = 32,
    seed: int = 0,
    report: Callable[[int, float], None] | None = None,
) -> SmallYolo:
    """Train from scratch with Adam and a falling rate; the same seed gives the same detector."""
    torch.manual_seed(seed)
    random = np.random.default_rng(seed)
    model = SmallYolo(n_classes, head=head)
    optimiser = torch.optim.Adam(model.parameters(), lr=3e-3)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimiser, max_lr=4e-3, total_steps=steps)
    images = torch.from_numpy(pictures)
    model.train()
    for step in range(steps):
        rows = random.integers(len(pictures), size=batch)
        targets = assign([boxes[i] for i in rows], [classes[i] for i in rows])
        value = loss(model(images[rows] / 255), targets, model.family)
        optimiser.zero_grad()
        torch.autograd.backward(value)
        optimiser.step()
        schedule.step()
        if report is not None:
            report(step, float(value.detach()))
    return model.eval()


@one_thread()
@torch.no_grad()
def detect(
    model: SmallYolo,
    pictures: NDArray[np.uint8],
    *,
    min_score: float = 0.01,
    nms: float = 0.45,
    passes: int = 1,
    seed: int | None = None,
    batch: int = 64,
) -> list[tuple[Floats, Ints, Floats, Floats]]:
    """Boxes, classes, scores and background scores of every picture.

    With several `passes`, dropout is on and they are averaged; a `seed` makes them repeat.
    """
    if seed is not None:
        torch.manual_seed(seed)
    model.eval()
    if passes > 1:
        model.dropout.train()
    out = []
    for start in range(0, len(pictures), batch):
        images = torch.from_numpy(pictures[start : start + batch]) / 255
        raw = [model(images) for _ in range(passes)]
        samples = [(decode(one), *model.family.read(one[..., 4:])) for one in raw]
        mean = [torch.stack(part).mean(dim=0) for part in zip(*samples, strict=True)]
        flat = (part.flatten(1, 3) for part in mean)
        out += [_select(b, s, away, min_score, nms) for b, s, away in zip(*flat, strict=True)]
    model.eval()
    return out


def _select(
    box: Tensor, score: Tensor, background: Tensor, min_score: float, nms: float
) -> tuple[Floats, Ints, Floats, Floats]:
    """Detections of one picture after non-maximum suppression within each class."""
    place, label = (score >= min_score).nonzero(as_tuple=True)
    value = score[place, label]
    order = value.argsort(descending=True, stable=True)[:200]
    place, label, value = place[order], label[order], value[order]
    keep = suppress(box[place], label, nms)
    boxes, scores, backgrounds = (
        part[keep].numpy().astype(np.float64) for part in (box[place], value, background[place])
    )
    return boxes, label[keep].numpy(), scores, backgrounds


def suppress(boxes: Tensor, label: Tensor, bar: float) -> Tensor:
    """Rows that survive: none overlaps an earlier survivor of its class by more than `bar` (rows by falling score)."""
    clash = (pair_iou(boxes[:, None], boxes[None]) > bar) & (label[:, None] == label[None])
    alive = torch.ones(len(boxes), dtype=torch.bool)
    for i in range(len(boxes)):
        if alive[i]:
            alive[i + 1 :] &= ~clash[i, i + 1 :]
    return alive.nonzero()[:, 0]
