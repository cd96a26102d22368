import pytest


@pytest.fixture(autouse=True)
def own_cache(tmp_path, monkeypatch):
    """No test sees the data or the cache of the person who runs it."""
    monkeypatch.setenv("OPENSET_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("OPENSET_DATA", raising=False)
