"""Reaching Ray: every way in which that fails is one sentence."""

import pytest

from openset._io import ray_cluster
from openset.errors import OpenSetError

ray = pytest.importorskip("ray", reason="Ray is not installed: pip install 'openset[ray]'")


def test_nobody_answers_at_the_address(monkeypatch):
    monkeypatch.setenv("RAY_ADDRESS", "127.0.0.1:1")
    with pytest.raises(OpenSetError, match=r"The Ray cluster at 127.0.0.1:1 \(RAY_ADDRESS\) cannot be reached"):
        ray_cluster.connect()


def test_a_machine_that_is_too_busy_to_start_it(monkeypatch):
    def init(**_):
        raise Exception("The current node timed out during startup.\nMore")  # noqa: TRY002  as Ray does

    monkeypatch.delenv("RAY_ADDRESS", raising=False)
    monkeypatch.setattr(ray, "init", init)
    with pytest.raises(OpenSetError, match=r"A local Ray cluster cannot be reached or started: The .* startup\.$"):
        ray_cluster.connect()


def test_what_this_machine_lacks_is_said_and_what_a_cluster_lacks_may_come(monkeypatch):
    ended = []
    monkeypatch.delenv("RAY_ADDRESS", raising=False)
    monkeypatch.setattr(ray, "init", lambda **_: None)
    monkeypatch.setattr(ray, "cluster_resources", lambda: {"CPU": 2.0})
    monkeypatch.setattr(ray, "shutdown", lambda: ended.append(True))
    with pytest.raises(OpenSetError, match=r"A worker needs 0.25 GPU, and this machine has 0: ask for less"):
        ray_cluster.connect_with({"CPU": 1, "GPU": 0.25}, "A worker")
    assert ended == [True]
    monkeypatch.setenv("RAY_ADDRESS", "auto")
    assert ray_cluster.connect_with({"CPU": 1, "GPU": 0.25}, "A worker") == {"CPU": 2.0}


def test_workers_use_the_vector_instructions_of_the_command(monkeypatch):
    given = {}
    monkeypatch.delenv("RAY_ADDRESS", raising=False)
    monkeypatch.setattr(ray, "init", lambda **how: given.update(how))
    monkeypatch.setattr(ray, "cluster_resources", lambda: {"CPU": 2.0})
    monkeypatch.setenv("NPY_DISABLE_CPU_FEATURES", "X86_V4")
    ray_cluster.connect()
    assert given["runtime_env"] == {"env_vars": {"NPY_DISABLE_CPU_FEATURES": "X86_V4"}}
    monkeypatch.delenv("NPY_DISABLE_CPU_FEATURES")
    ray_cluster.connect()
    assert given["runtime_env"] is None
