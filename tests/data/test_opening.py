import numpy as np
import pytest

from openset.data import open_dataset, parts_here, splits_of
from openset.errors import OpenSetError
from pictures import write_photos, write_small


def test_digits_need_no_files_and_have_all_samples_once():
    train, test = open_dataset("digits", "train"), open_dataset("digits", "test")
    assert len(train) + len(test) == 1797
    assert not set(train.ids) & set(test.ids)
    assert train.images.dtype == np.uint8
    assert train.images.max() == 255
    assert np.bincount(test.labels).min() >= 58


def test_a_local_copy_comes_before_the_hub(tmp_path, monkeypatch):
    write_small(tmp_path, "mnist")
    monkeypatch.setenv("OPENSET_DATA", str(tmp_path))
    data = open_dataset("mnist", "test")
    assert data.images.shape == (20, 28, 28, 1)
    assert parts_here("mnist") == ("train", "test")
    assert parts_here("svhn") == ()
    assert parts_here("digits") == ("train", "test")


def test_a_second_open_maps_the_array(tmp_path):
    write_small(tmp_path, "cifar10")
    open_dataset("cifar10", "train", root=tmp_path)
    data = open_dataset("cifar10", "train", root=tmp_path)
    assert isinstance(data.images, np.memmap)
    assert data.class_names[data.labels[-1]] == "truck"


def test_a_part_that_is_missing_is_named(tmp_path):
    write_small(tmp_path, "cifar100")
    (tmp_path / "cifar100" / "train.parquet").unlink()
    assert splits_of("cifar100", root=tmp_path) == ("test",)
    with pytest.raises(OpenSetError, match="cifar100 has no part 'train'; it has test"):
        open_dataset("cifar100", "train", root=tmp_path)


def test_a_name_that_is_neither_data_nor_path_gets_a_suggestion(tmp_path):
    with pytest.raises(OpenSetError, match=r"no file or folder 'cifar-10'. Did you mean 'cifar10'"):
        open_dataset("cifar-10", root=tmp_path)


def test_a_path_may_be_relative_to_the_root(tmp_path):
    write_photos(tmp_path / "birds" / "owl", 2)
    assert len(open_dataset("birds", root=tmp_path)) == 2


def test_a_file_of_another_kind_is_refused(tmp_path):
    (tmp_path / "data.pkl").write_bytes(b"x")
    with pytest.raises(OpenSetError, match=r"cannot read '\.pkl' files as data"):
        open_dataset(tmp_path / "data.pkl")


def test_an_empty_folder_is_named(tmp_path):
    (tmp_path / "empty").mkdir()
    with pytest.raises(OpenSetError, match="empty has no images"):
        open_dataset(tmp_path / "empty")


def test_an_unknown_choice_is_refused():
    with pytest.raises(OpenSetError, match="'on_corrupt' cannot be 'ignore'"):
        open_dataset("digits", on_corrupt="ignore")
