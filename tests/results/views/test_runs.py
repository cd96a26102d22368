import pytest

from openset.errors import OpenSetError
from openset.results.views import GammaLog, TrainingLog

LOG = "epoch,loss,val_gamma_plus,val_gamma_minus\n1,2.5,0.2,1.0\n2,,0.6,0.8\n"


def test_a_log_is_read_with_its_gaps(tmp_path):
    (tmp_path / "log.csv").write_text(LOG)
    log = TrainingLog.read(tmp_path / "log.csv")
    assert log.epochs == [1, 2]
    assert log.columns["loss"] == [2.5, None]
    assert list(log.columns) == ["loss", "val_gamma_plus", "val_gamma_minus"]
    (tmp_path / "other.csv").write_text("label,prediction\n0,1\n")
    with pytest.raises(OpenSetError, match=r"other\.csv is not a training log"):
        TrainingLog.read(tmp_path / "other.csv")


def test_confidence_is_the_mean_of_runs_up_to_the_shortest():
    def log(plus, minus):
        return TrainingLog(list(range(1, len(plus) + 1)), {"val_gamma_plus": plus, "val_gamma_minus": minus})

    found = GammaLog.mean([log([0.2, 0.4, 0.6], [1.0, 0.8, 0.6]), log([0.4, 0.8], [0.8, 0.4])])
    assert found.epochs == [1, 2]
    assert found.gamma_plus == pytest.approx([0.3, 0.6])
    assert found.gamma_minus == pytest.approx([0.9, 0.6])
    without = TrainingLog([1], {"loss": [1.0]})
    begun_before_it_was_logged = log([None, 0.5], [None, 0.5])
    assert GammaLog.mean([without, begun_before_it_was_logged]) is None
    assert GammaLog.mean([without, log([0.5], [0.25])]).gamma_minus == [0.25]
