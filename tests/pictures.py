"""Small pictures and data sets in the layouts users have, made on the spot."""

import csv
import io
import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import polars as pl
from PIL import Image

from openset.data import CATALOG

SHAPES = {"mnist": (28, 28), "fashion-mnist": (28, 28), "emnist-letters": (28, 28), "tinyimagenet": (64, 64, 3)}


def pixels(seed: int, shape: Sequence[int] = (32, 32, 3)) -> np.ndarray:
    """Noise that differs from seed to seed."""
    return np.random.default_rng(seed).integers(0, 256, shape, dtype=np.uint8)


def encoded(array: np.ndarray, kind: str = "PNG") -> bytes:
    buffer = io.BytesIO()
    Image.fromarray(array).save(buffer, kind)
    return buffer.getvalue()


def read_image(path: Path) -> np.ndarray:
    with Image.open(path) as image:
        return np.asarray(image)


def read_rows(path: Path) -> list[list[str]]:
    with path.open(newline="") as stream:
        return list(csv.reader(stream))


def write_image(path: Path, seed: int = 0, shape: Sequence[int] = (120, 100, 3)) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(encoded(pixels(seed, shape), "JPEG" if path.suffix.lower() in {".jpg", ".jpeg"} else "PNG"))
    return path


def write_parquet(path: Path, images: Sequence[bytes | None], labels: Sequence[object], label: str = "label") -> Path:
    """The columns that Hugging Face writes: image (struct of bytes and path) and label."""
    path.parent.mkdir(parents=True, exist_ok=True)
    kind = pl.Struct({"bytes": pl.Binary, "path": pl.String})
    cells = pl.Series("image", [{"bytes": image, "path": None} for image in images], dtype=kind)
    pl.DataFrame([cells, pl.Series(label, labels)]).write_parquet(path)
    return path


def write_small(root: Path, name: str, train: int = 4, test: int = 2) -> None:
    """`<root>/<name>/{train,test}.parquet` with a few images of every class."""
    shape = SHAPES.get(name, (32, 32, 3))
    classes = len(CATALOG[name].class_names)
    for part, count in (("train", train), ("test", test)):
        labels = [label for label in range(classes) for _ in range(count)]
        images = [encoded(pixels(2 * row + (part == "test"), shape)) for row in range(len(labels))]
        write_parquet(root / name / f"{part}.parquet", images, labels)


def write_photos(folder: Path, count: int, start: int = 0) -> None:
    """Photos of many sizes, such as IMG_0.jpg."""
    for number in range(start, start + count):
        write_image(folder / f"IMG_{number}.jpg", number, (100 + number % 7, 140, 3))


def write_cub(root: Path, train: int = 3, test: int = 2) -> None:
    """CUB's own layout below `<root>/cub/CUB_200_2011`."""
    folder = root / "cub" / "CUB_200_2011"
    lines: dict[str, list[str]] = {"images": [], "image_class_labels": [], "train_test_split": []}
    key = 0
    for label, name in enumerate(CATALOG["cub"].class_names, start=1):
        content = encoded(pixels(label, (100 + label % 5, 110, 3)), "JPEG")
        (folder / "images" / name).mkdir(parents=True)
        for number in range(train + test):
            key += 1
            (folder / "images" / name / f"bird_{number}.jpg").write_bytes(content)
            lines["images"].append(f"{key} {name}/bird_{number}.jpg")
            lines["image_class_labels"].append(f"{key} {label}")
            lines["train_test_split"].append(f"{key} {int(number < train)}")
    for file, rows in lines.items():
        (folder / f"{file}.txt").write_text("\n".join(rows) + "\n")


def write_imagenet(folder: Path, classes: Sequence[str], train: int = 5, val: int = 2) -> None:
    """`train/<wnid>/` and `val/<wnid>/` with tiny JPEG files."""
    for label, name in enumerate(classes):
        content = encoded(pixels(label, (12, 16, 3)), "JPEG")
        for part, count in (("train", train), ("val", val)):
            (folder / part / name).mkdir(parents=True)
            for number in range(count):
                (folder / part / name / f"{name}_{part}_{number}.JPEG").write_bytes(content)


def imagenet_classes() -> list[str]:
    """All classes that P1, P2 or P3 mention."""
    lists = Path(__file__).parents[1] / "src" / "openset" / "protocols" / "lists"
    roles = [json.loads((lists / f"imagenet-p{number}.json").read_text()) for number in (1, 2, 3)]
    return sorted({name for one in roles for role in ("known", "negative", "unknown") for name in one[role]})
