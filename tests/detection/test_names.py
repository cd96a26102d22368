"""Class names across data sets."""

import numpy as np
import pytest

from openset.detection.read.names import Names, is_unknown, plain, read_similar, similar_classes
from openset.errors import OpenSetError

VOC = [
    "aeroplane",
    "bicycle",
    "bird",
    "boat",
    "bottle",
    "bus",
    "car",
    "cat",
    "chair",
    "cow",
    "diningtable",
    "dog",
    "horse",
    "motorbike",
    "person",
    "pottedplant",
    "sheep",
    "sofa",
    "train",
    "tvmonitor",
]
COCO_NAMES = {
    "airplane": "aeroplane",
    "motorcycle": "motorbike",
    "couch": "sofa",
    "dining table": "diningtable",
    "potted plant": "pottedplant",
    "tv": "tvmonitor",
}


def test_voc_names_in_coco():
    for coco, voc in COCO_NAMES.items():
        assert plain(coco) == plain(voc)
    assert len({plain(name) for name in VOC}) == 20


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("tv monitor", "TVMonitor", True),
        ("motor-bike", "motor_bike", True),
        ("motor-bike", "Motorcycle", True),
        ("c#", "c++", False),
        ("c#", "c", False),
        ("-", "_", False),
    ],
)
def test_blanks_hyphens_underscores_and_case_do_not_count_but_other_signs_do(one, other, same):
    assert (plain(one) == plain(other)) == same


def test_the_very_name_comes_before_one_that_means_the_same():
    names = Names(["motor-bike", "motorbike", "c#", "c++"], "file.json")
    assert [names.find(name) for name in ("motor-bike", "motorbike", "C#", "c++", "c")] == [0, 1, 2, 3, None]
    with pytest.raises(OpenSetError, match=r"'Motor Bike' may be 'motor-bike' or 'motorbike' of file\.json"):
        names.find("Motor Bike")


def test_the_word_unknown_may_stand_in_brackets():
    assert all(map(is_unknown, ("unknown", "<Unknown>", "unknown_object", "[unknowns]")))
    assert not is_unknown("unknown dog")


def test_similar_sets_of_voc_are_the_published_ones():
    table = similar_classes(VOC)
    pairs = set()
    for group in (
        "bird cat cow dog horse person sheep",
        "aeroplane boat bus car train bicycle motorbike",
        "chair diningtable sofa",
        "aeroplane bird",
    ):
        words = group.split()
        pairs |= {(a, b) for a in words for b in words if a != b}
    assert {(VOC[i], VOC[j]) for i, j in zip(*np.nonzero(table), strict=True)} == pairs


def test_similar_sets_know_coco_names():
    names = ["elephant", "zebra", "fork", "dining table", "couch"]
    table = similar_classes(names)
    assert table[0, 1]
    assert table[3, 4]
    assert not table[0, 2]


def test_similar_sets_from_a_file(tmp_path):
    file = tmp_path / "similar.json"
    file.write_text('[["a", "b"]]')
    assert read_similar(file, ["a", "b", "c"]) == [["a", "b"]]
    file.write_text('[["aa", "b"]]')
    with pytest.raises(OpenSetError, match="no known class 'aa'"):
        read_similar(file, ["a", "b", "c"])
    file.write_text('{"a": "b"}')
    with pytest.raises(OpenSetError, match="list of lists"):
        read_similar(file, ["a", "b", "c"])
