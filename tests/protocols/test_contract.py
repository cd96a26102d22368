"""What every shipped protocol keeps, in every split: on a tiny copy of its data, and on the real data where it is."""

import numpy as np
import pytest

from openset.data import CATALOG
from openset.errors import OpenSetError
from openset.protocols import PROTOCOLS, load
from openset.protocols.overview import missing_data

CASES = [(name, split) for name, definition in PROTOCOLS.items() for split in range(definition.n_splits)]
NAMES = {
    "digits",
    "mnist",
    "mnist-letters",
    "fashion-mnist",
    "svhn",
    "cifar10",
    "cifar+10",
    "cifar+50",
    "tinyimagenet",
} | {
    "cub",
    "imagenet-p1",
    "imagenet-p2",
    "imagenet-p3",
    "tinyimagenet-p1",
    "tinyimagenet-p2",
    "tinyimagenet-p3",
}


def test_all_promised_protocols_are_there():
    assert set(PROTOCOLS) == NAMES


def check(protocol):
    known, negative, unknown = set(protocol.class_names), set(protocol.negative_classes), set(protocol.unknown_classes)
    assert len(known) == len(protocol.class_names) > 1
    assert unknown
    same_data = len({source.name for source in protocol.test.sources}) == 1
    assert not (known & negative or known & unknown or negative & unknown) or not same_data
    expected = set(range(len(known))) | ({-1} if negative else set())
    assert set(protocol.train.labels.tolist()) == expected
    assert set(protocol.val.labels.tolist()) == expected
    assert set(protocol.test.labels.tolist()) == expected | {-2}
    ids = [name for part in protocol.parts.values() for name in part.ids.tolist()]
    assert len(ids) == len(set(ids))
    for part in protocol.parts.values():
        assert part.labels.dtype == np.int64
        assert (part.open_classes[part.labels >= 0] == "").all()
        assert set(part.open_classes[part.labels == -1].tolist()) <= negative
        if part.groups is not None:
            assert (part.groups[part.labels >= 0] == "").all()
            assert (part.groups[part.labels == -2] != "").all()
        for row in (0, len(part) // 2, len(part) - 1):  # the label is the class of the sample it stands for
            data = part.sources[part.source[row]]
            name = data.class_names[data.labels[part.rows[row]]]
            assert name == (protocol.class_names[part.labels[row]] if part.labels[row] >= 0 else part.open_classes[row])
            assert data.ids[part.rows[row]] == part.ids[row]
    assert set(protocol.test.open_classes[protocol.test.labels == -2].tolist()) == unknown


@pytest.mark.parametrize(("name", "split"), CASES)
def test_on_a_tiny_copy(name, split, synthetic_root):
    protocol = load(name, split=split, data_root=synthetic_root)
    check(protocol)
    assert protocol.fingerprint == load(name, split=split, data_root=synthetic_root).fingerprint
    shape = protocol.test.shape
    positions = [0, len(protocol.test) - 1]
    assert protocol.test.array(positions, size=None if shape else 16).shape == (2, *(shape or (16, 16, 3)))


@pytest.mark.slow
@pytest.mark.parametrize(("name", "split"), CASES)
def test_on_the_real_data(name, split, real_root):
    missing = missing_data(PROTOCOLS[name], real_root)
    if missing:
        pytest.skip(f"not in OPENSET_DATA: {', '.join(missing)}")
    check(load(name, split=split, data_root=real_root))


@pytest.mark.parametrize("name", [name for name in PROTOCOLS if PROTOCOLS[name].n_splits > 1])
def test_every_split_has_a_fingerprint_of_its_own(name, synthetic_root):
    prints = [load(name, split=split, data_root=synthetic_root).fingerprint for split in range(5)]
    assert len(set(prints)) == 5


def test_a_split_that_does_not_exist_is_named():
    with pytest.raises(OpenSetError, match="digits has no split 5: its splits are numbered 0 to 4"):
        load("digits", split=5)


def test_real_numbers_of_samples(real_root):
    cifar = load("cifar10", data_root=real_root)
    assert {name: part.counts for name, part in cifar.parts.items()} == {
        "train": (27000, 0, 0),
        "val": (3000, 0, 0),
        "test": (6000, 0, 4000),
    }
    letters = load("mnist-letters", data_root=real_root)
    assert letters.test.counts == (10000, 4000, 4800)
    assert letters.train.counts[1] + letters.val.counts[1] == 4000


def test_parts_are_views_not_copies(synthetic_root):
    protocol = load("cifar10", data_root=synthetic_root)
    assert isinstance(protocol.train.sources[0].images, np.memmap)
    assert protocol.train.sources[0] is protocol.val.sources[0]


def test_unknown_classes_are_the_rest_of_the_data(synthetic_root):
    protocol = load("cifar10", split=2, data_root=synthetic_root)
    assert set(protocol.class_names) | set(protocol.unknown_classes) == set(CATALOG["cifar10"].class_names)
