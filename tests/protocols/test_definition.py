import pytest

from openset.errors import OpenSetError
from openset.protocols.definition import RandomRoles, Source, parse


def read(**content):
    return parse(content, name="birds", where="birds.yaml")


BOMB: list = ["a"]  # a text of kilobytes can name a list whose text would fill the memory
for _ in range(6):
    BOMB = [BOMB] * 10


def test_lists_of_classes():
    made = read(data="photos", known=["owl", 3], negative=["jay"], unknown=["car"])
    roles = made.splits[0]
    assert roles.known == Source("photos", ("owl", 3))
    assert roles.negative == (Source("photos", ("jay",)),)
    assert roles.unknown == (Source("photos", ("car",)),)
    assert (made.name, made.validation, made.test) == ("birds", 0.1, 0.2)


def test_the_rest_is_unknown_or_known():
    assert read(data="photos", known=["owl"]).splits[0].unknown == (Source("photos", None),)
    assert read(data="photos", unknown=["owl"]).splits[0].known == Source("photos", None)


def test_groups_and_other_data():
    made = read(data="photos", known=["owl"], unknown={"near": ["jay"], "far": {"data": "cifar100"}})
    assert made.splits[0].unknown == (Source("photos", ("jay",), "near"), Source("cifar100", None, "far"))
    assert made.needs == ("photos", "cifar100")
    one = read(data="photos", known=["owl"], unknown={"data": "svhn", "classes": [1]})
    assert one.splits[0].unknown == (Source("svhn", (1,)),)


def test_one_note_needs_no_list():
    assert parse({"data": "photos", "known": ["owl"], "notes": "a pilot"}, name="p", where="p").notes == ("a pilot",)


def test_random_roles():
    assert read(data="photos", random={"known": 6, "splits": 5}).splits == RandomRoles("photos", 6, 0, 5, 0)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ({"known": ["owl"]}, "the field 'data' is missing"),
        ({"data": "photos"}, "say which classes are known or which are unknown"),
        ({"data": "photos", "knowns": ["owl"]}, r"there is no field 'knowns'\. Did you mean 'known'"),
        ({"data": "photos", "known": "owl"}, "'known' must be a list of class names, got 'owl'"),
        ({"data": "photos", "known": []}, "'known' must be a list of class names"),
        ({"data": "photos", "known": ["owl", False]}, "holds False, which is no class name. Put it in quotes"),
        ({"data": "photos", "known": ["owl"], "unknown": {}}, "'unknown' has no groups"),
        ({"data": "photos", "known": ["owl"], "unknown": {"far": {"classes": ["a"]}}}, "needs a list of classes, or"),
        (
            {"data": "photos", "known": ["owl"], "unknown": {"near": ["jay"], "all": ["car"]}},
            "a group of 'unknown' cannot be called 'all', which has a meaning of its own; rename it, for example to",
        ),
        ({"data": "photos", "known": ["owl"], "negative": {"unknown": ["a"]}}, "cannot be called 'unknown'"),
        ({"data": "photos", "splits": [{"known": ["owl"], "unknown": {"negative": ["a"]}}]}, "called 'negative'"),
        (
            {"data": "photos", "known": ["owl"], "unknown": {"far": {"data": "x", "class": []}}},
            "Did you mean 'classes'",
        ),
        (
            {"data": "photos", "known": ["owl"], "validation": 20},
            r"'validation' must be in \(0, 1\), got 20. Did .* 0.2",
        ),
        ({"data": "photos", "known": ["owl"], "notes": 5}, "'notes' must be a text or a list of texts, got 5"),
        ({"data": "photos", "known": ["owl"], "notes": [["a"]]}, "'notes' must be a text or a list of texts"),
        ({"data": "photos", "known": ["owl"], "superclasses": [1]}, "'superclasses' must name lists of classes, got"),
        ({"data": "photos", "known": ["owl"], "superclasses": {"a": 5}}, "'superclasses' must name lists of classes"),
        ({"data": "photos", "known": ["owl"], "published_samples": 7}, "'published_samples' must give 3 numbers"),
        ({"data": "photos", "known": ["owl"], "published_samples": {"test": [1, 2]}}, "must give 3 numbers"),
        ({"data": "photos", "known": ["owl"], "published_samples": {"test": [1, 2, "x"]}}, "must give 3 numbers"),
        ({"data": "photos", "known": [BOMB]}, r"'known' holds \[.*, which is no class name"),
        ({"data": "photos", "random": BOMB}, "write 'random: "),
        ({"data": "photos", "known": ["owl"], "test": "many"}, "'test' must be a fraction such as 0.1, got 'many'"),
        ({"data": "photos", "known": ["owl"], "random": {"known": 2}}, "either 'random' or 'known'"),
        ({"data": "photos", "random": {"known": 2}, "unknown": {"far": {"data": "x"}}}, "either 'random' or 'known'"),
        ({"data": "photos", "random": {"known": 2}, "negative": ["jay"]}, "either 'random' or 'known'"),
        ({"data": "photos", "splits": [{"known": ["owl"]}], "random": {"known": 2}}, "either 'splits' or 'random'"),
        ({"data": "photos", "random": 6}, "write 'random: {known: 6, splits: 5, seed: 0}'"),
        ({"data": "photos", "random": {"known": "six"}}, "needs a whole number from 1 up as 'known', got 'six'"),
        ({"data": "photos", "random": {"known": 2, "sed": 1}}, "Did you mean 'seed'"),
        ({"data": "photos", "splits": []}, "'splits' must be a list"),
        ({"data": "photos", "splits": [["owl"]]}, "split 0 must have fields such as 'known:'"),
        ({"data": "photos", "splits": [{"known": ["a"]}, {"known": ["b"], "x": 1}]}, "split 1: there is no field 'x'"),
    ],
)
def test_a_bad_field_is_named(content, message):
    with pytest.raises(OpenSetError, match=message) as caught:
        read(**content)
    assert str(caught.value).startswith("birds.yaml")
    assert len(str(caught.value)) < 500


def test_something_that_has_no_fields_is_refused():
    with pytest.raises(OpenSetError, match="expected fields such as 'data:' and 'known:', found list"):
        parse(["owl"], name="birds", where="birds.yaml")
