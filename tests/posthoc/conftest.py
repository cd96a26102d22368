import pytest

from score_samples import digit_outputs, make_outputs


@pytest.fixture
def training():
    return make_outputs(0)


@pytest.fixture
def tested():
    return make_outputs(1, n=30, spread=2.0)


@pytest.fixture(scope="package")
def digits():
    """Real digits: training outputs, and test outputs with unknown ones."""
    return digit_outputs()
