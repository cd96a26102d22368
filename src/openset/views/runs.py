"""What training and benches hand to figures and pages."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class TrainingLog:
    """Columns of a training log: one value per epoch each; None where an epoch has no value."""

    epochs: Sequence[float]
    columns: Mapping[str, Sequence[float | None]]


@dataclass(frozen=True)
class GammaLog:
    """Confidence of one model on validation data after each epoch."""

    epochs: Sequence[float]
    gamma_plus: Sequence[float]
    """Mean probability of the true class, on knowns."""
    gamma_minus: Sequence[float]
    """Mean lack of any high probability, on negatives."""


@dataclass(frozen=True)
class Sensitivity:
    """A figure for each value of a setting, over several splits: one row of `values` per setting."""

    settings: Sequence[float]
    values: Sequence[Sequence[float]]


@dataclass(frozen=True)
class BenchRow:
    """One method on one protocol: the figure of each split or seed."""

    protocol: str
    method: str
    values: Sequence[float]
