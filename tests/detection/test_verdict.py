"""The verdict's sentence says what was counted, whichever way the Wilderness Impact pools the classes."""

import pytest

from detection_sets import make_found, make_truth
from openset.detection import evaluate_open_set
from openset.detection.verdict import verdict
from openset.present.page import detection_page

BOX = [0, 0, 9, 9]


def lopsided(n_wild, **options):
    """Every one of 9 a and 1 b is found; each second wild image, up to four of them, shows a false b."""
    kinds = "aaaaaaaaab"
    known = make_truth([(i, kind, BOX) for i, kind in enumerate(kinds)], n_images=10)
    known_found = make_found([(i, kind, BOX, 0.5) for i, kind in enumerate(kinds)])
    wild = make_truth([], n_images=n_wild, classes=("elk",), source="wild")
    wild_found = make_found([(i, "b", BOX, 0.9) for i in range(0, min(n_wild, 8), 2)])
    return evaluate_open_set(known, known_found, wild, wild_found, recalls=[0.3], bootstrap=0, **options)


@pytest.mark.parametrize("variant", ["paper", "macro", "official"])
@pytest.mark.parametrize("ratios", [None, [2.0]])
def test_the_precision_with_wild_images_is_counted(variant, ratios):
    """10 right and, on the first 10 of 20 wild images, 4 false: 10/14."""
    said = verdict(lopsided(20, variant=variant, ratios=ratios))
    assert "the precision of 1.000 becomes 0.714 when every known image comes with one wild image; 1,000" in said
    assert "raise 200 false detections." in said


@pytest.mark.parametrize("variant", ["paper", "macro", "official"])
def test_with_fewer_wild_images_it_is_projected_from_all_of_them(variant):
    """3 false detections on 6 wild images are 5 on 10: 10/15."""
    said = verdict(lopsided(6, variant=variant))
    assert "the precision of 1.000 becomes 0.667 when" in said
    assert "one wild image (projected from ratio 0.6); 1,000 wild images raise 500" in said


@pytest.mark.parametrize("variant", ["paper", "macro"])
def test_the_page_counts_wrong_detections_too(variant):
    """Ratios .5 and 1 add 3 and 4 wrong detections to the 10 accepted."""
    page = detection_page("x", lopsided(10, variant=variant, ratios=[0.5, 1.0]))
    assert "wild images add 35 wrong detections on average to every 100" in page
    assert f"({variant} variant)" in page
