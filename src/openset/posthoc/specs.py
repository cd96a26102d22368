"""Which scores, with which parameters: `knn(k=10)`, `msp,energy,'knn(k=10)'`, `all`."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from openset._core.calls import parse_call, split_list
from openset.errors import OpenSetError
from openset.posthoc.card import SCORES, Score
from openset.posthoc.outputs import Outputs

if TYPE_CHECKING:
    from openset.posthoc.fitted import FittedScore


@dataclass(frozen=True)
class ScoreSpec:
    """A score with all of its parameters; as text, those that differ from the published defaults.

    >>> str(ScoreSpec.of("knn", {"k": 10})), str(ScoreSpec.of("knn"))
    ('knn(k=10)', 'knn')
    """

    name: str
    params: Mapping[str, Any]

    @classmethod
    def of(cls, name: str, params: Mapping[str, Any] | None = None) -> "ScoreSpec":
        """The score of that name with checked parameters."""
        return cls(name, SCORES[name].check(params or {}))

    @property
    def card(self) -> Score:
        """The score's card."""
        return SCORES[self.name]

    def as_json(self) -> dict[str, Any]:
        """As results, threshold files and `Scores.meta` hold it: all parameters, so that defaults may change."""
        return {"name": self.name, "params": dict(self.params)}

    def __str__(self) -> str:
        return score_text(self.as_json())

    def __hash__(self) -> int:
        return hash((self.name, tuple(self.params.items())))


def _call(name: str, options: Mapping[str, Any]) -> str:
    words = (str(one).lower() if one is None or isinstance(one, bool) else str(one) for one in options.values())
    inside = ", ".join(f"{key}={word}" for key, word in zip(options, words, strict=True))
    return f"{name}({inside})" if inside else name


def parse_score(text: str | ScoreSpec) -> ScoreSpec:
    """A score as people write it.

    >>> parse_score("knn(k=10)").params
    {'k': 10}
    >>> parse_score("knn(kk=1)")
    Traceback (most recent call last):
    openset.errors.OpenSetError: The score 'knn' has no parameter 'kk'. Did you mean 'k'?
    """
    return text if isinstance(text, ScoreSpec) else ScoreSpec.of(*parse_call(text))


def score_text(stored: Any) -> str:
    """A score as `Scores.meta` and files hold it, for people: also one that this version does not know.

    >>> score_text({"name": "knn", "params": {"k": 10}}), score_text("energy")
    ('knn(k=10)', 'energy')
    """
    if not isinstance(stored, Mapping):
        return str(stored)
    name, params = str(stored.get("name")), stored.get("params")
    given = dict(params) if isinstance(params, Mapping) else {}
    defaults = SCORES[name].defaults if name in SCORES else {}
    return _call(name, {key: value for key, value in given.items() if key not in defaults or defaults[key] != value})


@dataclass(frozen=True)
class Selection:
    """Scores that can be computed, and why others cannot."""

    specs: tuple[ScoreSpec, ...]
    left_out: Mapping[str, str]


def parse_scores(text: str, outputs: Outputs, fit: "Outputs | FittedScore | None" = None) -> Selection:
    """Several scores, as `--score` takes them; `all` are those that these outputs allow, the others left out with why.

    A score that is named and cannot be computed is an error.

    >>> import numpy as np
    >>> logits = Outputs(logits=np.array([[2.0, 0.0]]))
    >>> [str(spec) for spec in parse_scores("msp, 'energy(temperature=2)'", logits).specs]
    ['msp', 'energy(temperature=2.0)']
    >>> parse_scores("all", logits).left_out["knn"]
    'needs features, training outputs (--fit)'
    """
    entries = split_list(text)
    if not entries:
        raise OpenSetError("No score is named; write for example msp,energy or all.")
    specs: dict[ScoreSpec, None] = {}
    left_out: dict[str, str] = {}
    for entry in entries:
        if entry != "all":
            spec = parse_score(entry)
            missing = spec.card.lacks(outputs, fit)
            if missing:
                raise OpenSetError(spec.card.refusal(outputs, fit, missing))
            specs[spec] = None
            continue
        for card in SCORES.values():
            missing = card.lacks(outputs, fit)
            if missing:
                left_out[card.name] = f"needs {', '.join(_NAMES.get(one, one) for one in missing)}"
            else:
                specs[ScoreSpec.of(card.name)] = None
    return Selection(tuple(specs), left_out)


_NAMES = {"fit": "training outputs (--fit)", "head": "the last layer (weight and bias)"}
