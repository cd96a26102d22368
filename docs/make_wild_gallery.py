"""Draw what a real detector takes unknown things for, for README and docs: python docs/make_wild_gallery.py.

The photographs are not part of the project. They are read from OPENSET_DATA/wild/gallery (or detection/wild/gallery):
images of COCO whose licence, by COCO's own field, is CC BY 2.0 or CC BY-SA 2.0. The picture is made of them, so it is
under CC BY-SA 2.0, and the credits that this script prints belong beside it.
"""

import json
import os
import tempfile
from pathlib import Path

from PIL import Image

from openset.detection.gallery import draw_gallery
from openset.detection.measure.sets import load_wild

N = 6
HERE = Path(__file__).parent


def first_screen(sheet: Image.Image) -> Image.Image:
    """The README's picture: the elephant of the gallery beside the report with its slider."""
    elephant = sheet.crop((8, 48, 328, 288)).resize((480, 360), Image.Resampling.LANCZOS)
    with Image.open(HERE / "pictures" / "report-light.png") as report:
        page = report.convert("RGB")
    page = page.resize((640, 640 * page.height // page.width), Image.Resampling.LANCZOS)
    made = Image.new("RGB", (480 + 20 + 640, page.height), "white")
    made.paste(elephant, (0, (page.height - 360) // 2))
    made.paste(page, (500, 0))
    return made


def main() -> None:
    """Draw the most confident mistakes and print whose photographs they are."""
    root = Path(os.environ["OPENSET_DATA"])
    wild = next(place for place in (root / "wild", root / "detection" / "wild") if place.is_dir())
    folder = wild / "gallery"
    truth = folder / "gallery_gt.json"
    [results] = folder.glob("gallery_*-*.json")
    known, objects, found = load_wild(wild / "known_gt.json.gz", truth, results)
    with tempfile.TemporaryDirectory() as place:
        drawn = draw_gallery(objects, found, known.class_names, folder / "images", place, n=N)
        with Image.open(drawn.sheet) as sheet:
            plain = sheet.convert("RGB")
        plain.save(HERE / "pictures" / "wild-gallery.jpg", quality=82)
        first_screen(plain).save(HERE / "pictures" / "readme.jpg", quality=85)
    images = {one["id"]: one for one in json.loads(truth.read_text(encoding="utf-8"))["images"]}
    worst = sorted({int(i) for i in found.image}, key=lambda image: -found.score[found.image == image].max())[:N]
    for place in worst:
        one = images[objects.image_ids[place]]
        photograph = one["flickr_url"].rpartition("/")[2].partition("_")[0]
        print(f"COCO {one['id']} (Flickr photograph {photograph}), {one['licence_name']}")


if __name__ == "__main__":
    main()
