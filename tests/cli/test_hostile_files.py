"""Whatever a file or the system does: one sentence and exit code 2, never a failure that asks for a bug report."""

import io
import os
import shutil
import signal
import struct
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

GOLDEN = Path(__file__).parents[1] / "golden"
A, FOUND = GOLDEN / "a.csv", GOLDEN / "found.json"
TRUTHS = ["--known-gt", GOLDEN / "known.json", "--wild-gt", GOLDEN / "wild.json"]
GOOD = {"labels": [0, 1, -2], "predictions": [0, 1, 0], "unknown_score": [0.1, 0.2, 0.3]}


def member(header, data=b""):
    """An array as it lies in an archive, with any header."""
    text = header if isinstance(header, bytes) else header.encode()
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text + data


def of_kind(kind, data):
    return member(f"{{'descr': '{kind}', 'fortran_order': False, 'shape': (3,), }}\n", data)


def write_archive(path, **members):
    plain = {name: np.array(values) for name, values in GOOD.items()} | members
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in plain.items():
            if not isinstance(content, bytes):
                buffer = io.BytesIO()
                np.save(buffer, content)
                content = buffer.getvalue()  # noqa: PLW2901
            archive.writestr(f"{name}.npy", content)
    return path


@pytest.mark.parametrize(
    "header",
    [
        "((((\n",
        "(" * 5000 + "\n",
        "{'descr': '<i8', 'fortran_order': False, 'shape': " + "(" * 3000 + ")" * 3000 + "}\n",
        "{'descr': '<i8', 'fortran_order': False, 'shape': (" + "9" * 5000 + ",), }\n",
        "{'descr': '<i8', 'fortran_order': False, 'shape': (-3,), }\n",
        "{'descr': '<i8', 'fortran_order': False, 'shape': (1000000000000000,), }\n",
        "{'descr': '<i8'",
        b"\x00" * 100,
        b"\xff" * 100,
    ],
)
def test_headers_of_arrays(refused, tmp_path, header):
    told = refused("evaluate", write_archive(tmp_path / "a.npz", labels=member(header, bytes(24))))
    assert "a.npz" in told
    assert len(told) < 500


@pytest.mark.parametrize("name", ["labels", "predictions", "features"])
def test_what_is_not_an_array_in_an_archive(refused, tmp_path, name):
    told = refused("evaluate", write_archive(tmp_path / "a.npz", **{name: b"\x93NUM\xa2Y and more"}))
    assert f"a.npz is damaged: '{name}' in it is not an array" in told


RECORDS = np.array([(1, 2.0)] * 3, dtype=[("a", "i4"), ("b", "f8")])
BEYOND = of_kind("<U1", struct.pack("<III", 0x110000, 0x7FFFFFFF, 0xFFFFFFFF))


@pytest.mark.parametrize("name", ["labels", "predictions", "unknown_score", "ids", "groups", "open_classes"])
@pytest.mark.parametrize("content", [RECORDS, BEYOND], ids=["records", "beyond"])
def test_records_and_characters_beyond_unicode(refused, tmp_path, name, content):
    told = refused("evaluate", write_archive(tmp_path / "a.npz", **{name: content}))
    assert "a.npz" in told
    assert f"'{name}' must be" in told


def test_class_names_and_metadata_of_any_kind(openset, refused, tmp_path):
    for content in (RECORDS, BEYOND):
        assert "'class_names' must be" in refused("evaluate", write_archive(tmp_path / "a.npz", class_names=content))
    single = of_kind("<U1", struct.pack("<I", 0x110000)).replace(b"(3,)", b"()  ")
    assert "must be text" in refused("evaluate", write_archive(tmp_path / "a.npz", openset=single))
    run = openset("evaluate", write_archive(tmp_path / "a.npz", openset=RECORDS), "--no-intervals")
    assert run.code == 0  # somebody else's array of that name


def test_the_number_of_a_column_may_have_thousands_of_digits(openset, tmp_path):
    path = tmp_path / "a.csv"
    path.write_text(f"label,logit_{'9' * 5000},logit_b\nb,1,2\nunknown,2,1\n")
    assert openset("evaluate", path, "--no-intervals").code == 0


@pytest.mark.parametrize(
    "words",
    [
        ["evaluate", "LOOP"],
        ["compare", A, "LOOP"],
        ["threshold", "LOOP", "--rule", "at_fpr=0.1"],
        ["threshold", A, "--rule", "at_fpr=0.1", "--apply", "LOOP"],
        ["threshold", A, "--rule", "at_fpr=0.1", "--out", "LOOP"],
        ["audit", "LOOP"],
        ["evaluate", A, "--fit", "LOOP"],
        ["evaluate", A, "--json", "LOOP"],
        ["evaluate", A, "--figures", "LOOP"],
        ["protocols", "show", "LOOP"],
        ["protocols", "show", "LOOP/x.yaml"],
        ["protocols", "show", "cifar10", "--data-root", "LOOP"],
        ["protocols", "export", "digits", "--out", "LOOP"],
        ["train", "--protocol", "LOOP"],
        ["train", "--protocol", "digits", "--out", "LOOP"],
        ["train", "--resume", "--out", "LOOP"],
        ["predict", "LOOP", "LOOP"],
        ["bench", "--protocols", "LOOP"],
        ["detect", "evaluate", *TRUTHS, "--dt", "LOOP"],
        ["detect", "split", "LOOP", "--hide", "cat", "--out", "split"],
        ["detect", "gallery", *TRUTHS, "--wild-dt", FOUND, "--images", "LOOP", "--out", "gallery"],
        ["detect", "predict", "--model", "yolo:LOOP", *TRUTHS[:2], "--images", ".", "--out", "dt.json"],
    ],
    ids=lambda words: "-".join(str(word) for word in words[:4] if not isinstance(word, Path)),
)
def test_a_link_that_leads_to_itself(refused, tmp_path, monkeypatch, words):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "LOOP").symlink_to("LOOP")
    refused(*words)


@pytest.fixture
def soon():
    """A test that waits for ever fails instead."""

    def give_up(*_):
        raise TimeoutError

    signal.signal(signal.SIGALRM, give_up)
    signal.alarm(60)
    yield
    signal.alarm(0)


@pytest.mark.usefixtures("soon")
@pytest.mark.parametrize("kind", ["pipe", "device"])
@pytest.mark.parametrize(
    "words",
    [
        ["evaluate", "ODD.csv"],
        ["evaluate", "ODD.parquet"],
        ["evaluate", "ODD.parquet", "--bounds"],
        ["evaluate", "folder"],
        ["evaluate", A, "--fit", "ODD.npz"],
        ["threshold", "ODD.json", "--apply", A],
        ["protocols", "show", "./ODD.yaml"],
        ["detect", "evaluate", *TRUTHS, "--dt", "ODD.json"],
        ["detect", "evaluate", *TRUTHS, "--dt", "results"],
        ["detect", "split", "truth", "--hide", "cat", "--out", "split"],
        ["outputs", "onnx:ODD.onnx", "folder", "--out", "o.npz"],
    ],
    ids=lambda words: "-".join(str(word) for word in words[:3] if not isinstance(word, Path)),
)
def test_pipes_and_devices_are_no_files(refused, tmp_path, monkeypatch, words, kind):
    monkeypatch.chdir(tmp_path)
    for folder in ("folder", "results", "truth"):
        (tmp_path / folder).mkdir()
    names = ["ODD.csv", "ODD.parquet", "ODD.npz", "ODD.json", "ODD.yaml", "ODD.onnx", "folder/0.parquet", "truth/1.xml"]
    for name in [*names, "results/comp4_det_test_cat.txt"]:
        if kind == "pipe":
            os.mkfifo(tmp_path / name)
        else:
            (tmp_path / name).symlink_to("/dev/zero")
    assert "is a pipe or a device" in refused(*words)


# ---- the system ----------------------------------------------------------------------------------------------------


def run_in_process(words, before="", **how):
    """Exit code and error output of a command in a process of its own, `before` which something is done."""
    code = f"import os, resource\n{before}\nfrom openset.cli import main\nmain({[str(word) for word in words]!r})"
    found = subprocess.run(
        [*how.pop("prefix", []), sys.executable, "-c", code], stderr=subprocess.PIPE, text=True, check=False, **how
    )
    return found.returncode, found.stderr


def test_a_large_photograph_is_no_reason_for_a_librarys_warning(tmp_path):
    (tmp_path / "photos").mkdir()
    Image.new("1", (10_000, 9_000)).save(tmp_path / "photos" / "large.png")
    scores = tmp_path / "s.csv"
    scores.write_text("id,label,prediction,unknown_score\nlarge.png,0,0,1\nb,-2,0,0\n")
    words = ("evaluate", scores, "--no-intervals", "--samples", tmp_path / "photos", "--report", tmp_path / "r.html")
    assert run_in_process(words, stdout=subprocess.DEVNULL) == (0, "")


@pytest.mark.parametrize(
    ("output", "name"),
    [("--json", "r.json"), ("--csv", "r.csv"), ("--report", "r.html"), ("--figures", "figures")],
)
def test_a_full_disk(tmp_path, output, name):
    full = "resource.setrlimit(resource.RLIMIT_FSIZE, (2000, 2000))"
    told = run_in_process(["evaluate", A, "--no-intervals", output, tmp_path / name], full, stdout=subprocess.DEVNULL)
    assert told[0] == 2, told
    assert f"Error: Cannot write {tmp_path / name}" in told[1]
    assert "file too large" in told[1]
    assert not [file for file in tmp_path.rglob("*") if file.is_file()]


@pytest.mark.parametrize("kind", ["parquet", "npz", "csv"])
def test_scores_on_a_full_disk(tmp_path, kind):
    path = tmp_path / f"s.{kind}"
    code = (
        "import resource, numpy as np; from openset import OpenSetError, Scores\n"
        "random = np.random.default_rng(0); resource.setrlimit(resource.RLIMIT_FSIZE, (2000, 2000))\n"
        f"try:\n    Scores(np.zeros(9999, int), np.zeros(9999, int), random.random(9999)).write({str(path)!r})\n"
        "except OpenSetError as error:\n    print(error)"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.startswith(f"Cannot write {path}: ")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("words", [["metrics"], ["--help"], ["evaluate", A, "--no-intervals"]], ids=lambda one: one[0])
def test_output_that_nobody_can_take(words):
    with Path("/dev/full").open("w") as full:
        code, told = run_in_process(words, stdout=full)
    assert (code, told) == (2, "Error: system error: no space left on device.\n")


@pytest.mark.parametrize("words", [["evaluate", "a.csv"], ["train", "--protocol", "digits"], ["protocols", "list"]])
def test_a_working_folder_that_is_gone(tmp_path, words):
    (tmp_path / "gone").mkdir()
    before = f"os.chdir({str(tmp_path / 'gone')!r}); os.rmdir({str(tmp_path / 'gone')!r})"
    code, told = run_in_process(words, before, stdout=subprocess.DEVNULL)
    assert (code, told) == (2, "Error: the working folder is gone: go to another one.\n")


@pytest.mark.slow
@pytest.mark.skipif(os.geteuid() == 0 and shutil.which("setpriv") is None, reason="root may read everything")
@pytest.mark.parametrize(
    "words", [["protocols", "show", "HALF"], ["train", "--protocol", "HALF"], ["predict", "HALF", "HALF"]]
)
def test_a_folder_that_may_not_be_read(tmp_path, words):
    for name in ("known", "unknown"):
        (tmp_path / "HALF" / name).mkdir(parents=True)
    (tmp_path / "HALF" / "known").chmod(0)
    without = "--bounding-set=-dac_override,-dac_read_search", "--inh-caps=-dac_override,-dac_read_search"
    prefix = ["setpriv", *without] if os.geteuid() == 0 else []
    try:
        code, told = run_in_process(words, prefix=prefix, cwd=tmp_path, stdout=subprocess.DEVNULL)
    finally:
        (tmp_path / "HALF" / "known").chmod(0o700)
    assert code == 2, told
    assert told.startswith("Error: ")
    assert "Traceback" not in told
