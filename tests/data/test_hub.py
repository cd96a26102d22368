import os
import subprocess
import sys
import time

import numpy as np
import pytest

from openset.data import CATALOG, open_dataset, parts_here
from openset.data import hub as hub_module
from openset.data.hub import from_table
from openset.errors import OpenSetError
from pictures import encoded, pixels


def table(names, labels, image="image", label="label", shape=(8, 8)):
    from datasets import ClassLabel, Dataset, Features, Image

    content = [{"bytes": encoded(pixels(seed, shape)), "path": None} for seed in range(len(labels))]
    features = Features({image: Image(), label: ClassLabel(names=names)})
    return Dataset.from_dict({image: content, label: labels}, features=features)


def test_images_and_ids_of_a_table():
    made = table(list(CATALOG["cifar10"].class_names), [3, 9], image="img", shape=(8, 8, 3))
    cells, labels, names = from_table(made, CATALOG["cifar10"], "train")
    assert labels.tolist() == [3, 9]
    assert names == CATALOG["cifar10"].class_names
    assert (np.asarray(cells.load(1)) == pixels(1, (8, 8, 3))).all()


def test_the_fine_labels_of_cifar100_are_used():
    from datasets import ClassLabel

    made = table(list(CATALOG["cifar100"].class_names), [99, 0], image="img", label="fine_label")
    made = made.add_column("coarse_label", [1, 2]).cast_column("coarse_label", ClassLabel(names=["a", "b", "c"]))
    assert from_table(made, CATALOG["cifar100"], "train")[1].tolist() == [99, 0]


def test_tinyimagenet_follows_the_original_class_order():
    card = CATALOG["tinyimagenet"]
    back = {ours: theirs for theirs, ours in card.hub_renames.items()}
    theirs = sorted(back.get(name, name) for name in card.class_names)  # as the hub numbers them
    chihuahua = theirs.index(back["n02085620"])
    _, labels, names = from_table(table(theirs, [chihuahua, 0]), card, "train")
    assert [names[label] for label in labels] == ["n02085620", "n01443537"]
    assert chihuahua != labels[0]  # taking the hub's ids as they are would be wrong


def test_the_letters_of_the_hub_are_turned_upright():
    cells, _, names = from_table(table([chr(65 + n) for n in range(26)], [0, 25]), CATALOG["emnist-letters"], "test")
    assert (np.asarray(cells.load(0)) == pixels(0, (8, 8)).T).all()
    assert names[25] == "z"


def test_the_hub_is_asked_once_and_with_the_right_words(monkeypatch):
    import datasets

    asked = []

    def load_dataset(name, config, split):
        asked.append((name, config, split))
        return table(list(CATALOG["svhn"].class_names), [1, 2], shape=(32, 32, 3))

    monkeypatch.setattr(datasets, "load_dataset", load_dataset)
    monkeypatch.setattr(hub_module, "hub_is_reachable", lambda: True)
    assert parts_here("svhn") == ()
    for _ in range(2):
        data = open_dataset("svhn", "test")
        assert data.images.shape == (2, 32, 32, 3)
        assert data.ids.tolist() == ["svhn/test/0", "svhn/test/1"]
    assert asked == [("ufldl-stanford/svhn", "cropped_digits", "test")]
    assert parts_here("svhn") == ("test",)


def test_large_data_of_the_hub_stays_encoded_and_tests_on_validation(monkeypatch):
    import datasets

    asked = []

    def load_dataset(name, config, split):
        asked.append(split)
        return table([f"word {n}" for n in range(1000)], [999, 1], shape=(120, 130, 3))

    monkeypatch.setattr(datasets, "load_dataset", load_dataset)
    monkeypatch.setattr(hub_module, "hub_is_reachable", lambda: True)
    data = open_dataset("imagenet", "test")
    assert asked == ["validation"]
    assert data.class_names[data.labels[0]] == "n15075141"
    assert data.encoded.load(0).size == (130, 120)


def message_of(code, tmp_path, **environment):
    """What a user sees in a process of his own, with the hub switched off by its own switch."""
    settings = {"HF_HUB_OFFLINE": "1", "HF_HOME": str(tmp_path / "hf"), "OPENSET_CACHE": str(tmp_path / "cache")}
    run = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | settings | environment,
    )
    return run.stdout + run.stderr


def test_without_network_one_sentence_names_data_folder_and_layout(tmp_path):
    code = "from openset.cli import main; main(['protocols', 'export', 'svhn', '--out', 'lists'])"
    text = message_of(code, tmp_path, OPENSET_DATA=str(tmp_path))
    assert len(text.strip().splitlines()) == 1
    assert text.startswith("Error: Street View House Numbers is not on this machine, and the")
    assert f"put it into {tmp_path / 'svhn'} (train.parquet and test.parquet with the columns image and label)" in text
    assert "--data-root or OPENSET_DATA" in text


def test_without_network_nobody_waits_and_the_switch_goes_back(monkeypatch, tmp_path):
    import datasets
    from huggingface_hub import constants

    def no_network(*_):
        raise OSError("no network")

    monkeypatch.setattr("socket.getaddrinfo", no_network)
    monkeypatch.setattr(hub_module, "getproxies", dict)
    before, start = constants.HF_HUB_OFFLINE, time.monotonic()
    with pytest.raises(OpenSetError, match=r"Street View .* the Hugging Face hub cannot be reached"):
        open_dataset("svhn", "train", root=tmp_path)
    assert time.monotonic() - start < 5
    assert constants.HF_HUB_OFFLINE == datasets.config.HF_HUB_OFFLINE == before


def test_without_network_large_data_may_also_come_as_folders(tmp_path):
    code = "from openset.cli import main; main(['protocols', 'export', 'imagenet-p1', '--out', 'lists'])"
    text = message_of(code, tmp_path, OPENSET_DATA=str(tmp_path))
    assert f"put it into {tmp_path / 'imagenet'} (train/<class>/ and val/<class>/ folders of images, or train" in text


def test_importing_the_package_loads_nothing_heavy(tmp_path):
    code = (
        "import sys, openset, openset.protocols, openset.data; "
        "print(sorted({'torch', 'datasets', 'PIL', 'yaml', 'sklearn', 'matplotlib'} & set(sys.modules)))"
    )
    assert message_of(code, tmp_path).strip() == "[]"
