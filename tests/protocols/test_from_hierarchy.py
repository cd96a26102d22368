from fractions import Fraction
from pathlib import Path

import pytest

from openset.data.catalog import CATALOG
from openset.errors import OpenSetError
from openset.protocols import PROTOCOLS
from openset.protocols.from_hierarchy import make_protocol, parse_division
from openset.protocols.hierarchy import Hierarchy, read_hierarchy

TREE = """class,parent,name
animal,,
dog,animal,
cat,animal,
hunting dog,dog,
beagle,hunting dog,Beagle
basset,hunting dog,Basset
setter,hunting dog,
pug,dog,
tabby,cat,
car,,
van,car,
truck,car,
"""
CLASSES = ["beagle", "basset", "setter", "pug", "tabby", "van", "truck"]
WORDNET = Path("/usr/share/wordnet")


@pytest.fixture
def tree(tmp_path):
    (tmp_path / "tree.csv").write_text(TREE)
    return read_hierarchy(tmp_path / "tree.csv")


def test_the_nearest_named_parent_gives_the_role(tree):
    made = make_protocol(
        CLASSES, tree, parents={"known": ["dog"], "negative": ["cat"], "unknown": ["car", "hunting dog"]}
    )
    assert made.classes == {
        "known": ("pug",),
        "negative": ("tabby",),
        "unknown": ("basset", "beagle", "setter", "truck", "van"),
    }
    assert made.superclasses["hunting dog"] == ("basset", "beagle", "setter")


def test_a_division_takes_contiguous_parts_of_the_sorted_ids(tree):
    made = make_protocol(
        CLASSES, tree, parents={"unknown": ["car"]}, divisions=[parse_division("hunting dog=known:2,negative:1")]
    )
    assert made.classes == {"known": ("basset", "beagle"), "negative": ("setter",), "unknown": ("truck", "van")}


def test_classes_without_training_samples_are_unknown_or_left_out(tree):
    dogs = [parse_division("dog=known,negative,unknown:0")]
    made = make_protocol(CLASSES, tree, parents={}, divisions=dogs, trained={"basset", "setter"})
    assert made.classes == {"known": ("basset",), "negative": ("setter",), "unknown": ("beagle", "pug")}
    assert made.notes == ()
    made = make_protocol(
        CLASSES, tree, parents={"known": ["hunting dog"], "unknown": ["car"]}, trained={"basset", "setter"}
    )
    assert made.classes["known"] == ("basset", "setter")
    assert made.notes == ("1 classes without training samples are left out.",)
    assert "beagle" not in made.superclasses["hunting dog"]


def test_names_are_found_in_any_case_and_ids_as_they_are(tree):
    assert tree.find("BEAGLE") == "beagle"
    with pytest.raises(OpenSetError, match=r"has no class or parent 'dgo'. Did you mean 'dog'"):
        tree.find("dgo")


def test_two_nodes_of_one_name_are_asked_about():
    tree = Hierarchy({"n1": [], "n2": []}, {"n1": ["crane"], "n2": ["crane"]}, "tree.csv")
    with pytest.raises(OpenSetError, match="'crane' may be n1, n2"):
        tree.find("crane")
    assert tree.find("crane", among={"n2", "n3"}) == "n2"


def test_parents_that_disagree_at_one_distance_are_an_error():
    tree = Hierarchy({"amphibian car": ["car", "boat"], "car": [], "boat": []}, {}, "tree.csv")
    with pytest.raises(OpenSetError, match="is as near to 'car' and 'boat'"):
        make_protocol(["amphibian car"], tree, parents={"known": ["car"], "unknown": ["boat"]})


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("dog", "is not understood"),
        ("=known", "is not understood"),
        ("dog=known,known", "is not understood"),
        ("dog=knwon", "is not understood"),
        ("dog=known:x", "'x' is not a part"),
        ("dog=known:-1", "'-1' is not a part"),
        ("dog=known:0", "all parts are 0"),
    ],
)
def test_divisions_that_cannot_be_read(text, sentence):
    with pytest.raises(OpenSetError, match=sentence):
        parse_division(text)


def test_parts_are_exact_fractions():
    assert parse_division("dog=known:0.1,negative:0.2").shares == {
        "known": Fraction(1, 3),
        "negative": Fraction(2, 3),
    }


@pytest.mark.parametrize(
    ("parents", "sentence"),
    [
        ({}, "Name at least one parent"),
        ({"known": ["dog"]}, "No class is unknown"),
        ({"known": ["dog"], "unknown": ["dog"]}, "named twice"),
        ({"known": ["dog"], "unknown": ["tree top"]}, "No class of the data is below 'tree top'"),
    ],
)
def test_roles_that_make_no_protocol(parents, sentence):
    tree = Hierarchy({"pug": ["dog"], "dog": [], "tree top": []}, {}, "tree.csv")
    with pytest.raises(OpenSetError, match=sentence):
        make_protocol(["pug"], tree, parents=parents)


def test_a_class_that_the_hierarchy_does_not_have(tree):
    with pytest.raises(OpenSetError, match=r"The class 'fox' of the data is not in .*tree.csv"):
        make_protocol(["fox"], tree, parents={"known": ["dog"]})


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        ("class,parent\na,b\nb,c\nc,a\n", "a class is its own ancestor"),
        ("class,above\na,b\n", "has no column 'parent'"),
        ("class,parent\na,b\n,b\n", "row 2: the class is empty"),
    ],
)
def test_hierarchies_that_cannot_be_read(tmp_path, content, sentence):
    (tmp_path / "tree.csv").write_text(content)
    with pytest.raises(OpenSetError, match=sentence):
        read_hierarchy(tmp_path / "tree.csv")


def test_lines_of_wordnet(tmp_path):
    """One line of the licence, then nouns: number, file, kind, words, pointers, meaning."""
    (tmp_path / "data.noun").write_text(
        "  1 licence\n"
        "00001740 03 n 01 entity 0 000 | that which exists\n"
        "02084071 05 n 02 dog 0 domestic_dog 0 002 @ 00001740 n 0000 #m 00001740 n 0000 | a pet\n"
        "02087122 05 n 01 hunting_dog 0 001 @i 02084071 n 0000 | used in hunting\n"
    )
    tree = read_hierarchy(tmp_path)
    assert tree.parents == {"n00001740": [], "n02084071": ["n00001740"], "n02087122": ["n02084071"]}
    assert tree.find("domestic dog") == "n02084071"
    assert tree.distances("n02087122") == {"n02087122": 0, "n02084071": 1, "n00001740": 2}
    assert tree.leaves == ("n02087122",)
    (tmp_path / "data.noun").write_text("00001740 03 n zz entity\n")
    with pytest.raises(OpenSetError, match="line 1: not a line of WordNet"):
        read_hierarchy(tmp_path)


@pytest.mark.skipif(not (WORDNET / "data.noun").is_file(), reason="WordNet 3.0 is not on this machine")
def test_bundled_protocols_come_from_wordnet():
    """P1's dogs, which two breeds of ours exceed, P2's hunting dogs, and the three protocols on TinyImageNet."""
    tree = read_hierarchy(WORDNET)
    names = CATALOG["imagenet"].class_names
    made = make_protocol(names, tree, parents={"known": ["dog"], "unknown": ["motor vehicle"]})
    published = set(PROTOCOLS["imagenet-p1"].splits[0].known.classes)
    assert published < set(made.classes["known"])
    assert len(set(made.classes["known"]) - published) == 2
    whole = PROTOCOLS["tinyimagenet"]
    classes = CATALOG["tinyimagenet"].class_names
    trained = {classes[one] for split in whole.splits for one in split.known.classes}
    assert len(trained) == 80
    for number, parents, divisions in (
        (1, {"known": ["vertebrate"], "negative": ["invertebrate"], "unknown": ["artifact"]}, []),
        (2, {}, ["animal=known,negative,unknown:0"]),
        (3, {}, [f"{one}=known:2,negative:1,unknown:1" for one in ("animal", "artifact", "n00021265")]),
    ):
        made = make_protocol(
            classes, tree, parents=parents, divisions=list(map(parse_division, divisions)), trained=trained
        )
        roles = PROTOCOLS[f"tinyimagenet-p{number}"].splits[0]
        assert made.classes["known"] == roles.known.classes
        assert made.classes["negative"] == roles.negative[0].classes
        assert made.classes["unknown"] == roles.unknown[0].classes
