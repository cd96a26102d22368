"""Names from files are shown in the terminal, never obeyed by it."""

import json
import re
import time

import numpy as np
import pytest

from openset import Scores
from openset._core.text import shown
from openset._io.terminal import make_console

EVIL = "x\x1b[31m\x1b]0;owned\x07\x9b2J\u202e"
STEERING = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


def assert_harmless(run, *, code=0, names="x"):
    assert run.code == code, run.err
    assert not STEERING.search(run.out + run.err)
    assert rf"{names}\x1b[31m" in "".join((run.out + run.err).split())


@pytest.fixture
def evil_scores(tmp_path):
    rng = np.random.default_rng(0)
    labels = np.repeat([0, 1, -2, -2], 20)
    scores = Scores(
        labels,
        rng.integers(0, 2, 80),
        rng.random(80),
        ids=[f"{EVIL}{place}" for place in range(80)],
        groups=np.where(labels < 0, np.where(np.arange(80) % 2, EVIL, "near"), ""),
        class_names=[EVIL, "dog"],
        meta={"score": EVIL},
    )
    path = tmp_path / f"{EVIL}.npz"
    scores.write(path)
    return path


@pytest.mark.parametrize(
    "words",
    [["evaluate", "--resamples", "2"], ["audit"], ["threshold", "--rule", "at_fpr=0.5"]],
    ids=lambda one: one[0],
)
def test_scores(openset, evil_scores, words):
    assert_harmless(openset(words[0], evil_scores, *words[1:], *(["--against", EVIL] if words[0] == "audit" else [])))


def test_comparison(openset, evil_scores, tmp_path):
    assert_harmless(openset("compare", evil_scores, evil_scores, "--resamples", "2"))
    other = Scores.read(evil_scores)
    Scores(other.labels, other.predictions, other.unknown_score, ids=np.char.add(other.ids, "!")).write(
        tmp_path / "other.npz"
    )
    assert_harmless(openset("compare", evil_scores, tmp_path / "other.npz"), code=2)


def test_errors_are_one_line_whatever_a_name_holds(openset, tmp_path):
    path = tmp_path / "a.csv"
    path.write_text(f'label,prediction,unknown_score\ncat,cat,"{EVIL}\nError: all is well"\n')
    run = openset("evaluate", path)
    assert_harmless(run, code=2)
    assert run.err.count("\n") == 1


def test_a_frozen_threshold(openset, evil_scores, tmp_path):
    path = tmp_path / "t.json"
    assert openset("threshold", evil_scores, "--rule", "at_fpr=0.5", "--out", path).code == 0
    path.write_text(json.dumps({**json.loads(path.read_text()), "rule": EVIL}))
    assert_harmless(openset("threshold", path))


def test_a_protocol(openset, tmp_path):
    content = {"data": "digits", "name": EVIL, "title": EVIL, "notes": [EVIL], "known": ["1", "2"]}
    path = tmp_path / f"{EVIL}.yaml"
    path.write_text(json.dumps(content))
    assert_harmless(openset("protocols", "show", path))
    path.write_text(json.dumps({**content, "known": [EVIL]}))
    assert_harmless(openset("protocols", "show", path), code=2)


def test_pictures_and_emoji_names_stay_text(capsys):
    make_console(width=80).print("[bold]:cat:[/bold] " + EVIL)
    assert capsys.readouterr().out.startswith(":cat: x\\x1b[31m")


def test_what_people_write_is_left_alone():
    for text in ("Müller\n\t日本", "👩‍👩‍👧", "שלום", "a\u200bb"):
        assert shown(text) == text
    assert shown("a\nb\tc", lines=False) == r"a\nb\tc"
    assert shown("\ud800") == r"\ud800"


def test_long_texts_are_printed_at_once(capsys):
    began = time.process_time()
    make_console().print("Note: " + "a" * 70_000)
    assert time.process_time() - began < 5
    assert capsys.readouterr().out.count("a") == 70_000
