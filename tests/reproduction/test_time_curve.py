import pytest

from openset.errors import OpenSetError
from openset.reproduction.options import Options
from openset.reproduction.time_curve import SHARES, _cell


def test_a_shorter_training_warms_up_for_a_shorter_time(tmp_path):
    options = Options(scale="cpu", results=tmp_path, out=tmp_path)
    for method in ("maxlogit", "openauc"):
        cells = [_cell(options, "mnist", method, 0, share) for share in SHARES["cpu"]]
        shares = {round(cell.config.schedule.warmup_epochs / cell.config.train.epochs, 6) for cell in cells}
        assert len({cell.config.train.epochs for cell in cells}) == len(cells)
        assert len(shares) == 1
        starts = {round(cell.config.method.options.get("start", 0) / cell.config.train.epochs, 4) for cell in cells}
        assert starts == ({0.0} if method == "maxlogit" else {0.6667})


def test_the_users_epochs_are_the_whole(tmp_path):
    options = Options(scale="cpu", results=tmp_path, out=tmp_path, overrides=["train.epochs=4"])
    cell = _cell(options, "mnist", "maxlogit", 0, 0.5)
    assert (cell.config.train.epochs, cell.config.schedule.warmup_epochs) == (2, 0.4)


def test_a_shorter_training_sees_small_images_for_a_shorter_time(tmp_path):
    options = Options(scale="cpu", results=tmp_path, out=tmp_path)
    configs = [_cell(options, "cifar10", "maxlogit", 0, share).config for share in (0.05, *SHARES["cpu"])]
    whole = configs[SHARES["cpu"].index(1.0) + 1]
    wanted = [whole.augment.shrink_epochs * one.train.epochs / whole.train.epochs for one in configs]
    assert [one.augment.shrink_epochs for one in configs] == [max(1, round(epochs)) for epochs in wanted]
    assert whole.augment.shrink_epochs > 1


def test_epochs_that_are_no_number_are_named(tmp_path):
    options = Options(scale="cpu", results=tmp_path, out=tmp_path, overrides=["train.epochs=abc"])
    with pytest.raises(OpenSetError, match=r"'train.epochs' must be a whole number, got 'abc'"):
        _cell(options, "mnist", "maxlogit", 0, 0.5)
