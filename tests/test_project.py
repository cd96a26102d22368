"""What surrounds the package says the same as it: workflows, the action, the container, the recipe, the citation."""

import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import openset

yaml = pytest.importorskip("yaml", reason="PyYAML is not installed")

ROOT = Path(__file__).parents[1]
WORKFLOWS = {file.stem: yaml.safe_load(file.read_text("utf-8")) for file in (ROOT / ".github/workflows").glob("*.yml")}
STEPS = [
    pytest.param(step, id=f"{name}-{job}-{number}")
    for name, workflow in WORKFLOWS.items()
    for job, content in workflow["jobs"].items()
    for number, step in enumerate(content["steps"])
]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
MAKEFILE = (ROOT / "Makefile").read_text("utf-8")
TARGETS = set(re.findall(r"^([\w-]+):", MAKEFILE, re.MULTILINE))


def test_every_workflow_is_there():
    assert set(WORKFLOWS) == {"docs", "release", "tests", "weekly"}
    assert all(workflow["permissions"] == {"contents": "read"} for workflow in WORKFLOWS.values())
    started = {name: set(workflow[True]) for name, workflow in WORKFLOWS.items()}  # YAML reads the key `on` as true
    assert started["tests"] == started["docs"] == {"push", "pull_request"}
    assert WORKFLOWS["release"][True] == {"push": {"tags": ["v*"]}}
    assert "schedule" in started["weekly"]


@pytest.mark.parametrize("step", STEPS)
def test_a_step_runs_a_command_of_the_makefile_or_names_a_version(step):
    if "uses" in step:
        assert re.fullmatch(r"[\w-]+/[\w-]+@[\w./-]+", step["uses"])
        return
    command, *words = step["run"].split()
    assert command in {"make", "test"}
    if command == "make":
        assert words[0] in TARGETS
        assert all(f"{word.partition('=')[0]} ?=" in MAKEFILE for word in words[1:])


def test_tests_run_on_every_python_that_is_promised_and_on_three_systems():
    matrix = WORKFLOWS["tests"]["jobs"]["test"]["strategy"]["matrix"]
    promised = [words.rpartition(" ")[2] for words in PROJECT["classifiers"] if "Python :: 3." in words]
    assert matrix["python"] == promised
    assert PROJECT["requires-python"] == f">={promised[0]}"
    systems = {*matrix["os"], *(one["os"] for one in matrix["include"])}
    assert systems == {"ubuntu-latest", "windows-latest", "macos-latest"}


def test_a_release_is_published_only_with_the_version_of_its_tag_and_without_a_password():
    jobs = WORKFLOWS["release"]["jobs"]
    lines = [
        step["run"].replace("${GITHUB_REF_NAME#v}", openset.__version__)
        for step in jobs["build"]["steps"]
        if "run" in step
    ]
    assert any(f"dist/openset-{openset.__version__}-py3-none-any.whl" in line for line in lines)
    assert jobs["publish"]["needs"] == "build"
    assert jobs["publish"]["permissions"] == {"id-token": "write"}


def test_the_recipe_needs_what_the_package_needs():
    text = (ROOT / "conda/meta.yaml").read_text("utf-8")
    (run,) = re.findall(r"^  run: \[(.*)\]$", text, re.MULTILINE)
    names = {word.replace(" ", "") for word in run.split(", ")}
    assert names == {f"python{PROJECT['requires-python']}", *PROJECT["dependencies"]}
    assert f'"{openset.__version__}"' in text


def test_the_citation_and_the_changelog_have_the_version():
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text("utf-8"))
    assert citation["version"] == openset.__version__
    assert citation["license"] == PROJECT["license"]
    assert len(citation["references"]) == 3
    assert f"\n## {openset.__version__}, " in (ROOT / "CHANGELOG.md").read_text("utf-8")


def test_the_container_for_development_is_a_stage_of_the_dockerfile():
    container = json.loads((ROOT / ".devcontainer/devcontainer.json").read_text("utf-8"))
    dockerfile = (ROOT / "Dockerfile").read_text("utf-8")
    assert re.search(rf"^FROM \S+ AS {container['build']['target']}$", dockerfile, re.MULTILINE)
    assert (ROOT / ".devcontainer" / container["build"]["dockerfile"]).is_file()
    command, target = container["postCreateCommand"].split()
    assert command == "make"
    assert target in TARGETS


def test_issue_forms_can_be_read():
    for form in (ROOT / ".github/ISSUE_TEMPLATE").glob("*.yml"):
        content = yaml.safe_load(form.read_text("utf-8"))
        assert set(content) == {"name", "description", "labels", "body"}
        assert all(one["type"] in {"textarea", "input"} for one in content["body"])
        assert all(
            set(one["attributes"]) <= {"label", "description", "render"} for one in content["body"]
        )  # no comma split one


@pytest.mark.skipif(shutil.which("bash") is None, reason="there is no bash")
@pytest.mark.parametrize(
    ("bars", "code"), [("open_auc>=0.5\n\nccr_at_fpr(fpr=0.2)>=0.1", 0), ("open_auc.low>=0.999", 1)]
)
def test_the_action_holds_bars_and_keeps_the_page(tmp_path, bars, code):
    action = yaml.safe_load((ROOT / "action.yml").read_text("utf-8"))
    step = action["runs"]["steps"][-1]
    given = {"files": str(ROOT / "tests/golden/a.csv"), "require": bars, "arguments": "--no-intervals --json r.json"}
    if ".low" in bars:
        given["arguments"] = "--json r.json"
    values = {name: given.get(name, one.get("default", "")) for name, one in action["inputs"].items()}
    env = {
        name: re.sub(r"\$\{\{ inputs\.(\w+) \}\}", lambda found: values[found[1]], text)
        for name, text in step["env"].items()
    }
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])  # an environment need not be active
    done = subprocess.run(
        ["bash", "-e", "-c", step["run"]],
        cwd=tmp_path,
        env={**os.environ, **env, "PATH": path},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == code, done.stdout + done.stderr
    assert (tmp_path / values["report"]).is_file()
    assert (tmp_path / "r.json").is_file()
    assert ("All 2 bars reached." in done.stdout) == (code == 0), done.stdout


@pytest.mark.parametrize(("minutes", "outcome"), [("", "2 passed"), ("60", "2 passed"), ("0", "1 passed, 1 skipped")])
def test_slow_tests_come_last_and_not_after_the_time_that_is_given(tmp_path, minutes, outcome):
    shutil.copy(ROOT / "tests/conftest.py", tmp_path)
    (tmp_path / "pytest.ini").write_text("[pytest]\nmarkers = slow: long\n")
    (tmp_path / "test_it.py").write_text(
        "import pytest\n@pytest.mark.slow\ndef test_long(): pass\ndef test_short(): pass\n"
    )
    words = ["-c", "pytest.ini", "-v", "-ra", "-p", "no:randomly", "-p", "no:cacheprovider", "-n", "0"]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *words],
        cwd=tmp_path,
        env={**os.environ, "OPENSET_TEST_MINUTES": minutes},
        capture_output=True,
        text=True,
        check=False,
    )
    assert f"= {outcome} in " in done.stdout, done.stdout + done.stderr
    first, second = re.findall(r"::(test_\w+) [PS]", done.stdout)
    assert {first, second} == {"test_long", "test_short"}
    assert first == ("test_short" if minutes else "test_long")
    assert ("make test-all runs all" in done.stdout) == ("skipped" in outcome)


def test_what_holds_before_a_change_lands_is_made_by_the_makefile():
    lines = (ROOT / ".ci/run").read_text("utf-8").splitlines()
    made = [line.split()[1] for line in lines if line.startswith("make ")]
    assert made[0] == "environment"
    assert {"test", "test-all"} & set(made)
    assert set(made) <= TARGETS
