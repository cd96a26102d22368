import numpy as np
import polars as pl
import pytest

from openset.data import open_dataset, splits_of
from openset.errors import OpenSetError
from pictures import encoded, pixels, write_parquet


def images(count, shape=(16, 16, 3)):
    return [encoded(pixels(seed, shape)) for seed in range(count)]


def test_parquet_of_images_becomes_an_array(tmp_path):
    path = write_parquet(tmp_path / "birds.parquet", images(3), ["owl", "jay", "owl"])
    data = open_dataset(path)
    assert data.kind == "images"
    assert data.split == "all"
    assert data.class_names == ("jay", "owl")
    assert data.labels.tolist() == [1, 0, 1]
    assert data.ids.tolist() == ["birds/all/0", "birds/all/1", "birds/all/2"]
    assert (data.array([2, 0])[0] == pixels(2, (16, 16, 3))).all()


def test_a_changed_file_is_read_again(tmp_path):
    path = write_parquet(tmp_path / "birds.parquet", images(3), [0, 1, 0])
    before = open_dataset(path).fingerprint
    write_parquet(path, images(4), [0, 1, 0, 1])
    after = open_dataset(path)
    assert len(after) == 4
    assert after.fingerprint != before


def test_a_file_replaced_by_one_of_the_same_size_is_read_again(tmp_path):
    path = write_parquet(tmp_path / "birds.parquet", images(3), [0, 1, 0])
    size, before = path.stat().st_size, open_dataset(path)
    write_parquet(path, images(3), [1, 0, 0])
    assert path.stat().st_size == size
    assert open_dataset(path).labels.tolist() == [1, 0, 0]
    assert open_dataset(path).fingerprint != before.fingerprint


def test_validation_tests_where_there_is_no_test_file(tmp_path):
    for part in ("train", "validation"):
        write_parquet(tmp_path / "set" / f"{part}.parquet", images(2), [0, 1])
    assert splits_of(tmp_path / "set") == ("train", "test")


def test_shards_are_read_in_order(tmp_path):
    for shard in range(3):
        write_parquet(tmp_path / "set" / f"train-0000{shard}-of-00003.parquet", images(2), [shard, shard])
    assert open_dataset(tmp_path / "set", "train").labels.tolist() == [0, 0, 1, 1, 2, 2]


def test_class_names_that_hugging_face_wrote_are_used(tmp_path):
    from datasets import ClassLabel, Dataset, Features, Image

    features = Features({"image": Image(), "label": ClassLabel(names=["owl", "jay"])})
    table = Dataset.from_dict(
        {"image": [{"bytes": image, "path": None} for image in images(2)], "label": [1, 0]}, features
    )
    table.to_parquet(tmp_path / "birds.parquet")
    data = open_dataset(tmp_path / "birds.parquet")
    assert data.class_names == ("owl", "jay")
    assert data.labels.tolist() == [1, 0]


def test_photographs_in_parquet_stay_encoded(tmp_path):
    path = write_parquet(tmp_path / "p.parquet", [*images(2, (120, 130, 3)), *images(1, (150, 110, 3))], [0, 1, 0])
    data = open_dataset(path)
    assert data.kind == "encoded"
    assert data.shape is None
    assert data.encoded.load(2).size == (110, 150)
    assert data.array([0, 2], (32, 32, 3)).shape == (2, 32, 32, 3)
    with pytest.raises(OpenSetError, match="differ in size"):
        data.array([0])


def test_corrupt_photographs_in_parquet_stop_when_reached_or_are_skipped(tmp_path):
    path = write_parquet(tmp_path / "p.parquet", [*images(2, (120, 130, 3)), b"no image"], [0, 1, 1])
    with pytest.raises(OpenSetError, match="row 2 cannot be decoded"):
        open_dataset(path).array([2], (8, 8, 3))
    for _ in range(2):  # the second time from memory
        with pytest.warns(match="1 of 3 images were left out: .*row 2"):
            data = open_dataset(path, on_corrupt="skip")
        assert data.labels.tolist() == [0, 1]
        assert data.array([1], (8, 8, 3)).shape == (1, 8, 8, 3)


def test_npz_of_features(tmp_path):
    matrix = np.arange(6, dtype=np.float64).reshape(3, 2)
    np.savez(tmp_path / "f.npz", features=matrix, labels=["b", "a", "b"], ids=["x", "y", "z"])
    data = open_dataset(tmp_path / "f.npz")
    assert data.kind == "features"
    assert data.features.dtype == np.float32
    assert data.array([1, 2]).tolist() == [[2, 3], [4, 5]]
    assert data.class_names == ("a", "b")
    assert data.ids.tolist() == ["x", "y", "z"]


@pytest.mark.parametrize("columns", [{"embedding": [[1.0, 2.0], [3.0, 4.0]]}, {"f0": [1.0, 3.0], "f1": [2.0, 4.0]}])
def test_parquet_of_features_as_lists_or_columns(tmp_path, columns):
    pl.DataFrame({"label": ["b", "a"], **columns}).write_parquet(tmp_path / "f.parquet")
    data = open_dataset(tmp_path / "f.parquet")
    assert data.features.tolist() == [[1, 2], [3, 4]]
    assert data.labels.tolist() == [1, 0]


def test_a_pickle_in_an_npz_is_not_loaded(tmp_path):
    np.savez(tmp_path / "f.npz", features=np.array([{}, {}]), labels=[0, 1])
    with pytest.raises(OpenSetError, match="holds pickled Python objects"):
        open_dataset(tmp_path / "f.npz")


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ({"labels": [0]}, "has no array 'features'"),
        ({"features": [[1.0]]}, r"has no array 'fine_label'|labels, one per sample"),
        ({"features": [[1.0]], "labels": [0, 1]}, "1 feature vectors but 2 labels"),
        ({"features": [[1.0], [np.nan]], "labels": [0, 1]}, "row 1: a feature is NaN or infinite"),
        ({"features": [1.0, 2.0], "labels": [0, 1]}, "must be numbers, N x D"),
        ({"features": [[1.0]], "labels": [0], "ids": ["a", "b"]}, "2 ids but 1 labels"),
    ],
)
def test_bad_features_are_named(tmp_path, arrays, message):
    np.savez(tmp_path / "f.npz", **arrays)
    with pytest.raises(OpenSetError, match=message):
        open_dataset(tmp_path / "f.npz")


def test_bad_parquet_is_named(tmp_path):
    (tmp_path / "a.parquet").write_bytes(b"PAR1 nothing")
    with pytest.raises(OpenSetError, match=r"a\.parquet is not a readable Parquet file"):
        open_dataset(tmp_path / "a.parquet")
    pl.DataFrame({"image": [b"x"], "class": [0]}).write_parquet(tmp_path / "b.parquet")
    with pytest.raises(OpenSetError, match="has no column 'label'; its columns are image, class"):
        open_dataset(tmp_path / "b.parquet")
    pl.DataFrame({"label": [0], "word": ["x"]}).write_parquet(tmp_path / "c.parquet")
    with pytest.raises(OpenSetError, match="neither images nor numbers"):
        open_dataset(tmp_path / "c.parquet")
    pl.DataFrame({"label": [0, 1], "f": [[1.0], [1.0, 2.0]]}).write_parquet(tmp_path / "d.parquet")
    with pytest.raises(OpenSetError, match="differ in length"):
        open_dataset(tmp_path / "d.parquet")


def test_a_label_outside_a_named_data_set_is_named(tmp_path):
    write_parquet(tmp_path / "cifar10" / "train.parquet", images(2), [0, 10])
    with pytest.raises(OpenSetError, match=r"train\.parquet, row 1: label 10 is out of range"):
        open_dataset("cifar10", "train", root=tmp_path)


def test_columns_of_lists_that_are_no_vectors_and_names_with_brackets(tmp_path):
    place = tmp_path / "set[1]"
    place.mkdir()
    pl.DataFrame({"label": [0, 1], "a": [1.0, 2.0]}).write_parquet(place / "x.parquet")
    assert open_dataset(place / "x.parquet").features.tolist() == [[1.0], [2.0]]
    pl.DataFrame({"label": [0, 1], "v": [["a"], ["b"]]}).write_parquet(tmp_path / "text.parquet")
    with pytest.raises(OpenSetError, match="neither images nor numbers"):
        open_dataset(tmp_path / "text.parquet")
    pl.DataFrame({"label": [[0], [1]], "a": [1.0, 2.0]}).write_parquet(tmp_path / "lists.parquet")
    with pytest.raises(OpenSetError, match=r"column 'label' holds List\(Int64\); a label is one number or name"):
        open_dataset(tmp_path / "lists.parquet")
