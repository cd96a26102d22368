"""The data sets known by name: where the hub keeps them, and how their classes are called."""

import json
from dataclasses import dataclass, field
from functools import cached_property
from importlib.resources import files

from openset._core.registry import Registry


@dataclass(frozen=True)
class Card:
    """One data set that users can open by name."""

    name: str
    title: str
    hub: str | None = None
    """Name on the Hugging Face hub; None for data that comes with a library."""
    config: str | None = None
    hub_test: str = "test"
    """What the hub calls the part we test on."""
    test_folder: str = "test"
    """What the original archive calls the folder we test on."""
    large: bool = False
    """Photographs of many sizes, decoded when they are needed."""
    transposed: bool = False
    """The hub's copy has rows and columns exchanged."""
    hub_renames: dict[str, str] = field(default_factory=dict)
    """Classes that the hub's copy calls by another name."""
    gated: bool = False
    """The hub asks for an account and the acceptance of terms."""

    @cached_property
    def titles(self) -> dict[str, str]:
        """Class names in the order of the class ids, each with the words a reader understands."""
        text = files("openset.data").joinpath("classes", f"{self.name}.json").read_text(encoding="utf-8")
        names = json.loads(text)
        return dict(names) if isinstance(names, dict) else {name: name for name in names}

    @property
    def class_names(self) -> tuple[str, ...]:
        """Class names in the order of the class ids."""
        return tuple(self.titles)


CATALOG: Registry[Card] = Registry("data set")

# The hub's TinyImageNet looked some words up in another WordNet ("Chihuahua" became the Mexican state), so that the
# sorted order, and with it every class id, differs from the original archive, to which published splits refer.
_TINY_RENAMES = {
    "n02666347": "n02666196",
    "n03373237": "n02190166",
    "n04465666": "n04465501",
    "n04598010": "n04597913",
    "n07056680": "n04067472",
    "n07646821": "n01855672",
    "n07647870": "n03250847",
    "n07657664": "n07579787",
    "n07975909": "n02206856",
    "n08496334": "n02730930",
    "n08620881": "n03976657",
    "n08742578": "n02085620",
    "n12520864": "n02906734",
    "n13001041": "n07734744",
    "n13652335": "n03804744",
    "n13652994": "n02999410",
    "n13719102": "n01945685",
    "n14991210": "n07747607",
}

for _card in (
    Card("digits", "8x8 handwritten digits that come with scikit-learn"),
    Card("mnist", "MNIST", hub="ylecun/mnist"),
    Card("fashion-mnist", "Fashion-MNIST", hub="zalando-datasets/fashion_mnist"),
    Card("emnist-letters", "EMNIST letters", hub="tanganke/emnist_letters", transposed=True),
    Card("svhn", "Street View House Numbers", hub="ufldl-stanford/svhn", config="cropped_digits"),
    Card("cifar10", "CIFAR10", hub="uoft-cs/cifar10"),
    Card("cifar100", "CIFAR100", hub="uoft-cs/cifar100"),
    Card(
        "tinyimagenet",
        "TinyImageNet",
        hub="zh-plus/tiny-imagenet",
        hub_test="valid",
        test_folder="val",
        hub_renames=_TINY_RENAMES,
    ),
    Card("cub", "Caltech-UCSD Birds 200-2011", hub="Donghyun99/CUB-200-2011", large=True),
    Card(
        "imagenet",
        "ImageNet (ILSVRC 2012)",
        hub="ILSVRC/imagenet-1k",
        hub_test="validation",
        test_folder="val",
        large=True,
        gated=True,
    ),
):
    CATALOG.add(_card.name, _card)
