"""Which detectors are evaluated, and which of their classes belong together."""

import gzip
import json
from types import SimpleNamespace

import pytest

from openset.detection.measure.errors import Confusion
from openset.reproduction.detectors import HIDDEN, data_of, limits_of
from openset.reproduction.elephant import family_counts
from openset.reproduction.options import Detector, Options

BOX = {"bbox": [0, 0, 9, 9]}
TRUTH = {
    "images": [{"id": 1}, {"id": 2}],
    "categories": [{"id": 1, "name": "car"}, {"id": 2, "name": "cat"}],
    "annotations": [{"image_id": 1, "category_id": 1, **BOX}, {"image_id": 2, "category_id": 2, **BOX}],
}


def test_the_split_of_other_data_is_not_taken(tmp_path, options):
    """Two data roots and one place for what is made of them."""
    for root, n in (("a", 1), ("b", 5)):
        place = tmp_path / root / "detection"
        place.mkdir(parents=True)
        rows = [{"image_id": 1, "category_id": 1, "score": 0.5, **BOX}] * n
        for name, content in (("voc2007_test", TRUTH), ("voc2007_test_yolov2", rows)):
            (place / f"{name}.json.gz").write_bytes(gzip.compress(json.dumps(content).encode()))
        found = data_of(options(scale="cpu", data_root=str(tmp_path / root)), hidden=("cat",))
        assert len(found[HIDDEN].known_found) == n


@pytest.mark.parametrize("unknown", ["truck", "Truck"])
@pytest.mark.parametrize("known", ["aeroplane", "airplane", "Aeroplane"])
def test_families_know_a_class_by_all_its_names(known, unknown):
    """5 of 6 detections on the unknown object claim one of its family."""
    table = Confusion(0.3, 1.0, (known, "cow"), (known, "cow", unknown), 2, ((0, 0, 5), (0, 0, 1)))
    assert family_counts(SimpleNamespace(confusion=table)) == (5, 6, pytest.approx(5 / 6))


def test_names_of_two_words_have_a_family_too():
    table = Confusion(0.3, 1.0, ("dining table", "couch"), ("dining table", "couch", "bed"), 2, ((0, 0, 2), (0, 0, 3)))
    assert family_counts(SimpleNamespace(confusion=table))[:2] == (5, 5)


def test_given_detectors_are_real_at_every_scale(tmp_path):
    given = {"mine": Detector(*(tmp_path / f"{number}.json" for number in range(4)))}
    for scale in ("smoke", "cpu", "paper"):
        assert limits_of(Options(scale=scale, detectors=given))[0].startswith("Evaluated from the given results")
    assert limits_of(Options(scale="smoke"))[0].startswith("The detectors are simulated")
