import pytest

from openset.data import CATALOG
from openset.errors import OpenSetError

COUNTS = {
    "digits": 10, "mnist": 10, "fashion-mnist": 10, "emnist-letters": 26, "svhn": 10, "cifar10": 10, "cifar100": 100,
    "tinyimagenet": 200, "cub": 200, "imagenet": 1000,
}  # fmt: skip


def test_every_data_set_has_its_number_of_distinct_classes():
    assert {name: len(set(card.class_names)) for name, card in CATALOG.items()} == COUNTS


@pytest.mark.parametrize("name", ["tinyimagenet", "imagenet", "cub", "cifar100"])
def test_class_ids_are_the_rank_of_the_sorted_names(name):
    names = CATALOG[name].class_names
    assert list(names) == sorted(names)


def test_the_hub_names_of_tinyimagenet_lead_to_the_original_ones():
    card = CATALOG["tinyimagenet"]
    assert set(card.hub_renames.values()) <= set(card.class_names)
    assert not set(card.hub_renames) & set(card.class_names)
    assert len(set(card.hub_renames.values())) == len(card.hub_renames)


def test_codes_have_words():
    assert CATALOG["imagenet"].titles["n02085620"] == "Chihuahua"
    assert CATALOG["cub"].titles["001.Black_footed_Albatross"] == "Black footed Albatross"


def test_a_misspelt_data_set_gets_a_suggestion():
    with pytest.raises(OpenSetError, match="Did you mean 'cifar10'"):
        CATALOG["cifar_10"]
