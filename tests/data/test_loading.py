import numpy as np
import pytest

from openset.data import open_dataset
from openset.data.loading import torch_dataset
from openset.errors import OpenSetError
from pictures import write_photos

torch = pytest.importorskip("torch")


@pytest.fixture
def photos(tmp_path):
    write_photos(tmp_path / "set" / "jay", 3)
    write_photos(tmp_path / "set" / "owl", 4)
    return open_dataset(tmp_path / "set")


def view(data, **options):
    rows = np.arange(len(data))[::-1].copy()
    return torch_dataset([data], np.zeros(len(data), dtype=np.int64), rows, data.labels[rows], **options)


@pytest.mark.parametrize("workers", [0, 2])
def test_workers_decode_to_one_size(photos, workers):
    loader = torch.utils.data.DataLoader(view(photos, shape=(24, 24, 3)), batch_size=4, num_workers=workers)
    batches = list(loader)
    images = torch.cat([batch[0] for batch in batches])
    assert images.shape == (7, 3, 24, 24)
    assert images.dtype == torch.uint8
    assert torch.cat([batch[1] for batch in batches]).tolist() == [1, 1, 1, 1, 0, 0, 0]
    assert torch.cat([batch[2] for batch in batches]).tolist() == list(range(7))
    assert (images[6].permute(1, 2, 0).numpy() == photos.array([0], (24, 24, 3))[0]).all()


def test_a_transform_gets_the_picture(photos):
    image, label, position = view(photos, transform=lambda picture: picture.size)[6]
    assert (image, label, position) == ((140, 100), 0, 6)


def test_small_arrays_work_the_same_way():
    digits = open_dataset("digits", "test")
    image, label, _ = view(digits, shape=(8, 8, 1))[len(digits) - 1]
    assert (image.numpy()[0] == digits.images[0, ..., 0]).all()
    assert label == digits.labels[0]


def test_sizes_that_differ_need_a_size(photos):
    with pytest.raises(OpenSetError, match="need a transform or a size"):
        view(photos)


def test_a_corrupt_photo_is_named_by_the_worker(photos):
    (photos.encoded.root / photos.encoded.names[2]).write_bytes(b"no image")
    loader = torch.utils.data.DataLoader(view(photos, shape=(8, 8, 3)), batch_size=7, num_workers=1)
    with pytest.raises(OpenSetError, match=r"IMG_2\.jpg cannot be decoded"):
        next(iter(loader))
