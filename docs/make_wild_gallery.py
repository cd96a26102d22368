"""Draw the docs' picture of what a real detector takes unknown things for: python docs/make_wild_gallery.py.

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
            sheet.convert("RGB").save(HERE / "pictures" / "wild-gallery.jpg", quality=82)
    images = {one["id"]: one for one in json.loads(truth.read_text(encoding="utf-8"))["images"]}
    worst = sorted({int(i) for i in found.image}, key=lambda image: -found.score[found.image == image].max())[:N]
    for place in worst:
        one = images[objects.image_ids[place]]
        photograph = one["flickr_url"].rpartition("/")[2].partition("_")[0]
        print(f"COCO {one['id']} (Flickr photograph {photograph}), {one['licence_name']}")


if __name__ == "__main__":
    main()
