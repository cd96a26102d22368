"""Outputs: the outputs of a network for some samples, checked once, with what several scores need of them kept."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from openset._core.fingerprint import fingerprint
from openset.errors import OpenSetError
from openset.posthoc.numerics import Array, as_matrix, by_blocks, log_sum_exp, unit

Kept = TypeVar("Kept")
Head = tuple[NDArray[np.floating[Any]] | None, NDArray[np.floating[Any]] | None]
"""Weight (K, D) and bias (K) of the last layer; no bias is None."""
_HEAD_ROWS, _HEAD_ROUNDING = 64, 0.02
"""Rows on which a head is tried, and by how much of the largest logit it may miss: half precision misses by less."""
WHERE = {
    "logits": "columns logit_0, logit_1, ...; in NPZ files 'logits'",
    "features": "array 'features', or columns feature_0, ...",
    "head": "NPZ arrays 'weight' and 'bias'",
}


@dataclass(frozen=True, eq=False)
class Outputs:
    """The outputs of a network for some samples: `logits` (n, K or K+1), `features` (n, D), `labels` (n), as stored.

    `head` is (weight, bias) of the linear layer that makes logits from features: (K or K+1, D) and (K or K+1), with
    None in place of a bias where the layer has none.

    >>> Outputs(logits=np.array([[2.0, 0.0]]), features=np.array([[1.0]])).parts
    ('logits', 'features')
    """

    logits: NDArray[np.floating[Any]] | None = None
    features: NDArray[np.floating[Any]] | None = None
    head: Head | None = None
    labels: NDArray[np.integer[Any]] | None = None
    background: bool = False
    name: str = "the file"
    """What an error calls them."""
    _kept: dict[Any, Any] = field(default_factory=dict, init=False)

    @property
    def parts(self) -> tuple[str, ...]:
        """Which of logits, features and head there are."""
        return tuple(name for name in WHERE if getattr(self, name) is not None)

    def __repr__(self) -> str:
        found = ", ".join(self.parts) or "nothing"
        return f"Outputs({len(self)} samples: {found}; {self.name})"

    def once(self, key: Any, make: Callable[[], Kept]) -> Kept:
        """What `make` returns, computed at the first call with this key and kept for the next."""
        kept = self._kept
        if key not in kept:
            kept[key] = make()
        return kept[key]

    def __len__(self) -> int:
        first = next((one for one in (self.logits, self.features, self.labels) if one is not None), ())
        return len(first)

    # ---- what is stored, checked -------------------------------------------------------------------------------------

    def known_logits(self) -> Array:
        """Logits of the K known classes."""
        return self.once("logits", self._checked_logits)

    def _checked_logits(self) -> Array:
        if self.logits is None:
            raise OpenSetError(f"This score needs logits, and {self.name} has none ({WHERE['logits']}).")
        logits = as_matrix("logits", self.logits)
        return logits[:, :-1] if self.background else logits

    def embedding(self) -> Array:
        """Feature vectors."""
        return self.once("features", self._checked_features)

    def _checked_features(self) -> Array:
        if self.features is None:
            raise OpenSetError(f"This score needs features, and {self.name} has none ({WHERE['features']}).")
        features = as_matrix("features", self.features)
        if self.logits is not None and len(self.logits) != len(features):
            raise OpenSetError(
                f"There are logits of {len(self.logits)} samples and features of {len(features)} in {self.name}."
            )
        return features

    def weight(self) -> Array:
        """Weight of the last layer for the K known classes, (K, D)."""
        return self.once("head", self._checked_head)[0]

    def bias(self) -> Array:
        """Bias of the last layer for the K known classes; zeros where it has none."""
        if self.head is not None and self.head[0] is None:  # given as arrays, for a score that needs no more
            given, width = self.head[1], self.known_logits().shape[1]
            bias = np.zeros(width) if given is None else np.asarray(given, dtype=np.float64)
            if bias.shape != (width,):
                raise OpenSetError(f"'bias' must have one number per known class, {width}, got shape {bias.shape}.")
            return bias
        return self.once("head", self._checked_head)[1]

    def _checked_head(self) -> tuple[Array, Array]:
        if self.head is None or self.head[0] is None:
            raise OpenSetError(f"This score needs the last layer, and {self.name} has none ({WHERE['head']}).")
        weight = as_matrix("weight", self.head[0])
        bias = np.zeros(len(weight)) if self.head[1] is None else as_matrix("bias", np.atleast_2d(self.head[1]))[0]
        if bias.shape != (len(weight),):
            raise OpenSetError(
                f"The head of {self.name} has {len(weight)} rows of weights and a bias of {len(bias)}: they must agree."
            )
        if self.background:
            weight, bias = weight[:-1], bias[:-1]
        if self.features is not None and weight.shape[1] != self.embedding().shape[1]:
            raise OpenSetError(
                f"The head of {self.name} takes {weight.shape[1]} features and there are {self.embedding().shape[1]}: "
                "is it of another network?"
            )
        if self.features is not None and self.logits is not None:
            self._try_head(weight, bias)
        return weight, bias

    def _try_head(self, weight: Array, bias: Array) -> None:
        """A head that does not make these logits from these features would give wrong scores without a word."""
        logits = self.known_logits()[:_HEAD_ROWS]
        if logits.shape[1] != len(weight):
            raise OpenSetError(
                f"The head of {self.name} has {len(weight)} classes and its logits {logits.shape[1]}: "
                "is it of another network?"
            )
        made = self.embedding()[:_HEAD_ROWS] @ weight.T + bias
        off = np.abs(made - logits)
        if off.size and off.max() > _HEAD_ROUNDING * max(1.0, np.abs(logits).max()):
            row, column = np.unravel_index(off.argmax(), off.shape)
            raise OpenSetError(
                f"The head of {self.name} does not make its logits from its features: {made[row, column]:.4g} in place "
                f"of {logits[row, column]:.4g} in row {row}, class {column}. Store the features that enter the last "
                "layer and its own weight and bias."
            )

    # ---- what several scores need ------------------------------------------------------------------------------------

    def predictions(self) -> NDArray[np.intp]:
        """Best known class of each sample."""
        return self.once("predictions", lambda: self.known_logits().argmax(axis=1))

    def log_sum_exp(self) -> Array:
        """Log-sum-exp of the known logits."""
        return self.once("log_sum_exp", lambda: by_blocks(log_sum_exp, self.known_logits()))

    def unit_features(self) -> Array:
        """Feature vectors scaled to length one."""
        return self.once("unit", lambda: unit(self.embedding()))

    def known(self) -> "Outputs":
        """The samples of known classes."""
        return self.once("known", self._known)

    def _known(self) -> "Outputs":
        if self.labels is None:
            raise OpenSetError(f"To fit on, {self.name} needs labels.")
        labels = np.asarray(self.labels)
        if labels.shape != (len(self),):
            raise OpenSetError(
                f"To fit on, {self.name} has {len(self)} training samples and labels of shape {labels.shape}."
            )
        keep = labels >= 0
        if not keep.any():
            raise OpenSetError(f"To fit on, {self.name} needs known samples: it has no known samples.")
        if self.logits is not None and labels.max() >= self.logits.shape[1] - self.background:
            raise OpenSetError(
                f"To fit on, {self.name} has the label {labels.max()} and logits of "
                f"{self.logits.shape[1] - self.background} known classes only."
            )
        return self.rows(keep)

    def correct(self) -> "Outputs":
        """The samples of known classes that are classified correctly."""
        return self.once("correct", lambda: self.known().rows(self.known().predictions() == self.known().labels))

    def correct_per_class(self, score: str, least: int) -> "Outputs":
        """The correctly classified samples, at least so many of each class: a score learns what its classes look like.

        `score` is what an error calls it.
        """
        correct = self.correct()
        sizes = np.bincount(np.asarray(correct.labels), minlength=self.known_logits().shape[1])
        if sizes.min() < least:
            few = int(sizes.argmin())
            raise OpenSetError(
                f"{score}: class {few} has {sizes[few]} correctly classified training samples, needs {least}."
            )
        return correct

    def rows(self, keep: NDArray[Any]) -> "Outputs":
        """Some of the samples."""
        if keep.dtype == bool and keep.all():
            return self
        return replace(
            self,
            labels=None if self.labels is None else np.asarray(self.labels)[keep],
            logits=None if self.logits is None else np.asarray(self.logits)[keep],
            features=None if self.features is None else np.asarray(self.features)[keep],
        )

    def with_head_of(self, other: "Outputs | None") -> "Outputs":
        """These outputs with the head of others, where they have none of their own."""
        if self.head is not None or other is None or other.head is None:
            return self
        head = other.head
        same = fingerprint([None if one is None else np.asarray(one) for one in head])
        return self.once(("head of", same), lambda: self._given(head))

    def _given(self, head: Head | None) -> "Outputs":
        made = replace(self, head=head)
        made._kept.update(self._kept)  # nothing in there depends on a head
        return made

    def fingerprint(self, needs: tuple[str, ...]) -> str:
        """Changes when the labels, or what is needed of the logits, features and head, do; precision does not count."""
        arrays: list[NDArray[Any] | None] = [None if self.labels is None else np.asarray(self.labels, dtype=np.int64)]
        for name, values in (("logits", self.known_logits), ("features", self.embedding)):
            arrays.append(values() if name in needs else None)
        arrays += [self.weight(), self.bias()] if "head" in needs else [None, None]
        prints = [self._print_of(place, array) for place, array in enumerate(arrays)]
        return fingerprint([np.array(prints)])

    def _print_of(self, place: int, array: NDArray[Any] | None) -> str:
        return "" if array is None else self.once(("print", place), lambda: fingerprint([array]))
