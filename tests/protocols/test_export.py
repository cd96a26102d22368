import json

import numpy as np
import pytest

from openset.data import open_dataset
from openset.errors import OpenSetError
from openset.protocols import load
from openset.protocols.export import export
from pictures import read_image, read_rows, write_photos


def test_image_files_are_listed_from_their_common_folder(tmp_path):
    write_photos(tmp_path / "photos" / "known" / "a, b", 6)
    write_photos(tmp_path / "photos" / "known" / "owl", 6)
    write_photos(tmp_path / "photos" / "unknown", 2)
    protocol = load(tmp_path / "photos")
    content = export(protocol, tmp_path / "out")
    assert content["root"] == str(tmp_path / "photos")
    for part in ("train", "val", "test"):
        listed = read_rows(tmp_path / "out" / f"{part}.csv")
        assert [int(label) for _, label in listed] == protocol.parts[part].labels.tolist()
        assert all((tmp_path / "photos" / path).is_file() for path, _ in listed)
    again = load(tmp_path / "out", data_root=tmp_path / "photos")
    assert again.class_names == ("a, b", "owl")
    assert again.test.counts == protocol.test.counts


def test_the_description_says_what_the_lists_hold(tmp_path):
    protocol = load("digits")
    export(protocol, tmp_path)
    content = json.loads((tmp_path / "protocol.json").read_text())
    assert content["fingerprint"] == protocol.fingerprint
    assert content["class_names"] == list(protocol.class_names)
    assert content["samples"]["train"] == {"known": 645, "negative": 215, "unknown": 0}
    assert content["paths"] == "ids"
    assert read_rows(tmp_path / "test.csv")[0] == [protocol.test.ids[0], str(protocol.test.labels[0])]


def test_images_that_are_no_files_are_written_on_request(tmp_path):
    protocol = load("digits")
    export(protocol, tmp_path, images=True)
    listed = read_rows(tmp_path / "val.csv")
    assert (read_image(tmp_path / listed[5][0]) == protocol.val[5][..., 0]).all()
    assert open_dataset(tmp_path / "val.csv").labels.tolist() == protocol.val.labels.tolist()


def test_feature_vectors_are_written_too(tmp_path):
    np.savez(tmp_path / "f.npz", features=np.arange(40).reshape(20, 2), labels=[0, 1] * 10)
    (tmp_path / "mine.yaml").write_text("data: f.npz\nknown: [0]\n")
    protocol = load(tmp_path / "mine.yaml")
    export(protocol, tmp_path / "out")
    with np.load(tmp_path / "out" / "test.npz") as arrays:
        assert (arrays["features"] == protocol.test.array()).all()
        assert (arrays["labels"] == protocol.test.labels).all()
    with pytest.raises(OpenSetError, match="Feature vectors cannot be written as images"):
        export(protocol, tmp_path / "out", images=True)


def test_a_file_in_the_way_is_named(tmp_path):
    (tmp_path / "out").write_text("")
    with pytest.raises(OpenSetError, match="out: it is a file; give a folder"):
        export(load("digits"), tmp_path / "out")
