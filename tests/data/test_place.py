from pathlib import Path

import pytest

from openset.data.place import cache_folder, data_root, inside
from openset.errors import OpenSetError


@pytest.mark.parametrize(
    "path", ["../secret.png", "a/../../secret.png", "/etc/passwd", "C:\\x.png", "..\\x.png", "\\x"]
)
def test_a_path_that_climbs_out_is_refused(path):
    with pytest.raises(OpenSetError, match=r"list\.csv, row 7: the path .* leads out of photos"):
        inside(Path("photos"), path, "list.csv, row 7")


@pytest.mark.parametrize("path", ["a.png", "a/../b.png", "./a/b..c.png", "..a/b.png"])
def test_a_path_that_stays_inside_is_joined(path):
    assert inside(Path("photos"), path, "here") == Path("photos") / path


def test_the_data_root_is_what_the_caller_says_then_the_variable_then_the_cache(tmp_path, monkeypatch):
    assert data_root() == cache_folder() / "data"
    monkeypatch.setenv("OPENSET_DATA", "elsewhere")
    assert data_root() == Path("elsewhere")
    assert data_root(tmp_path) == tmp_path


def test_a_data_root_that_is_not_there_is_named(tmp_path):
    with pytest.raises(OpenSetError, match=r"There is no data root .*nowhere"):
        data_root(tmp_path / "nowhere")


def test_the_cache_follows_the_desktop_convention(monkeypatch):
    monkeypatch.delenv("OPENSET_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", "some/cache")
    assert cache_folder() == Path("some/cache/openset")
