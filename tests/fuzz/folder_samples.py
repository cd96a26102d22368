"""Folders of small files, and tables of other things than scores: detections, hierarchies, logs over time."""

from pathlib import Path

import numpy as np
import polars as pl

KNOWN = ("cat", "dog")
HIERARCHY = "class,parent,name\ncat,animal,Cat\ndog,animal,Dog\nowl,bird,Owl\nbird,animal,\ncar,thing,Car\nanimal,,\n"


def write_folder_samples(folder: Path) -> None:
    """Rows in several files; detections as VOC, YOLO and comp4 have them; a hierarchy; a log; a metric."""
    _write_parts(folder / "parts")
    _write_voc(folder / "voc", [f"{place:06d}" for place in range(1, 5)], KNOWN)
    _write_voc(folder / "voc_wild", [f"{place:06d}" for place in range(11, 15)], ("zebra",))
    _write_yolo(folder)
    (folder / "hierarchy.csv").write_text(HIERARCHY, encoding="utf-8")
    (folder / "kinds.txt").write_text("cat\ndog\nowl\ncar\n", encoding="utf-8")
    random = np.random.default_rng(6)
    rows = [f"2026-03-{1 + row // 9:02d} {row % 9:02d}:30:00,{row % 3},{random.random():.3f}" for row in range(40)]
    (folder / "log.csv").write_text("seen_at,prediction,unknown_score\n" + "\n".join(rows) + "\n", encoding="utf-8")


def _write_parts(folder: Path) -> None:
    folder.mkdir()
    random = np.random.default_rng(5)
    for part in range(3):
        labels = random.choice([0, 1, 2, 0, 1, 2, -1, -2, -2], 20)
        columns = {
            "label": labels,
            "prediction": random.integers(0, 3, 20),
            "unknown_score": random.normal(size=20) + (labels < 0),
            "group": np.where(labels == -2, random.choice(["near", "far"], 20), ""),
        }
        pl.DataFrame(columns).write_parquet(folder / f"part{part}.parquet", compression="uncompressed")


def _write_voc(folder: Path, images: list[str], classes: tuple[str, ...]) -> None:
    folder.mkdir()
    for place, image in enumerate(images):
        objects = "".join(
            f"<object><name>{name}</name><difficult>0</difficult><bndbox><xmin>{5 + 3 * place}</xmin><ymin>4</ymin>"
            f"<xmax>{30 + 9 * number}</xmax><ymax>{30 + place}</ymax></bndbox></object>"
            for number, name in enumerate(classes)
        )
        text = f"<filename>{image}.png</filename><size><width>100</width><height>80</height></size>{objects}"
        (folder / f"{image}.xml").write_text(f"<annotation>{text}</annotation>", encoding="utf-8")


def _write_yolo(folder: Path) -> None:
    from PIL import Image

    for name in ("comp4", "yolo/labels", "yolo/images", "yolo_found"):
        (folder / name).mkdir(parents=True)
    for number, name in enumerate(KNOWN):
        lines = [
            f"{image:06d} {0.9 - 0.1 * place - 0.03 * number:.2f} {6 + place} 5 {33 + 9 * number} {30 + place}"
            for place, image in enumerate([1, 2, 3, 4, 11, 12, 13, 14])
        ]
        (folder / "comp4" / f"comp4_det_test_{name}.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    for image in (1, 2, 3, 4):
        Image.new("RGB", (100, 80)).save(folder / "yolo" / "images" / f"{image:06d}.png")
        (folder / "yolo" / "labels" / f"{image:06d}.txt").write_text("0 .3 .3 .2 .2\n1 .6 .6 .3 .3\n", encoding="utf-8")
        (folder / "yolo_found" / f"{image:06d}.txt").write_text(
            "0 .3 .3 .2 .2 .9\n1 .6 .5 .3 .3 .8\n", encoding="utf-8"
        )
    (folder / "yolo" / "classes.txt").write_text("cat\ndog\n", encoding="utf-8")
    (folder / "yolo_found" / "classes.txt").write_text("cat\ndog\n", encoding="utf-8")
