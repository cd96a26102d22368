import json

import numpy as np
import pytest

from openset.data.arrays import NotSmallError, is_stored, stored
from openset.data.images import ImageCells
from openset.data.place import cache_folder
from openset.errors import OpenSetError
from pictures import encoded, pixels


def cells(count=5, shape=(8, 8, 3)):
    return [encoded(pixels(seed, shape)) for seed in range(count)]


def open_cells(content, on_corrupt="stop", key=("k",)):
    def make():
        return ImageCells(content, "table"), np.arange(len(content)), tuple(map(str, range(len(content))))

    return stored(key, make, on_corrupt=on_corrupt, what="table")


def test_the_array_is_built_once_and_mapped_ever_after():
    first = open_cells(cells())
    assert (first.images == np.stack([pixels(seed, (8, 8, 3)) for seed in range(5)])).all()

    def never():
        raise AssertionError("built twice")

    second = stored(("k",), never, on_corrupt="stop", what="table")
    assert isinstance(second.images, np.memmap)
    assert (second.images == first.images).all()
    assert second.fingerprint == first.fingerprint
    assert second.labels.tolist() == [0, 1, 2, 3, 4]
    assert is_stored(("k",))
    assert not is_stored(("other",))


def test_the_fingerprint_follows_the_pixels_not_the_place():
    changed = [*cells(4), encoded(pixels(99, (8, 8, 3)))]
    prints = [open_cells(content, key=(str(n),)).fingerprint for n, content in enumerate((cells(), cells(), changed))]
    assert prints[0] == prints[1] != prints[2]


def test_grey_images_have_one_channel_and_mixed_ones_three():
    assert open_cells(cells(3, (8, 8)), key=("grey",)).images.shape == (3, 8, 8, 1)
    mixed = [*cells(2, (8, 8)), *cells(2)]
    assert open_cells(mixed, key=("mixed",)).images.shape == (4, 8, 8, 3)


def test_corrupt_images_are_counted_and_named():
    content = cells(6)
    content[1] = content[4] = b"no image"
    with pytest.raises(
        OpenSetError, match=r"2 of 6 images cannot be used: table, row 1 .*table, row 4 .*on_corrupt='skip'"
    ):
        open_cells(content)
    assert not is_stored(("k",))


def test_corrupt_images_are_skipped_on_request_and_still_counted():
    content = cells(6)
    content[1] = b"no image"
    found = open_cells(content, "skip")
    assert found.rows.tolist() == found.labels.tolist() == [0, 2, 3, 4, 5]
    assert (found.images[1] == pixels(2, (8, 8, 3))).all()
    assert len(found.skipped) == 1
    assert "row 1" in found.skipped[0]


def test_nothing_but_corrupt_images_is_an_error_even_when_skipping():
    with pytest.raises(OpenSetError, match="2 of 2 images cannot be used"):
        open_cells([b"no", b"no"], "skip")


@pytest.mark.parametrize("content", [cells(3, (200, 40, 3)), [*cells(40), encoded(pixels(0, (9, 8, 3)))]])
def test_large_and_mixed_sizes_are_no_array_and_that_is_remembered(content):
    for _ in range(2):
        with pytest.raises(NotSmallError):
            open_cells(content)
    assert not list((cache_folder() / "arrays").glob("*/images.npy"))


def test_a_damaged_cache_is_built_again():
    first = open_cells(cells())
    folder = next((cache_folder() / "arrays").iterdir())
    (folder / "labels.npy").write_bytes(b"damaged")
    assert open_cells(cells()).fingerprint == first.fingerprint
    (folder / "meta.json").write_text(json.dumps({"class_names": []}))
    assert open_cells(cells()).fingerprint == first.fingerprint


def test_a_failed_build_leaves_nothing_behind():
    with pytest.raises(OpenSetError):
        open_cells([*cells(2), b"no"])
    assert list((cache_folder() / "arrays").iterdir()) == []


def test_a_cache_that_cannot_be_written_is_named(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("OPENSET_CACHE", str(tmp_path / "file"))
    with pytest.raises(OpenSetError, match=r"Cannot keep decoded images in .*OPENSET_CACHE"):
        open_cells(cells())


def test_an_unknown_choice_for_corrupt_images_is_refused():
    with pytest.raises(OpenSetError, match="Did you mean 'skip'"):
        open_cells([*cells(2), b"no"], "skips")
