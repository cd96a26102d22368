"""Lists of a protocol's samples for other programs: `path,label` without a header, as openset-imagenet has them."""

import os
from pathlib import Path
from typing import Any

import numpy as np

from openset._io.atomic import replacing, write_text
from openset._io.csv_cells import csv_text
from openset._io.json_files import write_json
from openset._io.npz import write_npz
from openset.data import Dataset
from openset.data.images import ImageFiles
from openset.errors import OpenSetError, needing
from openset.protocols.parts import Part, Protocol


def export(protocol: Protocol, folder: str | Path, *, images: bool = False) -> dict[str, Any]:
    """Write train.csv, val.csv, test.csv and protocol.json; returns what protocol.json says.

    Image files are listed relative to their common folder. Images without files of their own get their id as path
    (data set / part / row), or with `images` a PNG file in the folder. Feature vectors are also written as NPZ.
    """
    out = Path(folder)
    if out.is_file():
        raise OpenSetError(f"Cannot write into {out}: it is a file; give a folder.")
    root = _common_root(protocol)
    for name, part in protocol.parts.items():
        paths = part.ids.tolist() if root is None else _file_paths(part, root)
        if root is None and images:
            paths = _write_pngs(part, name, out)
        write_text(out / f"{name}.csv", csv_text(zip(paths, part.labels.tolist(), strict=True)))
        if part.sources[0].kind == "features":
            write_npz(out / f"{name}.npz", {"features": part.array(), "labels": part.labels, "ids": part.ids})
    content = {
        "name": protocol.name,
        "split": protocol.split,
        "fingerprint": protocol.fingerprint,
        "paths": "files" if root is not None or images else "ids",
        "root": str(root if root is not None else out) if root is not None or images else None,
        "class_names": list(protocol.class_names),
        "negative_classes": list(protocol.negative_classes),
        "unknown_classes": list(protocol.unknown_classes),
        "samples": {
            name: dict(zip(("known", "negative", "unknown"), part.counts, strict=True))
            for name, part in protocol.parts.items()
        },
        "notes": list(protocol.notes),
    }
    write_json(out / "protocol.json", content)
    return content


def _files_of(data: Dataset) -> ImageFiles | None:
    return data.encoded if isinstance(data.encoded, ImageFiles) else None


def _common_root(protocol: Protocol) -> Path | None:
    """The folder all image files lie in; None if some sample has no file."""
    roots = []
    for data in protocol.train.sources:
        files = _files_of(data)
        if files is None:
            return None
        roots.append(files.root.absolute())
    return Path(os.path.commonpath(roots))


def _file_paths(part: Part, root: Path) -> list[str]:
    prefixes, names = [], []
    for data in part.sources:
        files = _files_of(data)
        assert files is not None
        prefix = files.root.absolute().relative_to(root).as_posix()
        prefixes.append("" if prefix == "." else f"{prefix}/")
        names.append(files.names)
    return [
        prefixes[source] + names[source][row]
        for source, row in zip(part.source.tolist(), part.rows.tolist(), strict=True)
    ]


def _write_pngs(part: Part, name: str, out: Path) -> list[str]:
    with needing("Writing images"):
        from PIL import Image

    if part.sources[0].kind == "features":
        raise OpenSetError("Feature vectors cannot be written as images; leave --images out.")
    if part.shape is None:
        raise OpenSetError("Images of many sizes inside Parquet are not written as PNG; leave --images out.")
    paths = []
    for start in range(0, len(part), 1024):
        block = part.array(np.arange(start, min(start + 1024, len(part))))
        for offset, pixels in enumerate(block):
            path = f"images/{name}/{start + offset:06d}.png"
            with replacing(out / path) as temporary:
                Image.fromarray(pixels[..., 0] if pixels.shape[-1] == 1 else pixels).save(temporary)
            paths.append(path)
    return paths
