"""Every example runs as it stands, in a folder of its own."""

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from openset.errors import is_installed

EXAMPLES = Path(__file__).parents[2] / "examples"
NEEDS = {
    "hugging_face_guard": ("torch", "transformers"),
    "openauc_loss": ("torch",),
    "lightning_module": ("torch", "pytorch_lightning"),
}
SCRIPTS = sorted(file.stem for file in EXAMPLES.glob("*.py"))
NOTEBOOKS = sorted(file.stem for file in EXAMPLES.glob("*.ipynb"))


def need(name):
    missing = [one for one in NEEDS.get(name, ()) if not is_installed(one)]
    if missing:
        pytest.skip(f"{', '.join(missing)} is not installed")


@pytest.fixture
def surroundings(tmp_path, monkeypatch):
    """A folder of its own, with the command on the path."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("MPLBACKEND", "agg")


def test_there_are_six_scripts_and_two_notebooks():
    assert (len(SCRIPTS), len(NOTEBOOKS)) == (6, 2)


@pytest.mark.slow
@pytest.mark.parametrize("name", SCRIPTS)
def test_scripts_run(name, surroundings):
    need(name)
    words = ["20_000"] if name == "billion_rows" else []
    done = subprocess.run(
        [sys.executable, EXAMPLES / f"{name}.py", *words], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr


def test_the_gate_fails_where_it_should(surroundings):
    spec = importlib.util.spec_from_file_location("csv_gate", EXAMPLES / "csv_gate.py")
    example = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(example)
    Path("bad.csv").write_text("label,prediction,unknown_score\n" + "0,1,0.5\n1,1,0.4\nunknown,0,0.1\n" * 20)
    assert example.main(Path("bad.csv")) == 1


@pytest.mark.slow
@pytest.mark.parametrize("name", NOTEBOOKS)
def test_notebooks_run_and_hold_no_outputs(name, surroundings):
    cells = json.loads((EXAMPLES / f"{name}.ipynb").read_text(encoding="utf-8"))["cells"]
    code = [cell for cell in cells if cell["cell_type"] == "code"]
    assert all(cell["outputs"] == [] and cell["execution_count"] is None for cell in code)
    space = {}
    for cell in code:
        exec(compile("".join(cell["source"]), name, "exec"), space)  # noqa: S102
    if name == "production_watch":
        assert space["alarm"]
