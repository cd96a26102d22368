"""What unknown scores come from: which score, fitted on what, of which classes and which model.

A threshold means something for scores of its own origin alone.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from openset.errors import OpenSetError
from openset.posthoc import score_text
from openset.scores import Scores


@dataclass(frozen=True)
class Origin:
    """Where scores come from, as far as it is known: None where it is not.

    >>> Origin.of(Scores([0, -2], [0, 0], [0.1, 0.9], meta={"score": {"name": "knn", "params": {"k": 10}}})).score_text
    'knn(k=10)'
    """

    score: Mapping[str, Any] | None = None
    """`name` and `params`; the latter None where only the name is known."""
    fit: str | None = None
    """Fingerprint of what the score was fitted on."""
    classes: tuple[str, ...] | None = None
    """Names of the known classes; their numbers where they have no names."""
    model: str | None = None
    """Fingerprint of the weights."""

    @classmethod
    def of(cls, scores: Scores) -> "Origin":
        """What scores tell in `meta` and by their classes."""
        classes = scores.class_names
        if classes is None and scores.probabilities is not None:
            classes = numbered(scores.n_classes)
        return cls.known_by(scores.meta, classes)

    @classmethod
    def known_by(cls, meta: Mapping[str, Any], classes: tuple[str, ...] | None) -> "Origin":
        """What `meta` tells; anything there that is not what a score, fit or model is written as tells nothing."""
        fit, model = (value if isinstance(value := meta.get(key), str) else None for key in ("fit", "model"))
        return cls(_as_score(meta.get("score")), fit, classes, model)

    @property
    def score_text(self) -> str:
        """The score as people write it; empty where it is not known."""
        return "" if self.score is None else score_text(self.score)

    def as_json(self) -> dict[str, Any]:
        """As a threshold file holds it."""
        return {
            "score": None if self.score is None else dict(self.score),
            "fit": self.fit,
            "classes": None if self.classes is None else list(self.classes),
            "model": self.model,
        }

    @classmethod
    def from_json(cls, content: Mapping[str, Any]) -> "Origin":
        """The way back; a field of the wrong kind is an error."""
        score, classes = content.get("score"), content.get("classes")
        if score is not None and (not isinstance(score, Mapping) or _as_score(score) is None):
            raise OpenSetError("'score' must hold a name and params")
        if classes is not None and not (isinstance(classes, list) and all(isinstance(one, str) for one in classes)):
            raise OpenSetError("'classes' must be a list of names")
        for key in ("fit", "model"):
            if not isinstance(content.get(key), str | None):
                raise OpenSetError(f"'{key}' must be text or null")
        return cls.known_by(content, None if classes is None else tuple(classes))

    def differences(self, other: "Origin") -> list[str]:
        """In what scores of origin `other` differ from those that a threshold of this origin was chosen on.

        What one of the two does not tell cannot differ. Names of classes count, not their order.
        """
        found = []
        if self.score is not None and other.score is not None and not _same_score(self.score, other.score):
            found.append(f"it was chosen for the score {self.score_text}, and this is {other.score_text}")
        elif self.fit is not None and other.fit is not None and self.fit != other.fit:
            found.append(f"its score was fitted on other training outputs ({self.fit}, here {other.fit})")
        if self.classes is not None and other.classes is not None:
            found += _class_difference(self.classes, other.classes)
        if self.model is not None and other.model is not None and self.model != other.model:
            found.append(
                "it was chosen for another model, or one with other inputs "
                f"(weights and preparation {self.model}, here {other.model})"
            )
        return found

    def doubt(self, other: "Origin") -> str:
        """What cannot be checked because only one of the two tells its score, or its model; empty where nothing."""
        if self.score is not None and other.score is None:
            return f"The threshold was chosen for the score {self.score_text}; these scores do not tell which they are."
        if self.score is None and other.score is not None:
            return f"The threshold does not tell which score it was chosen for; these scores are {other.score_text}."
        if self.model is not None and other.model is None:
            return f"The threshold was chosen for one model (weights {self.model}); these scores do not tell theirs."
        return ""

    def notes_for(self, other: "Origin") -> list[str]:
        """What to know where a threshold of this origin is applied to scores of another, by force where they differ."""
        doubt = self.doubt(other)
        return [*([doubt] if doubt else []), *(f"Applied by force: {what}." for what in self.differences(other))]


def _as_score(stored: Any) -> dict[str, Any] | None:
    """A score as `meta` and files hold it: name and parameters, or, from older versions, the name alone."""
    if isinstance(stored, str):
        return {"name": stored, "params": None}
    if isinstance(stored, Mapping) and isinstance(stored.get("name"), str):
        params = stored.get("params")
        return {"name": stored["name"], "params": dict(params) if isinstance(params, Mapping) else None}
    return None


def _same_score(first: Mapping[str, Any], second: Mapping[str, Any]) -> bool:
    parameters = (first["params"], second["params"])
    return bool(first["name"] == second["name"] and (None in parameters or parameters[0] == parameters[1]))


def numbered(n: int) -> tuple[str, ...]:
    """Classes that have no names."""
    return tuple(str(number) for number in range(n))


def _class_difference(first: tuple[str, ...], second: tuple[str, ...]) -> list[str]:
    if len(first) != len(second):
        return [f"it was chosen for {len(first)} classes, and here there are {len(second)}"]
    if numbered(len(first)) in (first, second) or set(first) == set(second):
        return []
    lost, new = sorted(set(first) - set(second)), sorted(set(second) - set(first))
    return [f"it was chosen for other classes ('{lost[0]}' is missing here, '{new[0]}' is new)"]
