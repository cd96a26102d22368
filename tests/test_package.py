"""What importing costs, and what the package promises as a whole."""

import subprocess
import sys

import openset


def loaded_after(statement):
    code = f"import sys; {statement}; print(' '.join(sorted(sys.modules)))"
    return set(subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split())


def test_importing_is_light():
    heavy = {"torch", "pandas", "sklearn", "matplotlib", "plotly", "scipy", "polars", "typer", "rich"}
    assert not heavy & loaded_after("import openset")
    assert not heavy & loaded_after("from openset import Scores; from openset.metrics import open_auc")
    assert not heavy & loaded_after("from openset import evaluate, compare, choose")
    assert not {"torch", "pandas", "sklearn", "matplotlib", "scipy", "polars"} & loaded_after("import openset.cli")


def test_the_promised_names_are_there():
    for name in openset.__all__:
        assert getattr(openset, name) is not None
    assert set(openset.__all__) <= set(dir(openset))


def test_a_wrong_name_is_an_attribute_error():
    import pytest

    with pytest.raises(AttributeError, match="no attribute 'Score'"):
        openset.Score  # noqa: B018
