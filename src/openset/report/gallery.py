"""Pictures of false detections, drawn into the page itself."""

import base64
import io
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from openset.errors import OpenSetError
from openset.report.html import section, text

_SIDE = 320
_MOST = 24


@dataclass(frozen=True)
class FalseDetection:
    """A detection that should not be there."""

    image: str | Path
    box: tuple[float, float, float, float]
    """x, y, width, height in pixels of the image."""
    label: str
    """The known class it claims."""
    score: float
    truth: str = ""
    """What is really there, where it is annotated."""


def gallery_section(detections: Sequence[FalseDetection]) -> tuple[str, str | None]:
    """HTML of the highest scored detections with their boxes, and a sentence if some of the images are missing."""
    worst = sorted(detections, key=lambda found: -found.score)[:_MOST]
    if not worst:
        return "", None
    missing = [found for found in worst if not Path(found.image).is_file()]
    if len(missing) == len(worst):
        raise OpenSetError(f"None of the {len(worst)} images of the gallery is there, {worst[0].image} for example.")
    shown = "".join(_figure(found) for found in worst if Path(found.image).is_file())
    note = None
    if missing:
        verb = "is" if len(missing) == 1 else "are"
        note = f"{len(missing)} of {len(worst)} images of the gallery {verb} missing, {missing[0].image} for example."
    hint = "The detections with the highest scores among those that are wrong."
    html = section("Worst false detections", f'<div class="gallery">{shown}</div>', name="gallery", hint=hint)
    return html, note


def _figure(found: FalseDetection) -> str:
    said = f"{found.label}, score {found.score:.2f}" + (f"; really {found.truth}" if found.truth else "")
    return f'<figure><img src="{_picture(found)}" alt="{text(said)}"><figcaption>{text(said)}</figcaption></figure>'


def _picture(found: FalseDetection) -> str:
    """A small JPEG with the box drawn, as an address that needs no file."""
    from PIL import Image, ImageDraw, UnidentifiedImageError

    try:
        with Image.open(found.image) as opened:
            picture = opened.convert("RGB")
    except (UnidentifiedImageError, OSError) as error:
        raise OpenSetError(f"{found.image} is not a readable image.") from error
    scale = min(_SIDE / max(picture.size), 1.0)
    picture = picture.resize((max(1, round(picture.width * scale)), max(1, round(picture.height * scale))))
    x, y, width, height = (side * scale for side in found.box)
    pen = ImageDraw.Draw(picture)
    for grow, colour in ((1, "black"), (0, "#FFB000")):  # two colours show on any ground
        pen.rectangle(
            (x - grow, y - grow, x + max(width, 1) + grow, y + max(height, 1) + grow), outline=colour, width=2
        )
    out = io.BytesIO()
    picture.save(out, "JPEG", quality=80)
    return "data:image/jpeg;base64," + base64.b64encode(out.getvalue()).decode()
