"""Files that do not fit into memory are refused before they are read."""

import gzip
import json
import subprocess
import sys
import zipfile

import numpy as np
import polars as pl
import pytest

from openset import Scores
from openset._core import memory
from openset._io import json_stream, room, score_columns
from openset._io.json_files import read_json
from openset._io.yaml_files import read_yaml
from openset.errors import OpenSetError


def write_bomb(path, n=150_000_000):
    """An NPZ file of a few megabytes that unpacks to gigabytes, written without having them."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for name in ("labels", "predictions"):
            with archive.open(f"{name}.npy", "w", force_zip64=True) as member:
                np.lib.format.write_array_header_1_0(member, {"descr": "<i8", "fortran_order": False, "shape": (n,)})
                for _ in range(n // 1_000_000):
                    member.write(bytes(8_000_000))


def few_bytes_left(monkeypatch, n):
    for module in (room, json_stream):
        monkeypatch.setattr(module, "free_memory", lambda: n)


@pytest.mark.parametrize("kind", ["parquet", "npz", "csv", "npy"])
def test_a_file_that_does_not_fit_is_refused_with_its_size(tmp_path, monkeypatch, kind):
    path = tmp_path / f"s.{kind}"
    if kind == "npy":
        np.save(path, np.zeros((1000, 3)))
    else:
        Scores(np.zeros(1000, int), np.zeros(1000, int), np.arange(1000.0)).write(path)
    assert len(Scores.read(path)) == 1000
    few_bytes_left(monkeypatch, 5000)
    pattern = (
        rf"s\.{kind} does not fit into memory: it holds [\d.]+ kB, reading takes about [\d.]+ kB, and 5 kB are free"
    )
    with pytest.raises(OpenSetError, match=pattern):
        Scores.read(path)


def test_json_that_does_not_fit(tmp_path, monkeypatch):
    (tmp_path / "a.json").write_text(json.dumps([0] * 2000))
    (tmp_path / "a.json.gz").write_bytes(gzip.compress(b"[" + b'{"a": 1}, ' * 100_000 + b"{}]"))
    few_bytes_left(monkeypatch, 10_000)
    with pytest.raises(OpenSetError, match=r"a\.json does not fit into memory: it holds 6 kB"):
        read_json(tmp_path / "a.json")
    with pytest.raises(OpenSetError, match=r"a\.json\.gz does not fit into memory: it is more than 1 MB of text"):
        list(json_stream.read_chunks(tmp_path / "a.json.gz"))


def test_yaml_has_a_few_lines(tmp_path):
    (tmp_path / "a.yaml").write_text("# long\n" * 3_000_000)
    with pytest.raises(OpenSetError, match=r"a\.yaml is 21 MB long; what is read as YAML has a few lines"):
        read_yaml(tmp_path / "a.yaml")


@pytest.mark.slow
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs a limit of the address space")
@pytest.mark.parametrize("kind", ["parquet", "npz"])
def test_with_little_memory_a_command_ends_in_a_sentence(tmp_path, kind):
    path = tmp_path / f"s.{kind}"
    if kind == "npz":
        write_bomb(path)
    else:
        n = 60_000_000
        columns = {name: pl.repeat(0, n, dtype=pl.Int64, eager=False) for name in ("label", "prediction")}
        frame = pl.select(**columns, unknown_score=pl.repeat(0.5, n, dtype=pl.Float64), eager=False)
        frame.sink_parquet(path)
    assert path.stat().st_size < 50_000_000
    code = (
        "import resource; resource.setrlimit(resource.RLIMIT_AS, (3_000_000_000, 3_000_000_000)); "
        f"from openset.cli import main; main(['evaluate', {str(path)!r}])"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert found.returncode == 2, found.stderr
    assert "does not fit into memory: it holds" in found.stderr
    assert found.stderr.count("\n") == 1


def test_what_is_free_is_the_least_of_all_limits(monkeypatch, tmp_path):
    assert memory.free_memory() is None or memory.free_memory() > 0
    group = {"memory.max": "3000\n", "memory.current": "1000\n", "memory.stat": "anon 1\ninactive_file 200\n"}
    for name, content in group.items():
        (tmp_path / name).write_text(content)
    monkeypatch.setattr(memory, "_GROUPS", ([str(tmp_path / name) for name in group],))
    assert memory._of_container() == 2200
    assert memory.free_memory() == 2200
    (tmp_path / "memory.max").write_text("max\n")
    assert memory._of_container() is None


def test_one_long_text_among_many_rows(tmp_path, monkeypatch):
    path = tmp_path / "a.csv"
    rows = "".join(f"0,0,0.5,{'x' * (3000 if row == 7 else 1)}\n" for row in range(100))
    path.write_text("label,prediction,unknown_score,group\n" + rows)
    assert len(Scores.read(path)) == 100
    monkeypatch.setattr(score_columns, "free_memory", lambda: 1_000_000)
    with pytest.raises(OpenSetError, match="group has 3,000 characters in line 9: with 100 rows of that length"):
        Scores.read(path)
