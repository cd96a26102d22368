"""Stand-ins: held-out known classes of the training part, and not a sample of the test part."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from openset.errors import OpenSetError
from openset.protocols import build, load, n_splits, parse_stand_in
from openset.protocols.stand_in import StandIn, held_out_classes


def test_names():
    assert parse_stand_in("digits") is None
    assert parse_stand_in("stand-in:digits") == StandIn("digits", 0)
    assert parse_stand_in("stand-in:mine/garden.yaml@3") == StandIn("mine/garden.yaml", 3)
    assert [StandIn("digits", split).name for split in (0, 2)] == ["stand-in:digits", "stand-in:digits@2"]
    assert n_splits("stand-in:digits@4") == 3


@given(st.integers(3, 40), st.integers(0, 50))
def test_a_third_of_the_classes_is_held_out(n, number):
    known = tuple(f"class {place}" for place in range(n))
    held = held_out_classes(known, number)
    assert len(held) == n // 3 == len(set(held))
    assert set(held) < set(known)
    assert held == tuple(sorted(held, key=known.index))


@given(st.integers(3, 40))
def test_the_first_three_choices_have_no_class_in_common(n):
    known = tuple(f"class {place}" for place in range(n))
    held = [name for number in range(3) for name in held_out_classes(known, number)]
    assert len(held) == len(set(held))


def test_two_classes_are_too_few():
    with pytest.raises(OpenSetError, match="one known class of three or more, and there are 2"):
        held_out_classes(("a", "b"), 0)


@pytest.mark.parametrize("split", [0, 3])
@pytest.mark.parametrize("number", range(4))
def test_everything_comes_from_what_a_training_may_see(split, number):
    whole, made = load("digits", split=split), load(f"stand-in:digits@{split}", split=number)
    seen = {*whole.train.ids.tolist(), *whole.val.ids.tolist()}
    tested = set(whole.test.ids.tolist())
    for part in made.parts.values():
        assert set(part.ids.tolist()) <= seen
        assert not set(part.ids.tolist()) & tested
    used = [name for part in made.parts.values() for name in part.ids.tolist()]
    assert sorted(used) == sorted(seen)  # nothing is lost, nothing is there twice


def test_the_classes_play_their_parts():
    whole, made = load("digits"), load("stand-in:digits", split=1)
    held = set(whole.class_names) - set(made.class_names)
    assert set(made.unknown_classes) == held
    assert made.class_names == tuple(name for name in whole.class_names if name not in held)
    assert made.negative_classes == whole.negative_classes
    assert set(made.test.open_classes[made.test.labels == -2]) == held
    assert not (made.train.labels == -2).any()
    assert not (made.val.labels == -2).any()
    truth = {
        name: whole.class_names[label]
        for part in (whole.train, whole.val)
        for name, label in zip(part.ids.tolist(), part.labels.tolist(), strict=True)
        if label >= 0
    }
    for part in made.parts.values():
        for name, label in zip(part.ids.tolist(), part.labels.tolist(), strict=True):
            assert label < 0 or made.class_names[label] == truth[name]
    known = made.test.labels >= 0
    assert known.sum() / (known.sum() + (made.train.labels >= 0).sum()) == pytest.approx(0.2, abs=0.02)


def test_choices_differ_and_each_is_always_the_same():
    one, again, other = (load("stand-in:digits", split=number) for number in (0, 0, 1))
    assert one.fingerprint == again.fingerprint != other.fingerprint
    np.testing.assert_array_equal(one.test.ids, again.test.ids)
    assert "play the unknowns; its test part is closed" in one.notes[0]


@pytest.fixture
def no_tests(monkeypatch):
    """Opening any part to test on is an error."""
    real = build.__globals__["open_dataset"]

    def guarded(place, split, **more):
        assert split != "test", f"{place} was opened for testing"
        return real(place, split, **more)

    monkeypatch.setitem(build.__globals__, "open_dataset", guarded)


def test_no_test_part_is_opened(no_tests, tmp_path):
    assert len(load("stand-in:digits").test)
    own = tmp_path / "own.yaml"
    own.write_text("data: digits\nknown: ['1', '2', '3', '4']\nunknown: ['7']\n")
    assert load(f"stand-in:{own}").class_names
    with pytest.raises(AssertionError, match="was opened for testing"):
        load("digits")


def test_data_that_only_the_unknown_come_from_need_not_be_there(tmp_path):
    """A user's unknown photos may not even exist yet."""
    own = tmp_path / "own.yaml"
    own.write_text("data: digits\nknown: ['1', '2', '3', '4']\nunknown: {data: nowhere}\n")
    with pytest.raises(OpenSetError, match="there is no data 'nowhere'"):
        load(own)
    assert len(load(f"stand-in:{own}").class_names) == 3


def test_lists_have_stand_ins_too(tmp_path):
    from PIL import Image

    rows = {"train": [], "val": [], "test": []}
    for label in range(4):
        for place in range(12):
            Image.new("L", (8, 8), 20 * label + place).save(tmp_path / f"{label}-{place}.png")
            part = "train" if place < 8 else "val" if place < 10 else "test"
            rows[part].append(f"{label}-{place}.png,{label}")
    rows["test"] = [row.rpartition(",")[0] + ",-2" if row.startswith("3") else row for row in rows["test"]]
    for part, lines in rows.items():
        (tmp_path / f"{part}.csv").write_text("\n".join(lines) + "\n")
    made = load(f"stand-in:{tmp_path}")
    (tmp_path / "test.csv").write_text("this is not a list")
    again = load(f"stand-in:{tmp_path}")
    assert made.fingerprint == again.fingerprint
    assert len(made.class_names) == 3
    with pytest.raises(OpenSetError, match="has no split 1: lists are one split"):
        load(f"stand-in:{tmp_path}@1")


def test_what_is_not_there_is_said():
    with pytest.raises(OpenSetError, match="There is no protocol, YAML file or folder 'digit'. Did you mean 'digits'?"):
        load("stand-in:digit")
    with pytest.raises(OpenSetError, match="digits has no split 9"):
        load("stand-in:digits@9")
