"""The pages on additions of one's own are run: files written, commands typed, a package with entry points installed."""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).parents[1]
PAGES = ("own-metric.md", "extending.md", "own-method.md")
PAGE = "\n".join((ROOT / "docs" / name).read_text(encoding="utf-8") for name in PAGES)
FILES = dict(re.findall(r"```python\n# (\w+\.py)\n(.*?)```", PAGE, re.DOTALL))
COMMANDS = [line for block in re.findall(r"```console\n(.*?)```", PAGE, re.DOTALL) for line in block.splitlines()]
SAYS = {
    "evaluate scores.csv": "Cost per sample, threshold=0.7",
    "compare": "Cost per sample",
    "evaluate outputs.npz": "score spread(top=2)",
    "threshold": "score spread",
    "train": "Training margin",
    "bench": "margin",
    "methods": "margin=1.0",
}


@pytest.fixture
def place(tmp_path_factory):
    """The files of the pages, and something to measure."""
    from openset import Scores

    folder = tmp_path_factory.mktemp("extending")
    for name, text in FILES.items():
        (folder / name).write_text(text, encoding="utf-8")
    rng = np.random.default_rng(0)
    labels = rng.integers(-2, 3, 60)
    for name in ("scores.csv", "other.csv"):
        Scores(labels, np.maximum(labels, 0), rng.random(60)).write(folder / name)
    np.savez(folder / "outputs.npz", labels=labels, logits=rng.normal(size=(60, 4)))
    return folder


def openset(words, folder, path=()):
    here = {**os.environ, "PYTHONPATH": os.pathsep.join([*map(str, path), str(ROOT / "src")]), "COLUMNS": "200"}
    command = [sys.executable, "-c", "from openset.cli import main; main()", *words]
    return subprocess.run(command, cwd=folder, env=here, capture_output=True, text=True, check=False)


def test_the_pages_have_an_example_of_each_kind():
    assert set(FILES) == {"cost.py", "spread.py", "margin.py"}
    assert len(COMMANDS) == len(SAYS) == 7


@pytest.mark.slow
@pytest.mark.parametrize("line", COMMANDS)
def test_commands_of_the_pages_work(line, place):
    sign, program, *words = shlex.split(line)
    assert (sign, program) == ("$", "openset")
    done = openset(words, place)
    assert done.returncode == 0, done.stderr
    wanted = [text for start, text in SAYS.items() if " ".join(words).startswith(start)]
    assert wanted[0] in " ".join(done.stdout.split())


@pytest.mark.slow
def test_a_run_needs_its_method_again(place):
    openset(shlex.split(next(line for line in COMMANDS if "train" in line))[2:], place)
    done = openset(["train", "--resume", "--out", "run"], place)
    assert done.returncode == 2
    assert "There is no method named 'margin'. " in done.stderr
    assert "name its file: --plugin FILE.py" in done.stderr
    assert openset(["train", "--resume", "--out", "run", "--plugin", "margin.py"], place).returncode == 0


@pytest.mark.slow
def test_an_installed_package_adds_its_own(place, tmp_path):
    package, metadata = tmp_path / "my_package", tmp_path / "my_package-1.0.dist-info"
    package.mkdir()
    metadata.mkdir()
    (package / "__init__.py").touch()
    for name, text in FILES.items():
        (package / name).write_text(text, encoding="utf-8")
    toml = re.search(r"```toml\n(.*?)```", PAGE, re.DOTALL)[1]
    points = re.sub(r'\[project.entry-points."(.*)"\]', r"[\1]", toml).replace('"', "")
    (metadata / "entry_points.txt").write_text(points, encoding="utf-8")
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: my-package\nVersion: 1.0\n", encoding="utf-8")
    listed = openset(["metrics"], place, [tmp_path])
    assert "Mean cost: `mistake`" in " ".join(listed.stdout.split())
    assert "margin=1.0" in openset(["methods"], place, [tmp_path]).stdout
    done = openset(["evaluate", "outputs.npz", "--score", "spread(top=2)", "--no-intervals"], place, [tmp_path])
    assert done.returncode == 0
    assert "Cost per sample" in done.stdout
    (package / "cost.py").write_text("raise RuntimeError('broken')", encoding="utf-8")
    done = openset(["evaluate", "outputs.npz", "--no-intervals"], place, [tmp_path])
    assert done.returncode == 0
    assert "The metric 'cost' of an installed package (my_package.cost:cost) cannot be used: RuntimeError: broken" in (
        done.stderr
    )


@pytest.mark.slow
def test_a_recipe_cannot_name_a_file(place):
    (place / "recipe.yaml").write_text("method: margin.py:Margin\n", encoding="utf-8")
    (place / "margin_ran.py").write_text("open('ran', 'w')\n", encoding="utf-8")
    (place / "other.yaml").write_text("method: margin_ran.py:x\n", encoding="utf-8")
    for recipe in ("recipe.yaml", "other.yaml"):
        done = openset(["train", recipe, "--epochs", "1", "--out", "no"], place)
        assert done.returncode == 2
        assert "There is no method named" in done.stderr
    assert not (place / "ran").exists()
