"""What people see who have not installed an extra: one sentence that names it."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
import typer
from typer.main import get_command

from openset import Scores, choose
from openset.cli import app
from openset.errors import _EXTRAS, MissingPackageError, OpenSetError, missing_package, needing
from pictures import write_image

HERE = Path(__file__).parents[1]
GOLDEN = HERE / "golden"
FOUND = GOLDEN / "found.json"
TRUTHS = ("--known-gt", GOLDEN / "known.json", "--wild-gt", GOLDEN / "wild.json")


def run_without(absent, *commands):
    """Exit code and error output of commands, in a process in which packages are not there."""
    task = json.dumps({"absent": list(absent), "commands": [[str(word) for word in words] for words in commands]})
    found = subprocess.run(
        [sys.executable, HERE / "without_packages.py", task], capture_output=True, text=True, check=False
    )
    assert found.returncode == 0, found.stderr
    return json.loads(found.stdout.splitlines()[-1])


def all_commands(group=None, before=()):
    """Every command there is, as its words."""
    for name, command in (group or get_command(app)).commands.items():
        if isinstance(command, typer.core.TyperGroup):
            yield from all_commands(command, (*before, name))
        else:
            yield (*before, name)


@pytest.fixture
def calls(tmp_path):
    """A call of every command that would work if everything were installed, but for missing models."""
    a, b, out = GOLDEN / "a.csv", GOLDEN / "b.csv", tmp_path / "out"
    yolo = tmp_path / "yolo"
    for name in ("1.png", *(f"wild{place}.jpg" for place in range(20))):
        write_image(yolo / "images" / name)
    (yolo / "labels").mkdir()
    (yolo / "labels" / "1.txt").write_text("0 0.5 0.5 0.2 0.2\n")
    (yolo / "classes.txt").write_text("cat\n")
    (tmp_path / "mine.yaml").write_text("data: digits\nknown: [0, 1]\n")
    run = tmp_path / "run"
    run.mkdir()
    (run / "summary.json").write_text("{}")
    (tmp_path / "tree.csv").write_text("class,parent\na,b\nc,d\n")
    (tmp_path / "weights.pth").write_bytes(b"")
    frozen = tmp_path / "t.json"
    choose(Scores.read(a), "at_acceptance=0.95").write(frozen)
    return {
        ("apply",): [frozen, a, "--out", tmp_path / "decisions.csv"],
        ("audit",): [a],
        ("bench",): ["--protocols", "digits", "--methods", "softmax", "--out", out],
        ("compare",): [a, b, "--resamples", "2"],
        ("demo",): ["--out", out / "demo"],
        ("detect", "compare"): [
            *TRUTHS,
            "--dt",
            FOUND,
            "--dt",
            FOUND,
            "--bootstrap",
            "2",
        ],
        ("detect", "demo"): ["--out", out / "detect"],
        ("detect", "evaluate"): ["--known-gt", yolo, *TRUTHS[2:], "--dt", FOUND],
        ("detect", "gallery"): [
            *(*TRUTHS, "--wild-dt", FOUND),
            *("--images", yolo / "images", "--out", out / "gallery"),
        ],
        ("detect", "predict"): [
            *("--model", "transformers:nothing", "--known-gt", GOLDEN / "known.json"),
            *("--images", yolo / "images", "--out", out / "dt.json"),
        ],
        ("detect", "split"): [GOLDEN / "known.json", "--known", "cat", "--out", out / "split"],
        ("detect", "threshold"): [*TRUTHS, "--dt", FOUND, "--rule", "recall=0.3"],
        ("evaluate",): [a, "--figures", out / "figures"],
        ("export",): [run, "--onnx", out / "run.onnx"],
        ("methods",): [],
        ("metrics",): [],
        ("outputs",): [run, yolo / "images", "--out", out / "outputs.npz"],
        ("predict",): [run, yolo / "images"],
        ("pretrained",): [tmp_path / "weights.pth", "--out", out / "pretrained"],
        ("protocols", "export"): [tmp_path / "mine.yaml", "--out", out / "lists", "--images"],
        ("protocols", "list"): [],
        ("protocols", "make"): [
            *(
                out / "p.yaml",
                "--data",
                "photos",
                "--hierarchy",
                tmp_path / "tree.csv",
                "--known",
                "b",
                "--unknown",
                "d",
            )
        ],
        ("protocols", "show"): ["digits", "--figure", out / "sheet.png"],
        ("reproduce",): ["openauc/table2", "--out", out / "runs", "--results", out / "results"],
        ("scores",): [],
        ("threshold",): [a, "--rule", "at_fpr=0.1"],
        ("train",): ["--protocol", "digits", "--out", out / "train"],
        ("tune",): ["fast/digits", "--vary", "method.weight=0.1,0.2", "--out", out / "tune"],
        ("watch",): [frozen, a],
    }


def test_every_command_says_which_extra_it_needs(calls):
    assert set(calls) == set(all_commands())
    ran = run_without(_EXTRAS, *([*command, *words] for command, words in calls.items()))
    for command, (code, told) in zip(calls, ran, strict=True):
        assert code in {0, 2}, (command, told)
        if code == 2:
            assert " needs " in told, (command, told)
            assert "pip install 'openset[" in told, (command, told)
            assert told.count("\n") == 1, (command, told)
    without_extras = {command for command, (code, _) in zip(calls, ran, strict=True) if code == 0}
    base = {
        ("audit",),
        ("compare",),
        ("demo",),
        ("metrics",),
        ("protocols", "list"),
        ("threshold",),
        ("detect", "split"),
    }
    assert base <= without_extras


@pytest.mark.slow
@pytest.mark.parametrize(
    ("absent", "command", "message"),
    [
        ("torch", ("train",), "Training needs PyTorch: pip install 'openset[torch]'."),
        ("lightning_fabric", ("train",), "Training needs Lightning Fabric: pip install 'openset[torch]'."),
        ("safetensors", ("predict",), "A model of the family 'run' needs safetensors: pip install 'openset[torch]'."),
        ("yaml", ("train",), "Writing YAML needs PyYAML: pip install 'openset[data]'."),
        ("yaml", ("protocols", "export"), "Reading YAML needs PyYAML: pip install 'openset[data]'."),
        ("PIL", ("protocols", "show"), "A contact sheet needs Pillow: pip install 'openset[data]'."),
        ("PIL", ("detect", "evaluate"), "Reading images needs Pillow: pip install 'openset[data]'."),
        ("matplotlib", ("evaluate",), "Drawing figures needs matplotlib: pip install 'openset[plot]'."),
        ("transformers", ("detect", "predict"), "needs transformers: pip install 'openset[transformers]'."),
        ("onnx", ("export",), "Writing an ONNX file needs onnx: pip install 'openset[onnx]'."),
        (
            "torch",
            ("detect", "demo"),
            "The demo, which trains a detector, needs PyTorch: pip install 'openset[torch]'.",
        ),
    ],
)
def test_the_sentence_names_package_and_extra(calls, absent, command, message):
    ((code, told),) = run_without([absent], [*command, *calls[command]])
    assert (code, told.startswith("Error: ")) == (2, True), told
    assert message in told


@pytest.mark.parametrize(
    ("code", "message"),
    [
        (
            "from openset import OpenSetClassifier; OpenSetClassifier().fit([[0], [1]], [0, 1])",
            "OpenSetClassifier needs",
        ),
        ("from openset import OpenSetClassifier; OpenSetClassifier.load('a')", "OpenSetClassifier needs PyTorch"),
        ("import openset.torchmetrics", "openset.torchmetrics needs PyTorch"),
        ("import openset.methods", "A method needs PyTorch"),
        ("import openset.backbones", "A backbone needs PyTorch"),
        ("import openset.train.config", "Training needs PyTorch"),
        ("import openset.present.plots", "Drawing figures needs matplotlib"),
    ],
)
def test_python_says_it_too(code, message):
    guarded = (
        "import sys; from without_packages import Remaining; from importlib.machinery import PathFinder; "
        f"sys.meta_path = [*(one for one in sys.meta_path if one is not PathFinder), Remaining({set(_EXTRAS)})]\n"
        f"from openset.errors import OpenSetError\ntry:\n    {code}\nexcept OpenSetError as error:\n    print(error)\n"
    )
    found = subprocess.run([sys.executable, "-c", guarded], capture_output=True, text=True, check=True, cwd=HERE)
    assert found.stdout.startswith(message)
    assert "pip install 'openset[" in found.stdout


def test_an_installed_package_that_does_not_load_is_told_apart():
    error = missing_package("Drawing", ImportError("libblue.so is gone", name="matplotlib.colors"))
    assert str(error) == (
        "Drawing needs matplotlib: pip install 'openset[plot]' (what is installed does not load: libblue.so is gone)."
    )


def test_the_error_is_both_ours_and_an_import_error():
    with pytest.raises(MissingPackageError) as caught, needing("Counting"):
        raise ModuleNotFoundError("No module named 'abacus'", name="abacus")
    assert isinstance(caught.value, OpenSetError)
    assert isinstance(caught.value, ImportError)
    assert (caught.value.name, str(caught.value)) == (
        "abacus",
        "Counting needs the package 'abacus': pip install 'abacus'.",
    )
