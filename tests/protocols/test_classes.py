import pytest

from openset.errors import OpenSetError
from openset.protocols.classes import class_lists
from openset.protocols.definition import parse

ANIMALS = ("bat", "cat", "cow", "dog", "eel", "fox")


def lists(split=0, **content):
    definition = parse({"data": "zoo", **content}, name="mine", where="mine.yaml")
    return class_lists(definition, split, lambda data: ANIMALS if data == "zoo" else ("ant", "bee"))


def test_names_and_numbers_may_be_mixed():
    made = lists(known=["fox", 0], negative=["cow"])
    assert made.known.classes == ("fox", "bat")
    assert made.negative[0].classes == ("cow",)
    assert made.unknown[0].classes == ("cat", "dog", "eel")


def test_known_may_be_the_rest():
    assert lists(unknown=["cat", "cow"]).known.classes == ("bat", "dog", "eel", "fox")


def test_all_classes_of_another_data_set():
    made = lists(known=["cat"], unknown={"zoo": ["dog"], "insects": {"data": "insects"}})
    assert [(members.group, members.classes) for members in made.unknown] == [
        ("zoo", ("dog",)),
        ("insects", ("ant", "bee")),
    ]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ({"known": ["cat"], "unknown": ["cat"]}, "mine: class 'cat' of zoo is both known and unknown"),
        ({"known": ["cat"], "negative": ["dog"], "unknown": ["dog"]}, "'dog' of zoo is both negative and unknown"),
        ({"known": ["cat"], "unknown": {"a": ["dog"], "b": ["dog"]}}, r"both unknown \(a\) and unknown \(b\)"),
        ({"known": ["cat", "cat"]}, "class 'cat' of zoo is listed twice as known"),
        ({"known": ["cat", 1]}, "class 'cat' of zoo is listed twice as known"),
        ({"known": ["cta"]}, r"zoo has no class 'cta' \(known\)\. Did you mean 'cat'"),
        ({"known": [6]}, "known class 6 does not exist: zoo has classes 0 to 5"),
        ({"known": list(ANIMALS)}, "no class of zoo is left to be unknown"),
        ({"random": {"known": 6}}, "6 known and 0 negative classes leave no unknown one among the 6 of zoo"),
    ],
)
def test_a_bad_class_is_named(content, message):
    with pytest.raises(OpenSetError, match=message):
        lists(**content)


def test_random_roles_are_the_same_everywhere_and_differ_by_split_and_seed():
    draw = {"known": 3, "negative": 1, "splits": 4, "seed": 0}
    made = [lists(split, random=draw) for split in range(4)]
    assert made[0].known.classes == ("cat", "cow", "bat")
    assert len({one.known.classes for one in made}) > 1
    assert lists(random={**draw, "seed": 1}).known.classes != made[0].known.classes
    for one in made:
        assert sorted(name for members in one for name in members.classes) == list(ANIMALS)
        assert one.counts == (3, 1, 2)


def test_words_may_stand_for_codes():
    definition = parse({"data": "imagenet", "known": ["Chihuahua"], "unknown": ["pug"]}, name="m", where="m")
    from openset.data import CATALOG

    assert class_lists(definition, 0, lambda data: CATALOG[data].class_names).known.classes == ("n02085620",)
