"""Pictures of false detections, drawn into the page itself."""

import base64
import io
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from openset._io.pictures import corners, open_picture, score_text
from openset.present.page.html import section, table, text
from openset.results.table import Cell, Content, Table

_SIDE = 320
_MOST = 24


@dataclass(frozen=True)
class FalseDetection:
    """A detection that should not be there."""

    image: str | Path | None
    """The file; None where it is missing."""
    box: tuple[float, float, float, float]
    """x, y, width, height in pixels of the image."""
    label: str
    """The known class it claims."""
    score: float
    truth: str = ""
    """What is really there, where it is annotated."""
    name: str = ""
    """The image as the annotations call it, to say which one is missing."""


def gallery_section(detections: Sequence[FalseDetection]) -> tuple[str, str | None]:
    """HTML of the highest scored detections, drawn where the image is at hand, and a sentence if some are missing."""
    worst = sorted(detections, key=lambda found: -found.score)[:_MOST]
    if not worst:
        return "", None
    there = [found for found in worst if found.image is not None and Path(found.image).is_file()]
    missing = [found.name or str(found.image) for found in worst if found not in there]
    note = None
    if there and missing:
        verb = "is" if len(missing) == 1 else "are"
        note = f"{len(missing)} of {len(worst)} images of the gallery {verb} missing, {missing[0]} for example"
    rows: list[list[Content]] = [
        [found.name or str(found.image), found.label, Cell(f"{found.score:.4g}", found.score), found.truth or "–"]
        for found in worst
    ]
    listed = Table(["Image", "Claimed", "Score", "Really"], rows, title="The same as a list", align="llrl")
    if not there:
        listed = replace(listed, title="On which images")
    pictures = f'<div class="gallery">{"".join(map(_figure, there))}</div>' if there else ""
    hint = "The detections with the highest scores among those that are wrong, the first one of each image."
    return section("Worst false detections", pictures, table(listed, name="worst"), name="gallery", hint=hint), note


def _figure(found: FalseDetection) -> str:
    wording = f"{found.label}, score {score_text(found.score)}" + (f"; really {found.truth}" if found.truth else "")
    return (
        f'<figure><img src="{_picture(found)}" alt="{text(wording)}"><figcaption>{text(wording)}</figcaption></figure>'
    )


def _picture(found: FalseDetection) -> str:
    """A small JPEG with the box drawn, as an address that needs no file."""
    assert found.image is not None
    picture = open_picture(Path(found.image))
    from PIL import ImageDraw  # there, since the picture was opened

    scale = min(_SIDE / max(picture.size), 1.0)
    picture = picture.resize((max(1, round(picture.width * scale)), max(1, round(picture.height * scale))))
    x, y, width, height = (side * scale for side in found.box)
    left, top, right, bottom = corners((x, y, max(width, 1), max(height, 1)), picture.size, beyond=4)
    pen = ImageDraw.Draw(picture)
    for grow, colour in ((1, "black"), (0, "#FFB000")):  # two colours show on any ground
        pen.rectangle((left - grow, top - grow, right + grow, bottom + grow), outline=colour, width=2)
    out = io.BytesIO()
    picture.save(out, "JPEG", quality=80, subsampling=0)  # full colour, so that thin lines stay sharp
    return "data:image/jpeg;base64," + base64.b64encode(out.getvalue()).decode()
