"""Run folders have one owner at a time, and a dead owner's lock is taken over."""

import json
import os
import platform
import signal
import subprocess
import sys
import threading
import time

import pytest

from openset._io import folder_lock as lock
from openset._io.folder_lock import NAME, BusyError, age, hold, is_held, owner_of
from openset.cli import main
from openset.errors import OpenSetError

HOLD = """
import pathlib, sys, time
from openset._io.folder_lock import hold
with hold(pathlib.Path(sys.argv[1])):
    print("held", flush=True)
    time.sleep(3600)
"""


@pytest.fixture
def other(tmp_path):
    """Another process that holds tmp_path / run."""
    process = subprocess.Popen([sys.executable, "-c", HOLD, str(tmp_path / "run")], stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "held\n"
    yield process
    process.kill()
    process.wait()
    process.stdout.close()


def written(folder, **changes):
    """A lock file that another owner has left."""
    folder.mkdir(exist_ok=True)
    content = {"process": os.getpid() + 1, "machine": platform.node(), "since": time.time() - 7300, **changes}
    (folder / NAME).write_text(json.dumps(content))


def test_a_second_process_is_refused_and_told_who_is_there(other, tmp_path):
    with pytest.raises(BusyError, match=rf"run is in use by process {other.pid} on .*, for \d+ seconds?: wait"):
        hold(tmp_path / "run").__enter__()
    assert is_held(tmp_path / "run")
    assert owner_of(tmp_path / "run").process == other.pid


def test_a_killed_owner_is_followed_at_once(other, tmp_path):
    other.send_signal(signal.SIGKILL)
    other.wait()
    assert owner_of(tmp_path / "run").process == other.pid  # the file is still there
    with hold(tmp_path / "run"):
        assert owner_of(tmp_path / "run").process == os.getpid()
    assert not (tmp_path / "run").exists()  # nothing was done in it


def test_who_waits_gets_it_when_the_owner_ends(other, tmp_path, monkeypatch):
    monkeypatch.setattr(lock, "_POLL", 0.02)
    threading.Timer(0.3, other.kill).start()
    with hold(tmp_path / "run", wait=True):
        assert other.poll() is not None or other.wait(5) is not None


def test_of_many_at_once_one_wins(tmp_path):
    """Threads open the file by themselves, so they are to each other as processes are."""
    inside, most, refused = 0, 0, 0

    def work():
        nonlocal inside, most, refused
        held = 0
        while held < 5:  # who is refused tries again, so that the machine's speed does not matter
            try:
                with hold(tmp_path / "run"):
                    inside += 1
                    most = max(most, inside)
                    time.sleep(0.001)
                    inside -= 1
                held += 1
            except BusyError:
                refused += 1

    threads = [threading.Thread(target=work) for _ in range(4)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert most == 1
    assert refused > 0


def test_an_owner_on_another_machine_must_show_signs_of_life(tmp_path, monkeypatch):
    written(tmp_path, machine="node-7")
    with pytest.raises(BusyError, match="on node-7, for 2 hours"):
        hold(tmp_path).__enter__()
    silent = time.time() - lock.SILENCE - 5
    os.utime(tmp_path / NAME, (silent, silent))
    with hold(tmp_path):
        assert owner_of(tmp_path).machine == platform.node()


def test_an_owner_shows_signs_of_life(tmp_path, monkeypatch):
    monkeypatch.setattr(lock, "BEAT", 0.02)
    with hold(tmp_path):
        os.utime(tmp_path / NAME, (1, 1))
        for _ in range(200):
            if (tmp_path / NAME).stat().st_mtime > 1:
                break
            time.sleep(0.02)
        assert (tmp_path / NAME).stat().st_mtime > 1


def test_where_the_disk_has_no_locks_the_process_is_looked_for(tmp_path, monkeypatch):
    monkeypatch.setattr(lock, "_lock", lambda _: None)
    sleeper = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
    try:
        written(tmp_path, process=sleeper.pid)
        with pytest.raises(BusyError):
            hold(tmp_path).__enter__()
    finally:
        sleeper.kill()
        sleeper.wait()
    with hold(tmp_path):
        assert owner_of(tmp_path).process == os.getpid()


@pytest.mark.parametrize(
    "content",
    [
        "",
        "{",
        "[]",
        '{"process": "x"}',
        '{"process": 1e999}',
        "[" * 100_000,
        '{"process": 1, "machine": "m", "since": NaN}',
    ],
)
def test_a_lock_that_was_cut_off_is_nobodys(content, tmp_path):
    (tmp_path / NAME).write_text(content)
    assert owner_of(tmp_path) is None
    with hold(tmp_path):
        pass
    assert not is_held(tmp_path)


def test_what_stands_in_the_folder_stays(tmp_path):
    (tmp_path / "config.yaml").write_text("x")
    with hold(tmp_path):
        pass
    assert [one.name for one in tmp_path.iterdir()] == ["config.yaml"]


def test_a_folder_that_cannot_be_written_is_named(tmp_path):
    (tmp_path / "file").write_text("x")
    with pytest.raises(OpenSetError, match="Cannot write .*run.lock: "):
        hold(tmp_path / "file" / "run").__enter__()


def test_ages():
    assert [age(seconds) for seconds in (-3, 1, 59.9, 60, 3600, 90000)] == [
        "0 seconds", "1 second", "59 seconds", "1 minute", "1 hour", "25 hours",
    ]  # fmt: skip


def test_openset_train_does_not_enter_a_folder_in_use(other, tmp_path, capsys):
    with pytest.raises(SystemExit) as end:
        main(["train", "--protocol", "digits", "--method", "softmax", "--out", str(tmp_path / "run")])
    assert end.value.code == 2
    printed = capsys.readouterr().err
    assert printed.startswith("Error: ")
    assert f"is in use by process {other.pid}" in printed
    assert not (tmp_path / "run" / "config.yaml").exists()
