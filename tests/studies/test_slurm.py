"""Grids as Slurm jobs: through submitit's own local jobs, and through a stand-in for Slurm's commands."""

import os
import signal
import subprocess
import sys
import threading
import time

import pytest

from killing import in_training, resumptions
from openset.cli import main
from openset.errors import OpenSetError
from openset.studies.bench import make_grid
from openset.studies.executors import Resources
from openset.studies.executors.slurm import OnSlurm, _Requeued

pytest.importorskip("submitit", reason="submitit is not installed: pip install 'openset[slurm]'")

SHORT = ["--set", "train.epochs=40", "--set", "backbone.width=8"]
GRID = ["bench", "-m", "softmax,maxlogit,openauc", "--splits", "0", "--engine", "slurm"]
OPENSET = [sys.executable, "-c", "from openset.cli import main; main()"]
COMMANDS = {
    "sbatch": """
import os, re, subprocess, sys
text = open(sys.argv[-1]).read()
file = os.environ["FAKE_SLURM"] + "/script"
open(file, "w").write(text)
last = int(re.search(r"--array=0-(\\d+)", text)[1])
for number in range(last + 1):
    job = {"SLURM_JOB_ID": str(100 + number), "SLURM_ARRAY_JOB_ID": "100", "SLURM_ARRAY_TASK_ID": str(number)}
    place = {"SLURM_PROCID": "0", "SLURM_LOCALID": "0", "SLURM_NODEID": "0", "SLURM_NTASKS": "1"}
    nodes = {"SLURM_JOB_NUM_NODES": "1", "SLURM_JOB_NODELIST": "localhost", "FAKE_SCRIPT": file}
    with open(f"{os.environ['FAKE_SLURM']}/log-{number}", "w") as log:
        printed = {"stdout": log, "stderr": log, "start_new_session": True}
        subprocess.Popen(["bash", file], env={**os.environ, **job, **place, **nodes}, **printed)
print("Submitted batch job 100")
""",
    "srun": """
import os, sys
words = sys.argv[1:]
while words[0].startswith("--"):
    words = words[1 if words[0] == "--unbuffered" else 2:]
os.execvp(words[0], words)
""",
    "scontrol": """
import os, subprocess, sys, time
time.sleep(float(os.environ.get("FAKE_DELAY", 0)))
open(os.environ["FAKE_SLURM"] + "/requeued", "a").write(" ".join(sys.argv[1:]) + "\\n")
subprocess.Popen(["bash", os.environ["FAKE_SCRIPT"]], start_new_session=True)
""",
    "sacct": "print('JobID|State|NodeList')",
}


@pytest.fixture
def slurm(tmp_path, monkeypatch):
    """Commands that do at once, on this machine, what Slurm's do on a cluster."""
    place = tmp_path / "slurm"
    place.mkdir()
    for name, code in COMMANDS.items():
        (place / name).write_text(f"#!{sys.executable}\n{code}")
        (place / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{place}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("FAKE_SLURM", str(place))
    return place


def openset(*words):
    try:
        main([str(word) for word in words])
    except SystemExit as end:
        return end.code or 0
    return 0


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    out = tmp_path_factory.mktemp("undisturbed")
    words = [*OPENSET, *GRID[:-2], *SHORT, "--out", str(out)]
    subprocess.run(words, check=True, capture_output=True)
    return weights(out)


def weights(out):
    return {str(file.relative_to(out)): file.read_bytes() for file in sorted(out.rglob("last.safetensors"))}


def test_jobs_of_this_machine(tmp_path):
    words = [*OPENSET, *GRID, "--slurm", "cluster=local", "--set", "train.epochs=2", "--out", str(tmp_path)]
    printed = subprocess.run(words, check=True, capture_output=True, text=True, timeout=600).stdout
    assert "Slurm: 2 jobs" in printed  # maxlogit shares the training of softmax
    assert "3/3" in printed
    assert (tmp_path / "bench.md").exists()


def test_a_job_that_is_stopped_and_requeued_goes_on(tmp_path, slurm, undisturbed, monkeypatch):
    monkeypatch.setenv("FAKE_DELAY", "5")  # Slurm takes its time, in which the training must not end
    out = tmp_path / "runs"
    words = [*OPENSET, *GRID, "--slurm", "slurm_partition=gpu", *SHORT, "--out", str(out)]
    running = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        folder, job = in_training(out, most=20)
        os.kill(job, signal.SIGTERM)  # Slurm sends this first when it takes the machine away: it is let pass
        os.kill(job, signal.SIGUSR2)
        printed, errors = running.communicate(timeout=1800)
    finally:
        running.kill()
        running.communicate()
    assert running.returncode == 0, errors
    assert "3/3" in printed
    assert (slurm / "requeued").read_text().startswith("requeue 100_")
    script = (slurm / "script").read_text()
    assert "#SBATCH --partition=gpu" in script
    assert "#SBATCH --time=1440" in script
    assert "#SBATCH --cpus-per-task=1" in script
    assert weights(out) == undisturbed
    found = resumptions(out)
    assert found[str(folder.relative_to(out))][0][0] >= 3
    others = [places for name, places in found.items() if ("openauc" in name) != (folder.parent.name == "openauc")]
    assert others
    assert all(places == [] for places in others)


def test_a_signal_that_reaches_the_thread_of_the_training_is_seen_at_once():
    """As it does where two signals follow each other closely: the system gives the second one to any thread."""
    seen = threading.Event()
    before = signal.signal(signal.SIGUSR1, lambda *_: seen.set())

    def work():
        time.sleep(1)  # by now the main thread waits
        signal.pthread_kill(threading.get_ident(), signal.SIGUSR1)
        return seen.wait(10)

    try:
        assert _Requeued(work)()
    finally:
        signal.signal(signal.SIGUSR1, before)


def test_without_slurm_it_is_said(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("PATH", str(tmp_path))
    assert openset(*GRID, "--out", tmp_path) == 2
    assert "There is no sbatch here" in capsys.readouterr().err


def test_parameters_that_submitit_does_not_know_are_named(tmp_path, slurm, capsys):
    assert openset(*GRID, "--out", tmp_path / "runs", "--slurm", "slurm_colour=red") == 2
    assert "--slurm: " in capsys.readouterr().err
    assert openset(*GRID, "--out", tmp_path / "runs", "--slurm", "partition") == 2
    assert "write NAME=VALUE" in capsys.readouterr().err


def test_slurm_gives_whole_gpus(tmp_path, slurm):
    cells = make_grid(["digits"], ["softmax"], [0], [0], tmp_path)
    with pytest.raises(OpenSetError, match="Slurm gives whole GPUs, and --gpus-per-cell is 0.25"):
        list(OnSlurm(Resources(gpus=0.25)).run([cells], wait=False))


def test_a_job_that_is_lost_is_told_and_what_it_finished_is_kept(tmp_path):
    from openset.studies.executors._remote import after_loss

    changes = ["train.epochs=1", "backbone.width=8"]
    cells = make_grid(["digits"], ["softmax", "openauc"], [0], [0], tmp_path, overrides=changes)
    cells[0].run()
    done, lost = after_loss(cells, "the machine is gone")
    assert done.summary["method"] == "softmax"
    assert (lost.summary, lost.reason) == (None, "the machine is gone")
