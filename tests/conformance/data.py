"""What the questions are asked about: small data that print themselves, and random ones from a seed."""

from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from samples import N_CLASSES


@dataclass(frozen=True, eq=False)
class Data:
    """Fields that print themselves as the page shows them; lists become arrays."""

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if isinstance(value, list):
                object.__setattr__(self, field.name, np.array(value))

    def __str__(self) -> str:
        given = [(field.name, getattr(self, field.name)) for field in fields(self)]
        return "; ".join(f"{name} = {np.asarray(value).tolist()}" for name, value in given if value is not None)


@dataclass(frozen=True, eq=False)
class Sample(Data):
    """What a classifier said about some samples."""

    labels: Any
    predictions: Any = None
    unknown_score: Any = None
    probabilities: Any = None

    @property
    def is_open(self) -> Any:
        """Which samples are open-set."""
        return self.labels < 0

    @property
    def correct(self) -> Any:
        """Which samples are known and classified correctly."""
        return (self.labels >= 0) & (self.labels == self.predictions)

    @property
    def known_score(self) -> Any:
        """Unknown scores of the knowns."""
        return self.unknown_score[~self.is_open]

    @property
    def open_score(self) -> Any:
        """Unknown scores of the open-set samples."""
        return self.unknown_score[self.is_open]


@dataclass(frozen=True, eq=False)
class TwoModels(Data):
    """Unknown scores of two models on the same samples."""

    labels: Any
    first: Any
    second: Any


@dataclass(frozen=True, eq=False)
class Calibration(Data):
    """Unknown scores of calibration knowns and of new samples; at most a fraction `alpha` of new knowns is lost."""

    known: Any
    new: Any
    alpha: float


@dataclass(frozen=True, eq=False)
class Outputs(Data):
    """Logits and features of a network, those of its training part where a score is fitted, and its last layer."""

    logits: Any = None
    features: Any = None
    weight: Any = None
    bias: Any = None
    fit_labels: Any = None
    fit_logits: Any = None
    fit_features: Any = None


@dataclass(frozen=True, eq=False)
class Splits(Data):
    """One value per run, and the split that it belongs to."""

    values: Any
    splits: Any


@dataclass(frozen=True, eq=False)
class Classes(Data):
    """Numbers of classes of a protocol."""

    n_train: int
    n_test: int


def tensors(*arrays: Any) -> list[Any]:
    """Arrays as torch tensors."""
    import torch

    return [torch.as_tensor(np.ascontiguousarray(array)) for array in arrays]


# ---- random ones -----------------------------------------------------------------------------------------------------


def untied(seed: int, *, decimals: int | None = None) -> Sample:
    """4 to 60 samples, at least two known and two open-set ones, every class among the knowns if there are enough."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(N_CLASSES + 2, 60))
    labels = np.where(rng.random(n) < 0.6, rng.integers(0, N_CLASSES, n), rng.integers(-2, 0, n))
    labels[: N_CLASSES + 2] = [*range(N_CLASSES), -1, -2]
    predictions = np.where((labels >= 0) & (rng.random(n) < 0.7), labels, rng.integers(0, N_CLASSES, n))
    score = rng.normal(size=n) + rng.choice([0.0, 1.0, 3.0]) * (labels < 0)
    given = np.exp(3 * rng.normal(size=(n, N_CLASSES)))
    order = rng.permutation(n)
    probabilities = given / given.sum(axis=1, keepdims=True)
    score = score if decimals is None else score.round(decimals)
    return Sample(labels[order], predictions[order], score[order], probabilities[order])


def tied(seed: int) -> Sample:
    """The same with scores rounded to whole numbers, so that most of them are equal to others."""
    return untied(seed, decimals=0)


def mixed(seed: int) -> Sample:
    """Every other one with many equal scores."""
    return tied(seed) if seed % 2 else untied(seed)


def within_unit(seed: int) -> Sample:
    """Scores in [0, 1], as float32."""
    sample = mixed(seed)
    span = np.ptp(sample.unknown_score) or 1.0
    score = ((sample.unknown_score - sample.unknown_score.min()) / span).astype(np.float32)
    return Sample(sample.labels, sample.predictions, score)


def two_models(seed: int) -> TwoModels:
    """Two models on the same samples, neither of which separates them fully."""
    rng = np.random.default_rng(seed)
    while True:
        labels = mixed(int(rng.integers(1 << 30))).labels
        first = (rng.normal(size=len(labels)) + (labels < 0)).round(int(rng.integers(0, 4)))
        second = rng.normal(size=len(labels)) + (labels < 0)
        if all(score[labels >= 0].max() > score[labels < 0].min() for score in (first, second)):
            return TwoModels(labels, first, second)


def calibration(seed: int) -> Calibration:
    """3 to 60 calibration knowns, rounded so that some new scores equal one of them."""
    rng = np.random.default_rng(seed)
    known, new = rng.normal(size=int(rng.integers(3, 60))).round(1), rng.normal(size=50).round(1)
    return Calibration(known, new, float(rng.choice([0.05, 0.1, 0.2, 0.25, 0.5])))


def outputs(seed: int) -> Outputs:
    """Logits and features of a network with four classes, and of its training part, classified correctly."""
    rng = np.random.default_rng(seed)
    labels = np.arange(240) % N_CLASSES
    features = np.abs(rng.normal(size=(240, 6)) + 5 * np.eye(6)[labels])
    logits = rng.normal(size=(240, N_CLASSES)) + 6 * np.eye(N_CLASSES)[labels]
    keep = logits.argmax(axis=1) == labels
    test = rng.normal(size=(20, N_CLASSES))
    test[:10] += 9 * np.eye(N_CLASSES)[np.arange(10) % N_CLASSES]  # each class is predicted
    return Outputs(
        logits=test,
        features=np.abs(rng.normal(size=(20, 6))),
        weight=rng.normal(size=(N_CLASSES, 6)),
        bias=rng.normal(size=N_CLASSES),
        fit_labels=labels[keep],
        fit_logits=logits[keep],
        fit_features=features[keep],
    )


def splits(seed: int) -> Splits:
    """Two to six splits with the same number of seeds each."""
    rng = np.random.default_rng(seed)
    n_splits, n_seeds = int(rng.integers(2, 7)), int(rng.integers(1, 5))
    numbers = np.repeat(np.arange(n_splits), n_seeds)
    return Splits(rng.random(n_splits)[numbers] + 0.1 * rng.random(len(numbers)), numbers)


def classes(seed: int) -> Classes:
    """Some classes in training and more in testing."""
    rng = np.random.default_rng(seed)
    n_train = int(rng.integers(1, 100))
    return Classes(n_train, n_train + int(rng.integers(0, 200)))
