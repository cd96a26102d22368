"""Values that were published with a version stay what they are: any change must be meant."""

import json
import math

import pytest

from golden.make import COMMANDS, HERE, values


@pytest.mark.parametrize("name", COMMANDS)
def test_values_are_those_of_before(name, tmp_path, capsys):
    before = json.loads((HERE / f"{name}.values.json").read_text(encoding="utf-8"))
    assert_same(values(name, tmp_path), before, name)


def assert_same(now, before, place):
    """Equal but for the last digits, which differ between processors."""
    if isinstance(before, dict):
        assert now.keys() == before.keys(), place
        for key, value in before.items():
            assert_same(now[key], value, f"{place}.{key}")
    elif isinstance(before, list):
        assert len(now) == len(before), place
        for number, value in enumerate(before):
            assert_same(now[number], value, f"{place}[{number}]")
    elif isinstance(before, float):
        assert math.isclose(now, before, rel_tol=1e-9, abs_tol=1e-12), f"{place}: {before} became {now}"
    else:
        assert now == before, place
