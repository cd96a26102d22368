"""A contact sheet: a few samples of every role, so that a person sees what a protocol is about."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from openset._core.checks import NEGATIVE, UNKNOWN
from openset._io.atomic import replacing
from openset.data.images import fitted
from openset.errors import OpenSetError, needing
from openset.protocols.parts import Part, Protocol

if TYPE_CHECKING:
    from PIL.Image import Image

_TILE, _GAP, _CAPTION, _HEADING = 96, 8, 16, 26
_COLUMNS = 10
_COLOURS = {"known": (32, 112, 64), "negative": (176, 108, 16), "unknown": (160, 40, 48)}


class _Strip(NamedTuple):
    role: str
    heading: str
    part: Part
    positions: NDArray[np.int64]


def contact_sheet(protocol: Protocol, path: str | Path) -> None:
    """Write a picture with one strip of samples per role and group, each sample of another class if possible."""
    with needing("A contact sheet"):
        from PIL import Image, ImageDraw, ImageFont

    if protocol.train.sources[0].kind == "features":
        raise OpenSetError(f"{protocol.name} holds feature vectors; there is nothing to see on a contact sheet.")
    strips = _strips(protocol)
    row_height = _HEADING + _TILE + _CAPTION + _GAP
    width = _GAP + _COLUMNS * (_TILE + _GAP)
    title_height = 34
    sheet = Image.new("RGB", (width, title_height + len(strips) * row_height + _GAP), "white")
    draw = ImageDraw.Draw(sheet)
    heading, caption = ImageFont.load_default(15), ImageFont.load_default(11)
    draw.text((_GAP, 9), f"{protocol.name}, split {protocol.split}", fill="black", font=ImageFont.load_default(18))
    for number, strip in enumerate(strips):
        top = title_height + number * row_height
        draw.text((_GAP, top + 4), strip.heading, fill=_COLOURS[strip.role], font=heading)
        for column, position in enumerate(strip.positions.tolist()):
            left = _GAP + column * (_TILE + _GAP)
            sheet.paste(_tile(strip.part, position), (left, top + _HEADING))
            words = _shortened(_class_of(protocol, strip.part, position), caption.getlength)
            draw.text((left, top + _HEADING + _TILE + 1), words, fill=(60, 60, 60), font=caption)
    with replacing(path) as temporary:
        sheet.save(temporary, format=_format(Path(path)))


def _format(path: Path) -> str:
    from PIL import Image

    known = Image.registered_extensions().get(path.suffix.lower())
    if known not in {"PNG", "JPEG", "WEBP"}:
        raise OpenSetError(f"Cannot write a figure to {path}: use a name that ends in .png, .jpg or .webp.")
    return known


def _strips(protocol: Protocol) -> list[_Strip]:
    strips = [
        _strip("known", f"known: {len(protocol.class_names)} classes", protocol.train, protocol.train.labels >= 0)
    ]
    for role, label, part in (("negative", NEGATIVE, protocol.train), ("unknown", UNKNOWN, protocol.test)):
        chosen = part.labels == label
        groups = np.unique(part.groups[chosen]).tolist() if part.groups is not None and chosen.any() else [""]
        for group in groups if chosen.any() else []:
            here = chosen & (part.groups == group) if part.groups is not None else chosen
            classes = len(np.unique(part.open_classes[here]))
            name = f"{role} ({group})" if group else role
            strips.append(_strip(role, f"{name}: {classes} {'class' if classes == 1 else 'classes'}", part, here))
    return strips


def _strip(role: str, heading: str, part: Part, chosen: NDArray[np.bool_]) -> _Strip:
    """Positions spread over the classes: the first sample of each, then the second, and so on."""
    positions = np.flatnonzero(chosen)
    keys = np.where(part.labels >= 0, part.labels.astype(np.str_), part.open_classes)[positions]
    _, inverse, counts = np.unique(keys, return_inverse=True, return_counts=True)
    order = np.argsort(inverse, kind="stable")
    rank = np.empty(len(positions), dtype=np.int64)
    rank[order] = np.arange(len(positions)) - np.repeat(np.cumsum(counts) - counts, counts)
    first = np.flatnonzero(rank == 0)
    if len(first) > _COLUMNS:
        first = first[np.linspace(0, len(first) - 1, _COLUMNS).astype(int)]
        return _Strip(role, heading, part, positions[first])
    return _Strip(role, heading, part, positions[np.lexsort((inverse, rank))][:_COLUMNS])


def _tile(part: Part, position: int) -> "Image":
    """One sample; small images are enlarged by whole pixels, so that nothing is smoothed away."""
    from PIL import Image

    data, row = part.sources[int(part.source[position])], int(part.rows[position])
    if data.images is None:
        assert data.encoded is not None
        return Image.fromarray(fitted(data.encoded.load(row), (_TILE, _TILE, 3)))
    pixels = data.images[row]
    image = Image.fromarray(pixels[..., 0] if pixels.shape[-1] == 1 else pixels).convert("RGB")
    smooth = max(image.size) > _TILE // 2
    return image.resize((_TILE, _TILE), Image.Resampling.LANCZOS if smooth else Image.Resampling.NEAREST)


def _class_of(protocol: Protocol, part: Part, position: int) -> str:
    label = int(part.labels[position])
    name = protocol.class_names[label] if label >= 0 else str(part.open_classes[position])
    return protocol.titles.get(name, name)


def _shortened(words: str, length: Callable[[str], float]) -> str:
    if length(words) <= _TILE:
        return words
    while words and length(words + "…") > _TILE:
        words = words[:-1]
    return words + "…"
