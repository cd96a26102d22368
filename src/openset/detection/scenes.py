"""Scenes of geometric shapes, drawn from a seed: a detection data set that needs no download.

Known shapes are learnt; unknown shapes appear on wild images only, never beside a known shape and never in training.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import cos, pi, sin
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from openset.detection.read.coco import Floats, Ints
from openset.errors import needing

if TYPE_CHECKING:
    from PIL.Image import Image

KNOWN = ("circle", "square", "triangle", "bar")
UNKNOWN = ("star", "cross", "ring", "heart", "arrow")
SIZE = 96
"""Width and height of a scene, in pixels."""

Points = list[tuple[float, float]]


@dataclass(frozen=True, eq=False)
class Scene:
    """One picture with its shapes."""

    picture: "Image"
    names: tuple[str, ...]
    boxes: Floats


def _ring_of(n: int, turn: float = 0.0, radii: Sequence[float] = (1.0,)) -> Points:
    """`n` points around the centre, at the given radii in turn."""
    angles = [turn + 2 * pi * i / n for i in range(n)]
    return [(radii[i % len(radii)] * cos(angle), radii[i % len(radii)] * sin(angle)) for i, angle in enumerate(angles)]


def _heart() -> Points:
    times = [2 * pi * i / 40 for i in range(40)]
    return [(sin(t) ** 3, -(13 * cos(t) - 5 * cos(2 * t) - 2 * cos(3 * t) - cos(4 * t)) / 16) for t in times]


_OUTLINES: dict[str, Points] = {
    "circle": _ring_of(40),
    "square": _ring_of(4, pi / 4),
    "triangle": _ring_of(3, -pi / 2),
    "bar": [(-1, -0.3), (1, -0.3), (1, 0.3), (-1, 0.3)],
    "star": _ring_of(10, -pi / 2, (1.0, 0.42)),
    "cross": [
        (x, y)
        for x, y in (
            *((-0.33, -1), (0.33, -1), (0.33, -0.33), (1, -0.33), (1, 0.33), (0.33, 0.33)),
            *((0.33, 1), (-0.33, 1), (-0.33, 0.33), (-1, 0.33), (-1, -0.33), (-0.33, -0.33)),
        )
    ],
    "ring": [*_ring_of(40), (1.0, 0.0), *(((0.55 * x), (0.55 * y)) for x, y in [(1.0, 0.0), *_ring_of(40)[::-1]])],
    "heart": _heart(),
    "arrow": [(-1, -0.3), (0.1, -0.3), (0.1, -0.8), (1, 0), (0.1, 0.8), (0.1, 0.3), (-1, 0.3)],
}


def draw_scene(random: np.random.Generator, shapes: Sequence[str], *, most: int = 3) -> Scene:
    """One to `most` shapes that do not overlap, in any colour, size and turn, on a noisy background."""
    with needing("Drawing scenes"):
        from PIL import Image, ImageDraw, ImageFilter

    background = random.integers(0, 256, 3)
    picture = Image.new("RGB", (SIZE, SIZE), tuple(int(value) for value in background))
    pen = ImageDraw.Draw(picture)
    names: list[str] = []
    boxes: list[tuple[float, float, float, float]] = []
    for _ in range(int(random.integers(1, most + 1))):
        for _attempt in range(20):
            name = shapes[int(random.integers(len(shapes)))]
            radius, turn = random.uniform(8, 18), random.uniform(-pi / 9, pi / 9)
            x, y = random.uniform(radius, SIZE - radius, 2)
            points = [
                (x + radius * (u * cos(turn) - v * sin(turn)), y + radius * (u * sin(turn) + v * cos(turn)))
                for u, v in _OUTLINES[name]
            ]
            left, top = (float(np.clip(min(values), 0, SIZE)) for values in zip(*points, strict=True))
            right, bottom = (float(np.clip(max(values), 0, SIZE)) for values in zip(*points, strict=True))
            if all(right < a or left > a + w or bottom < b or top > b + h for a, b, w, h in boxes):
                break
        else:
            continue
        colour = random.integers(0, 256, 3)
        while abs(colour - background).sum() < 180:  # one must be able to see it
            colour = random.integers(0, 256, 3)
        pen.polygon(points, fill=tuple(int(value) for value in colour))
        names.append(name)
        boxes.append((left, top, right - left, bottom - top))
    picture = picture.filter(ImageFilter.GaussianBlur(0.6))
    noise = random.normal(0, random.uniform(2, 14), (SIZE, SIZE, 3))
    noisy = np.clip(np.asarray(picture, dtype=np.float64) + noise, 0, 255).astype(np.uint8)
    return Scene(Image.fromarray(noisy), tuple(names), np.array(boxes).reshape(-1, 4))


def draw_scenes(n: int, shapes: Sequence[str], *, seed: int) -> list[Scene]:
    """`n` scenes; the same seed draws the same scenes."""
    random = np.random.default_rng(seed)
    return [draw_scene(random, shapes) for _ in range(n)]


def pixels(scenes: Sequence[Scene]) -> NDArray[np.uint8]:
    """Pictures as one array of bytes: scenes, channels, rows, columns."""
    return np.stack([np.asarray(scene.picture).transpose(2, 0, 1) for scene in scenes])


def labels(scenes: Sequence[Scene], shapes: Sequence[str]) -> list[Ints]:
    """Class of every shape, scene by scene."""
    return [np.array([shapes.index(name) for name in scene.names], dtype=np.int64) for scene in scenes]


def coco_scenes(scenes: Sequence[Scene], shapes: Sequence[str], *, prefix: str, first_id: int) -> dict[str, Any]:
    """Scenes as COCO ground truth; pictures are named by their kind and number."""
    images: list[dict[str, Any]] = []
    annotations: list[dict[str, Any]] = []
    for i, scene in enumerate(scenes, first_id):
        images.append({"id": i, "file_name": f"{prefix}-{i:05d}.png", "width": SIZE, "height": SIZE})
        for name, box in zip(scene.names, scene.boxes.round(2).tolist(), strict=True):
            entry = {"image_id": i, "category_id": shapes.index(name) + 1, "bbox": box, "area": box[2] * box[3]}
            annotations.append({"id": len(annotations) + 1, "iscrowd": 0, **entry})
    categories = [{"id": i, "name": name} for i, name in enumerate(shapes, 1)]
    return {"images": images, "annotations": annotations, "categories": categories}
