"""The shipped class lists against what the papers publish."""

import hashlib
import json

import pytest

from openset.data import CATALOG
from openset.protocols import PROTOCOLS
from openset.protocols.build import definition_notes
from openset.protocols.classes import class_lists

MNIST = [[2, 4, 5, 9, 8, 3], [3, 2, 6, 9, 4, 0], [5, 8, 3, 2, 4, 6], [3, 7, 8, 4, 0, 5], [6, 3, 4, 9, 8, 2]]
CIFAR10 = [[0, 6, 4, 9, 1, 7], [7, 6, 4, 9, 0, 1], [1, 5, 7, 3, 9, 4], [8, 6, 1, 9, 0, 7], [2, 4, 1, 7, 9, 6]]


def lists(name, split=0):
    return class_lists(PROTOCOLS[name], split, lambda data: CATALOG[data].class_names)


def ids(members):
    names = CATALOG[members.data].class_names
    return [names.index(name) for name in members.classes]


def test_published_splits_of_mnist_and_cifar10():
    assert [ids(lists("mnist", split).known) for split in range(5)] == MNIST
    assert [ids(lists("cifar10", split).known) for split in range(5)] == CIFAR10


def test_the_label_of_a_known_class_is_its_position_in_the_list():
    assert lists("cifar10").known.classes[:3] == ("airplane", "frog", "deer")


@pytest.mark.parametrize(
    ("name", "counts"),
    [
        ("mnist", (6, 0, 4)),
        ("svhn", (6, 0, 4)),
        ("cifar10", (6, 0, 4)),
        ("cifar+10", (4, 0, 10)),
        ("cifar+50", (4, 0, 50)),
        ("tinyimagenet", (20, 0, 180)),
        ("cub", (100, 0, 100)),
        ("mnist-letters", (10, 10, 12)),
        ("digits", (6, 2, 2)),
        ("fashion-mnist", (6, 0, 4)),
        ("imagenet-p1", (116, 67, 166)),
        ("imagenet-p2", (30, 31, 55)),
        ("imagenet-p3", (151, 97, 164)),
        ("tinyimagenet-p1", (15, 11, 118)),
        ("tinyimagenet-p2", (13, 13, 33)),
        ("tinyimagenet-p3", (37, 18, 132)),
    ],
)
def test_numbers_of_classes_in_every_split(name, counts):
    for split in range(PROTOCOLS[name].n_splits):
        assert lists(name, split).counts == counts


def digest(content):
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()[:32]


def test_every_number_of_the_published_splits():
    """The digest was taken from the published lists, not from ours; a single changed class changes it."""
    content = {name: [ids(lists(name, split).known) for split in range(5)] for name in ("mnist", "svhn", "cifar10")}
    content["tinyimagenet"] = [ids(lists("tinyimagenet", split).known) for split in range(5)]
    content["cifar+n_known"] = [ids(lists("cifar+10", split).known) for split in range(5)]
    assert content["cifar+n_known"] == [ids(lists("cifar+50", split).known) for split in range(5)]
    for extra in (10, 50):
        content[f"cifar+{extra}_unknown"] = [ids(lists(f"cifar+{extra}", split).unknown[0]) for split in range(5)]
    cub = lists("cub")
    content["cub"] = {
        "known": ids(cub.known),
        "unknown": {members.group: ids(members) for members in cub.unknown},
    }
    assert digest(content) == "cd5033ac624e9a67e060409a5a7e9542"


def test_every_class_and_name_of_the_imagenet_protocols():
    """Likewise, in label order and with the first name of each class."""
    titles = CATALOG["imagenet"].titles
    content = {
        f"p{number}": {
            members.role: [[name, titles[name]] for name in members.classes] for members in lists(f"imagenet-p{number}")
        }
        for number in (1, 2, 3)
    }
    assert digest(content) == "edb6a78d55c60e684d379b4acb54404d"


def test_cub_has_three_groups_of_unknowns():
    assert [(members.group, len(members.classes)) for members in lists("cub").unknown] == [
        ("easy", 32),
        ("medium", 34),
        ("hard", 34),
    ]


def test_letters_that_look_like_digits_are_left_out():
    here = lists("mnist-letters")
    assert "".join(here.negative[0].classes) == "abcdefhjkm"
    assert "".join(here.unknown[0].classes) == "npqrstuvwxyz"


@pytest.mark.parametrize("number", [1, 2, 3])
def test_imagenet_labels_follow_the_sorted_wnids_and_roles_are_disjoint(number):
    here = list(lists(f"imagenet-p{number}"))
    assert all(list(members.classes) == sorted(members.classes) for members in here)
    everyone = [name for members in here for name in members.classes]
    assert len(everyone) == len(set(everyone))
    assert set(everyone) <= set(CATALOG["imagenet"].class_names)


@pytest.mark.parametrize("number", [1, 2, 3])
def test_superclasses_cover_every_class_once(number):
    definition = PROTOCOLS[f"imagenet-p{number}"]
    members = [name for names in definition.superclasses.values() for name in names]
    assert sorted(members) == sorted(name for members in lists(definition.name) for name in members.classes)


def test_p3_shares_each_superclass_out_by_the_rule_of_the_paper():
    """Within the 13 mixed superclasses: every second class known; of the others, every third place unknown."""
    here = lists("imagenet-p3")
    known, negative, unknown = (set(members.classes) for members in here)
    mixed = list(PROTOCOLS["imagenet-p3"].superclasses.items())[:13]
    assert [len(names) for _, names in mixed] == [116, 52, 27, 21, 16, 13, 10, 8, 7, 7, 7, 6, 6]
    for _, names in mixed:
        for place, name in enumerate(sorted(names)):
            assert name in (known if place % 2 == 0 else unknown if place % 3 == 0 else negative)


@pytest.mark.parametrize(
    ("name", "text"),
    [("svhn", "splits 0 = 1 have"), ("cifar10", "splits 0 = 1 have"), ("cifar+10", "splits 1 = 2 have")],
)
def test_published_duplicates_are_kept_and_mentioned(name, text):
    assert any(text in note for note in definition_notes(PROTOCOLS[name]))


def test_protocols_without_duplicates_mention_none():
    assert not any("same known classes" in note for note in definition_notes(PROTOCOLS["mnist"]))


def test_what_table_1_of_the_imagenet_paper_leaves_unsaid_is_said():
    assert "20 of the 67 are primates" in PROTOCOLS["imagenet-p1"].notes[0]
    assert "8 of the 55 are toy dogs" in PROTOCOLS["imagenet-p2"].notes[0]
    assert len(PROTOCOLS["imagenet-p1"].superclasses["primate"]) == 20
    assert len(PROTOCOLS["imagenet-p2"].superclasses["toy dog"]) == 8
