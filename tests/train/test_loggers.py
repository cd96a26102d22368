"""Reports to other services while a run is trained: they hear what log.csv holds, and change nothing."""

import csv
import json
import sys
import types
from importlib.util import find_spec

import numpy as np
import pytest

from model_samples import run
from openset.errors import OpenSetError
from openset.studies.summaries import value_of
from openset.train.loggers import make_loggers, reporting

WORDS = ("train", "--protocol", "digits", "--method", "softmax", "--epochs", 2, "--set", "backbone.width=8")


class Service(types.ModuleType):
    """A client package that writes down what it is told."""

    def __init__(self, name):
        super().__init__(name)
        self.__spec__ = types.SimpleNamespace(name=name)
        self.metrics, self.config, self.ended, self.started = [], {}, [], {}

    # wandb
    def init(self, **given):
        self.started = given
        service = self

        class Run:
            config = types.SimpleNamespace(update=lambda given, **_: service.config.update(given))

            def log(self, metrics, step):
                service.metrics.append((step, metrics))

            def finish(self, exit_code):
                service.ended.append(exit_code)

        return Run()

    # mlflow
    def start_run(self, run_name):
        self.started = {"name": run_name}

    def log_metrics(self, metrics, step):
        self.metrics.append((step, metrics))

    def log_params(self, params):
        self.config.update(params)

    def end_run(self, status):
        self.ended.append(status)


@pytest.mark.parametrize(("name", "end"), [("wandb", 0), ("mlflow", "FINISHED")])
def test_a_service_hears_every_epoch_and_the_results(name, end, tmp_path, monkeypatch):
    service = Service(name)
    monkeypatch.setitem(sys.modules, name, service)
    assert run(*WORDS, "--out", tmp_path / "told", "--logger", name) == 0
    with (tmp_path / "told" / "log.csv").open() as stream:
        rows = list(csv.DictReader(stream))
    assert [step for step, _ in service.metrics] == [1, 2, 2]
    for row, (_, metrics) in zip(rows, service.metrics[:2], strict=True):
        assert float(row["loss"]) == pytest.approx(metrics["loss"], rel=1e-3)
        assert float(row["val_accuracy"]) == pytest.approx(metrics["val_accuracy"], rel=1e-3)
    summary = json.loads((tmp_path / "told" / "summary.json").read_text())
    assert {one["against"] for one in summary["metrics"]} == {"all", "negative", "unknown"}
    assert service.metrics[2][1] == {  # as in the tables of bench: against the unknowns alone
        f"test_{name}": value_of(summary, name) for name in ("open_auc", "auroc", "closed_set_accuracy")
    }
    assert str(service.config["train.epochs"]) == "2"
    assert service.started["name"] == "told"
    assert service.ended == [end]
    assert run(*WORDS, "--out", tmp_path / "quiet") == 0
    one, two = (np.load(tmp_path / folder / "outputs_test.npz")["logits"] for folder in ("told", "quiet"))
    assert np.array_equal(one, two)


def test_a_logger_that_is_not_there_is_told_before_the_training(tmp_path, capsys):
    assert run(*WORDS, "--out", tmp_path / "r", "--logger", "tensorbord") == 2
    assert "Did you mean 'tensorboard'?" in capsys.readouterr().err
    if find_spec("wandb") is None:
        assert run(*WORDS, "--out", tmp_path / "r", "--logger", "wandb") == 2
        assert "The logger 'wandb' needs the package wandb: pip install 'wandb'." in capsys.readouterr().err
    assert not (tmp_path / "r" / "log.csv").exists()


def test_a_service_that_refuses_a_run_is_quoted_in_one_sentence(tmp_path, monkeypatch):
    service = Service("mlflow")

    def refuse(run_name):
        raise RuntimeError(f"no store\nfor {run_name}.")

    service.start_run = refuse
    monkeypatch.setitem(sys.modules, "mlflow", service)
    loggers = make_loggers(["mlflow"], tmp_path / "r")
    sentence = r"^The logger 'mlflow' cannot begin a run: no store for r\.$"
    with pytest.raises(OpenSetError, match=sentence), reporting(loggers, {"seed": 0}):
        pytest.fail("the training has begun")
    assert service.ended == []


@pytest.mark.filterwarnings("ignore")
def test_tensorboard_gets_a_file(tmp_path):
    if find_spec("tensorboard") is None and find_spec("tensorboardX") is None:
        pytest.skip("neither tensorboard nor tensorboardX is installed")
    assert run(*WORDS, "--out", tmp_path / "r", "--logger", "tensorboard") == 0
    (file,) = (tmp_path / "r" / "tensorboard").glob("events.out.*")
    content = file.read_bytes()
    assert b"val_accuracy" in content
    assert b"test_open_auc" in content


def test_shell_completion_is_on(capsys):
    assert run("--show-completion", "bash") == 0
    assert "openset" in capsys.readouterr().out


@pytest.mark.filterwarnings("ignore")
def test_a_lightning_trainer_logs_open_auc(tmp_path):
    lightning = pytest.importorskip("pytorch_lightning", reason="pytorch-lightning is not installed")
    torch = pytest.importorskip("torch")
    from openset.metrics import auroc, open_auc
    from openset.train.callback import OpenSetCallback

    rng = np.random.default_rng(0)
    features, labels = rng.standard_normal((60, 4)).astype(np.float32), np.arange(60) % 4 - 2
    labels = np.where(labels < 0, -2, labels)

    class Module(lightning.LightningModule):
        def __init__(self):
            super().__init__()
            self.layer = torch.nn.Linear(4, 2)

        def training_step(self, batch, _):
            return torch.nn.functional.cross_entropy(self.layer(batch[0]), batch[1].clamp(min=0))

        def validation_step(self, batch, _):
            return {"logits": self.layer(batch[0]), "labels": batch[1]}

        def configure_optimizers(self):
            return torch.optim.SGD(self.parameters(), lr=0.1)

    data = torch.utils.data.TensorDataset(torch.from_numpy(features), torch.from_numpy(labels))
    loader, module = torch.utils.data.DataLoader(data, batch_size=16), Module()
    settings = {"max_epochs": 1, "logger": False, "enable_checkpointing": False, "enable_progress_bar": False}
    trainer = lightning.Trainer(**settings, accelerator="cpu", callbacks=[OpenSetCallback()], default_root_dir=tmp_path)
    trainer.fit(module, loader, loader)
    with torch.no_grad():
        logits = module.layer(torch.from_numpy(features)).numpy()
    expected = open_auc(labels, logits.argmax(axis=1), -logits.max(axis=1))
    assert trainer.callback_metrics["val_open_auc"].item() == pytest.approx(expected, abs=1e-5)
    assert trainer.callback_metrics["val_auroc"].item() == pytest.approx(auroc(labels, -logits.max(axis=1)), abs=1e-5)
    with pytest.raises(OpenSetError, match="needs more than logits"):
        OpenSetCallback(score="knn")
