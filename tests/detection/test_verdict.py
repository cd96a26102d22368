"""The verdict says what was counted, whichever way the Wilderness Impact pools the classes, and names what is lost."""

import pytest

from detection_sets import make_found, make_truth, pencil_case
from openset.detection import evaluate_open_set
from openset.detection.verdict import headline, main_sources, verdict
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
    """10 correct and, on 10 of 20 wild images on average, 2 false: 10/12."""
    printed = str(verdict(lopsided(20, variant=variant, ratios=ratios)))
    assert "the precision of 1.000 becomes 0.833 when every known image comes with one wild image. 1,000" in printed
    assert "raise 200 false detections [" in printed
    assert printed.startswith("strongly affected by unknown objects.")


@pytest.mark.parametrize("variant", ["paper", "macro", "official"])
def test_with_fewer_wild_images_it_is_projected_from_all_of_them(variant):
    """3 false detections on 6 wild images are 5 on 10: 10/15."""
    printed = str(verdict(lopsided(6, variant=variant)))
    assert "the precision of 1.000 becomes 0.667 when" in printed
    assert "one wild image (projected from ratio 0.6). 1,000 wild images raise 500" in printed


def test_the_page_has_the_same_sentences():
    result = lopsided(10, ratios=[0.5, 1.0])
    page = detection_page("x", result)
    first, *others = verdict(result).sentences
    assert f'<p class="lead">{first[0].upper()}{first[1:]}</p><p>{" ".join(others)}</p>' in page


def test_lost_classes_are_named_first():
    result = evaluate_open_set(*pencil_case(), recalls=[0.5], bootstrap=0)
    judged = verdict(result)
    assert judged.sentences[0] == (
        "not usable as it is: with a mean average precision of 0.283 it finds too little of what it knows."
    )
    assert judged.sentences[1] == (
        "incomplete: 1 of 2 classes reach recall 0.5 and the results are over those; lost: b."
    )
    assert judged.rank == (1, 1, 3)


def test_nonsense_is_never_hardly_affected():
    """Boxes beside the objects, nothing on wild images: no word of praise."""
    known = make_truth([(i, "a", BOX) for i in range(20)], n_images=20)
    found = make_found([*((i, "a", [50, 50, 9, 9], 0.9) for i in range(19)), (19, "a", BOX, 0.1)])
    wild = make_truth([], n_images=20, classes=("elk",), source="wild")
    judged = verdict(evaluate_open_set(known, found, wild, make_found([]), recalls=[0.05], bootstrap=0))
    assert judged.sentences[0].startswith("not usable as it is")
    assert judged.rank[0] == 1


def test_a_recall_that_no_class_reaches_leaves_the_others_standing():
    result = evaluate_open_set(*pencil_case(), recalls=[0.9, 0.5], bootstrap=0)
    assert [point.recall for point in result.operating] == [0.5]
    assert result.lost_recalls == (0.9,)
    assert "no class reaches recall 0.9, so nothing is reported there" in result.notes
    assert "No class reaches recall 0.9." in verdict(result).sentences


def test_classes_lost_at_another_recall_are_named_too():
    known = make_truth([(0, "a", BOX), (1, "a", BOX), (2, "b", BOX), (3, "b", BOX)], n_images=4)
    found = make_found([(0, "a", BOX, 0.9), (1, "a", BOX, 0.8), (2, "b", BOX, 0.9)])
    wild = make_truth([], n_images=4, classes=("elk",), source="wild")
    result = evaluate_open_set(known, found, wild, make_found([]), recalls=[0.3, 0.8], bootstrap=0)
    printed = str(verdict(result))
    assert printed.startswith("hardly affected")
    assert "At recall 0.8 only 1 of 2 classes are left; lost: b." in printed


def many_classes(wild_kinds):
    """Six classes, each with one object that is found, and false detections of the given kinds on a wild image each."""
    kinds = "abcdef"
    known = make_truth([(i, kind, BOX) for i, kind in enumerate(kinds)], n_images=6, classes=tuple(kinds))
    known_found = make_found([(i, kind, BOX, 0.5) for i, kind in enumerate(kinds)], classes=tuple(kinds))
    wild = make_truth([], n_images=12, classes=("elk",), source="wild")
    wild_found = make_found([(i, kind, BOX, 0.9) for i, kind in enumerate(wild_kinds)], classes=tuple(kinds))
    return headline(evaluate_open_set(known, known_found, wild, wild_found, recalls=[0.3], bootstrap=0))


def test_classes_that_make_most_false_detections_are_named():
    assert main_sources(many_classes("bbbbeeaf")) == (
        "At recall 0.3 one class makes 50% of the 8 false detections on wild images: b."
    )
    assert main_sources(many_classes("bbbeeeaf")) == (
        "At recall 0.3 2 of 6 classes make 75% of the 8 false detections on wild images: e and b."
    )
    assert main_sources(many_classes("abcdef")) == ""
    assert main_sources(many_classes("")) == ""


def test_notes_say_what_so_few_wild_images_can_show():
    """Three false detections on four images: 15.4 events would tell the rate to within half of it."""
    known, found, wild, wild_found = pencil_case()
    [note] = [
        one for one in evaluate_open_set(known, found, wild, wild_found, recalls=[0.5]).notes if "to within" in one
    ]
    assert note.startswith("at recall 0.5 there are 3 false detections on 4 wild images: the rate per 1,000 may be")
    assert "about 21 wild images would tell it to within half of it" in note
    silent = evaluate_open_set(known, found, wild, make_found([]), recalls=[0.5])
    assert any("takes 3,689 wild images without any" in one for one in silent.notes)
