import platform

import numpy as np

import openset
from openset.results.provenance import provenance

ALWAYS = {"made", "openset", "numpy", "polars", "scikit-learn", "python", "machine", "cpu", "cores"}


def test_results_say_where_they_come_from():
    found = provenance()
    assert set(found) == ALWAYS
    assert (found["openset"], found["numpy"]) == (openset.__version__, np.__version__)
    assert found["python"] == platform.python_version()
    assert all(found.values())


def test_what_else_a_result_depends_on():
    found = provenance("scipy", "no-such-package", threads=4)
    assert found["no-such-package"] == "not installed"
    assert found["scipy"][0].isdigit()
    assert found["threads"] == "4"
