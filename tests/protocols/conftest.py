import os
import shutil
from pathlib import Path

import pytest

from pictures import imagenet_classes, write_cub, write_imagenet, write_small

REAL = os.environ.get("OPENSET_DATA")


@pytest.fixture(scope="session")
def synthetic_root(tmp_path_factory):
    """A few samples of every class of every named data set, in the layouts of the real ones."""
    root = tmp_path_factory.mktemp("root")
    for name in ("mnist", "fashion-mnist", "emnist-letters", "svhn", "cifar10", "cifar100", "tinyimagenet"):
        write_small(root, name)
    (root / "cifar100" / "train.parquet").unlink()  # unknowns need no training part
    shutil.rmtree(root / "emnist-letters")
    write_small(root, "emnist-letters", train=0, test=6)
    (root / "emnist-letters" / "train.parquet").unlink()
    write_cub(root)
    write_imagenet(root / "imagenet", imagenet_classes())
    return root


@pytest.fixture(scope="session")
def shared_cache(tmp_path_factory):
    return tmp_path_factory.mktemp("cache")


@pytest.fixture(autouse=True)
def own_cache(shared_cache, monkeypatch):
    """No test sees the data or the cache of the person who runs it."""
    monkeypatch.setenv("OPENSET_CACHE", str(shared_cache))
    monkeypatch.delenv("OPENSET_DATA", raising=False)


@pytest.fixture
def real_root():
    if not REAL:
        pytest.skip("OPENSET_DATA is not set: no real data on this machine")
    return Path(REAL)
