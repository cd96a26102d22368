"""The frozen threshold: what it decides, what it belongs to, and the file it is kept in."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

from openset._core.annotations import ArrayLike
from openset._core.checks import Bools, Floats, Ints, as_ints, as_scores, check_finite, check_lengths
from openset._core.decisions import is_rejected
from openset._core.shown import Shown
from openset._core.versions import versions
from openset._io.json_files import as_json, read_json, write_json
from openset.errors import OpenSetError, warn_deprecated
from openset.operating.notes import notes_on, notes_on_choice, notes_on_classes
from openset.operating.origin import Origin, numbered
from openset.operating.rates import Rates, rates_of
from openset.scores import Scores

SCHEMA, PER_CLASS = 2, 3
"""Of files; the second is of thresholds with a value per class, which a reader of the first must not take for one."""


@dataclass(frozen=True)
class Threshold(Shown):
    """A frozen operating point: a sample is rejected iff its unknown score is above `value`.

    >>> frozen = Threshold(0.5, "by hand", {}, 0)
    >>> frozen.reject([0.2, 0.5, 0.9])
    array([False, False,  True])
    """

    value: float
    rule: str
    """As the command line writes it, then what else it was chosen under where that is not the usual."""
    achieved: dict[str, float]
    """What the threshold does on the data it was chosen on: acceptance, ccr, and fpr if there were open-set samples."""
    n: int
    """Number of samples it was chosen on; of knowns where the rule looks at these alone."""
    origin: Origin = field(default_factory=Origin)
    """What the scores are that it was chosen on, and that it may be applied to."""
    made: Mapping[str, Any] = field(default_factory=dict, compare=False, repr=False)
    """When, with which versions, on which data (its fingerprint), and on how many samples of each kind."""
    per_class: tuple[float, ...] | None = None
    """A value for each known class, in the order of `origin.classes`, where the rule chose one each.

    A sample is then rejected iff its unknown score is above the value of the class that it is predicted as, and `value`
    is what the same rule chooses for all classes together.
    """

    # ---- applying ----------------------------------------------------------------------------------------------------

    def check(self, other: Scores | Origin) -> None:
        """Refuse scores of another origin than those that the threshold was chosen on."""
        differences = self.origin.differences(other if isinstance(other, Origin) else Origin.of(other))
        if differences:
            raise OpenSetError(
                f"The threshold ({self.rule}) does not belong to this: {'; '.join(differences)}. Choose one on "
                "validation scores of the same kind, or apply it all the same with --force (in Python: force=True)."
            )

    def reject(self, scores: Scores | ArrayLike, *, predictions: ArrayLike | None = None, force: bool = False) -> Bools:
        """Which samples are rejected: those whose unknown score is above the threshold.

        `Scores` must be of the same origin as those that it was chosen on, unless `force` is given; arrays of unknown
        scores (n,) cannot tell. Beside an array, a threshold with a value per class needs the `predictions`.
        """
        if isinstance(scores, Scores):
            if not force:
                self.check(scores)
            return is_rejected(scores.unknown_score, self.limits(scores.predictions, scores.class_names))
        values = as_scores("unknown_score", scores)
        check_finite(values)
        given = None if predictions is None else as_ints("predictions", predictions)
        check_lengths(unknown_score=values, predictions=given)
        return is_rejected(values, self.limits(given))

    def limits(self, predictions: Ints | None = None, classes: Sequence[str] | None = None) -> float | Floats:
        """What the unknown scores must not exceed: one number, or one for each prediction.

        `classes` are the names by which predictions are numbered, where that may be another order than its own.

        >>> Threshold(0.5, "by hand", {}, 0, per_class=(0.2, 0.7)).limits(np.array([1, 0]))
        array([0.7, 0.2])
        """
        if self.per_class is None:
            return self.value
        if predictions is None:
            raise OpenSetError(
                f"The threshold ({self.rule}) has a value for each class: give the predictions with the scores."
            )
        values = np.array(self.per_class)
        own = self.origin.classes
        if own is not None and classes is not None and numbered(len(own)) not in (own, tuple(classes)):
            lacking = next((name for name in classes if name not in own), None)
            if lacking is not None:
                raise OpenSetError(f"The threshold ({self.rule}) has no value for the class '{lacking}'.")
            values = values[[own.index(name) for name in classes]]
        largest, least = int(predictions.max(initial=-1)), int(predictions.min(initial=0))
        if largest >= len(values) or least < 0:
            raise OpenSetError(
                f"The threshold ({self.rule}) has values for {len(values)} classes, 0 to {len(values) - 1}, and class "
                f"{largest if largest >= len(values) else least} is predicted."
            )
        return np.asarray(values[predictions])

    def apply(self, scores: Scores, *, against: str = "all", level: float = 0.95, force: bool = False) -> Rates:
        """What the threshold does to other scores: acceptance, ccr, and fpr of the open-set samples `against` names.

        Of all of them, also per kind and group, where there are several. Every fraction has its exact interval.

        >>> rates = Threshold(0.5, "by hand", {}, 0).apply(Scores([0, 0, -2], [0, 0, 0], [0.1, 0.7, 0.9]))
        >>> rates["acceptance"], round(rates.rates["fpr"].interval.high, 3)
        (0.5, 0.975)
        """
        rates = rates_of(scores, self.reject(scores, force=force), against=against, level=level)
        return replace(rates, chosen_here=self.made.get("data") == scores.fingerprint)

    @property
    def notes(self) -> list[str]:
        """What to know before relying on it, from the data that it was chosen on."""
        samples = self.made.get("samples")
        n_known = samples.get("known") if isinstance(samples, Mapping) else None
        acceptance = self.achieved.get("acceptance")
        return [
            *([_OLD] if self.made.get("schema") == 1 else []),
            *notes_on_choice(self.value, acceptance, n_known if isinstance(n_known, int) else None),
            *notes_on_classes(self.per_class or (), self.origin.classes),
            *notes_on(acceptance, self.achieved.get("fpr"), "that it was chosen on"),
        ]

    # ---- keeping -----------------------------------------------------------------------------------------------------

    def as_json(self) -> dict[str, Any]:
        """What its file holds."""
        return {
            "schema": SCHEMA if self.per_class is None else PER_CLASS,
            "value": self.value,
            **({} if self.per_class is None else {"per_class": list(self.per_class)}),
            "rule": self.rule,
            "achieved": dict(self.achieved),
            "n": self.n,
            **self.origin.as_json(),
            "made": dict(self.made) or made_now(),
        }

    def write(self, path: str | Path) -> None:
        """Write the threshold as JSON."""
        write_json(path, self.as_json())

    @classmethod
    def read(cls, path: str | Path) -> "Threshold":
        """Read a threshold written before; one of schema 1, which does not tell what it belongs to, with a warning."""
        threshold = cls.from_json(read_json(path), str(path))
        if threshold.made.get("schema") == 1:
            warn_deprecated(f"{path}: {_OLD}", removed_in="0.4")
        return threshold

    @classmethod
    def from_json(cls, content: Any, name: str) -> "Threshold":
        """The way back from `as_json`; `name` is what an error calls it."""
        schema = content.get("schema", 1) if isinstance(content, Mapping) else 1
        if schema not in (1, SCHEMA, PER_CLASS):
            raise OpenSetError(
                f"{name} is a threshold file of schema {schema!r}, and this version of openset reads 1 to {PER_CLASS}: "
                "install a newer one."
            )
        try:
            achieved = {str(key): float(share) for key, share in content["achieved"].items()}
            made = {"schema": 1} if schema == 1 else dict(content.get("made") or {})
            origin = Origin() if schema == 1 else Origin.from_json(content)
            values = tuple(map(float, content["per_class"])) if schema == PER_CLASS else None
            found = cls(
                float(content["value"]), str(content["rule"]), achieved, int(content["n"]), origin, made, values
            )
            if not all(map(math.isfinite, (found.value, *(values or ())))):
                raise OpenSetError("the threshold is not a finite number")
            if not all(map(math.isfinite, achieved.values())):
                raise OpenSetError("what it achieved must be finite numbers")
            if as_json(plain := found.as_json()) != plain:
                raise OpenSetError("what it tells of itself must be finite numbers")
        except OpenSetError as error:
            raise OpenSetError(f"{name} is not a threshold file: {error}.") from error
        except (AttributeError, TypeError, KeyError, ValueError, OverflowError, RecursionError) as error:
            if "half a character" in str(error):
                raise OpenSetError(f"{name} is not a threshold file: {error}.") from error
            raise OpenSetError(f"{name} is not a threshold file: it needs value, rule, achieved and n.") from error
        if values is not None and (origin.classes is None or len(values) != len(origin.classes)):
            raise OpenSetError(
                f"{name} is not a threshold file: 'per_class' needs one value for each of its 'classes'."
            )
        return found


_OLD = (
    "The threshold file is of schema 1, which does not tell the score, classes and model that it was chosen for: "
    "whether it belongs to what it is applied to cannot be checked. Choose it anew to have that checked."
)


def made_now(scores: Scores | None = None, *, samples: tuple[int, int] | None = None) -> dict[str, Any]:
    """When, with what and on which data a threshold is made, and on how many known and open-set samples."""
    made: dict[str, Any] = {
        "time": datetime.now(UTC).isoformat(timespec="seconds"),
        "versions": versions("numpy"),
    }
    if scores is not None:
        known = int((scores.labels >= 0).sum())
        made["data"] = scores.fingerprint
        samples = known, len(scores) - known
    if samples is not None:
        made["samples"] = {"known": samples[0], "open": samples[1]}
    return made
