"""A score that is ready to be applied: fitted once, saved as safetensors, applied to one sample or to many."""

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from openset._core.versions import versions
from openset._io import checksums
from openset._io.atomic import replacing
from openset._io.json_files import parse_json
from openset._io.paths import existing
from openset._io.tensor_files import in_order
from openset.errors import OpenSetError, needing
from openset.posthoc.card import Learned, Score
from openset.posthoc.numerics import Array
from openset.posthoc.outputs import Outputs
from openset.posthoc.specs import ScoreSpec, parse_score

_KEY, _KIND, _SCHEMA = "openset", "fitted score", 1


@dataclass(frozen=True, eq=False, repr=False)
class FittedScore:
    """A score with what it learned; `score(outputs)` applies it, `save` and `load` keep it.

    >>> train = Outputs(labels=np.array([0, 0]), features=np.array([[0.0, 1.0], [0.0, -3.0]]))
    >>> fitted = fit("knn(k=2)", train)
    >>> fitted.score(Outputs(features=np.array([[0.0, 2.0]])))
    array([2.])
    """

    spec: ScoreSpec
    learned: Learned
    n_classes: int | None = None
    """K of the training outputs, where the score depends on it."""
    n_features: int | None = None
    """D of the training outputs, where the score depends on it."""
    fingerprint: str | None = None
    """Changes when what it was fitted on does; None for a score that learns nothing."""

    def __repr__(self) -> str:
        return f"FittedScore({self.spec}, fitted on {self.fingerprint or 'nothing'})"

    def score(self, outputs: Outputs) -> Array:
        """Unknown scores, higher = more unknown."""
        card = self.spec.card
        missing = card.lacks(outputs, self if card.fitted else None)
        if missing:
            raise OpenSetError(card.refusal(outputs, self, missing))
        for name, values, expected in (
            ("logits", outputs.known_logits, self.n_classes),
            ("features", outputs.embedding, self.n_features),
        ):
            if name in card.needs and expected is not None and (width := values().shape[1]) != expected:
                raise OpenSetError(
                    f"{card.name}: {outputs.name} has {name} of {width} columns and the training outputs had "
                    f"{expected}: another network?"
                )
        with _without_overflow(card, outputs):
            found = card.apply(outputs, self.learned, **self.spec.params)
        if found.shape != (len(outputs),) or found.dtype.kind != "f":
            raise OpenSetError(
                f"The score '{card.name}' must give one number per sample, {len(outputs)}, and gave an array of "
                f"{found.dtype} of shape {found.shape}."
            )
        if not np.isfinite(found).all():
            row = int(np.argmin(np.isfinite(found)))
            raise OpenSetError(f"The score '{card.name}' of {outputs.name} is {found[row]} in row {row}, no number.")
        return found

    def matching(self, card: Score, parameters: Mapping[str, Any]) -> "FittedScore":
        """This fit, if it is of that score with these parameters."""
        wanted = ScoreSpec(card.name, card.check(parameters))
        if wanted != self.spec:
            raise OpenSetError(f"The fit is of the score {self.spec}, and {wanted} is asked for: fit it again.")
        return self

    def save(self, path: str | Path) -> None:
        """Write a .safetensors file: arrays and JSON, nothing that could run code."""
        save = _safetensors().save
        if Path(path).suffix != ".safetensors":
            raise OpenSetError(f"Cannot write '{path}': a fitted score goes into a file that ends in .safetensors.")
        metadata = {
            "kind": _KIND,
            "schema": _SCHEMA,
            "score": self.spec.as_json(),
            "fit": self.fingerprint,
            "n_classes": self.n_classes,
            "n_features": self.n_features,
            "made": versions("numpy"),
        }
        description = json.dumps(metadata, allow_nan=False)
        marks = {_KEY: description, checksums.KEY: checksums.checksum(description, self.learned)}
        with replacing(path) as temporary:
            temporary.write_bytes(in_order(save(dict(self.learned), marks)))

    @classmethod
    def load(cls, path: str | Path) -> "FittedScore":
        """Read what `save` wrote; a file that is damaged or holds something else is refused."""
        file = existing(path)
        metadata, arrays = _read(file)
        try:
            spec = ScoreSpec.of(str(metadata["score"]["name"]), dict(metadata["score"]["params"]))
            sizes = {"k": metadata["n_classes"], "d": metadata["n_features"]}
            found = cls(spec, Learned(arrays), sizes["k"], sizes["d"], metadata["fit"])
        except (KeyError, TypeError, ValueError) as error:
            raise OpenSetError(f"{file} is not a readable fitted score: {error}.") from error
        if any(size is not None and not isinstance(size, int) for size in sizes.values()):
            raise OpenSetError(f"{file} is not a readable fitted score: its numbers of classes or features are wrong.")
        _check_arrays(spec.card, arrays, sizes, file)
        return found


def fit(score: str | ScoreSpec, train: Outputs | None = None) -> FittedScore:
    """Fit a score such as `knn(k=10)` on training outputs; scores that learn nothing need none."""
    spec = parse_score(score)
    return spec.card.fit(train, **spec.params)


def load(path: str | Path) -> FittedScore:
    """Read a fitted score, a .safetensors file that `FittedScore.save` wrote."""
    return FittedScore.load(path)


def score(outputs: Outputs, score: str | ScoreSpec, fitted: Outputs | FittedScore | None = None) -> Array:
    """Unknown scores of outputs, higher = more unknown; `fitted` is what `fit` returned, or training outputs.

    >>> score(Outputs(logits=np.array([[3.0, 1.0], [0.5, 0.0]])), "max_logit")
    array([-3. , -0.5])
    """
    spec = parse_score(score)
    return spec.card.compute(outputs, fitted, **spec.params)


def fit_score(card: Score, train: Outputs | None, parameters: dict[str, Any]) -> FittedScore:
    """Fit with checked parameters; kept with the training outputs, so that it is done once."""
    spec = ScoreSpec(card.name, parameters)
    if card.learn is None:
        return FittedScore(spec, Learned())
    if train is None:
        raise OpenSetError(card.refusal(Outputs(), None, ("fit",)))
    known = train.known()
    return known.once(("fit", spec), lambda: _learn(spec, known))


@contextmanager
def _without_overflow(card: Score, outputs: Outputs) -> Iterator[None]:
    """A sum that became infinite on the way may end in a number, which then means nothing."""
    try:
        with np.errstate(over="raise"):
            yield
    except FloatingPointError as error:
        raise OpenSetError(
            f"{outputs.name} holds numbers that are too large for the score '{card.name}' (about 1e150 and more)."
        ) from error


def _learn(spec: ScoreSpec, known: Outputs) -> FittedScore:
    card = spec.card
    assert card.learn is not None
    for need in ("logits", "features", "head"):
        if need in card.needs and need not in known.parts:
            raise OpenSetError(card.refusal(known, known, (need,)))
    n_classes = known.known_logits().shape[1] if "logits" in card.needs else None
    n_features = known.embedding().shape[1] if "features" in card.needs else None
    learned = Learned()
    with _without_overflow(card, known):
        arrays = card.learn(known, **spec.params)
    for name, array in arrays.items():
        # In the order of a file: the same numbers in another order are rounded otherwise, and a threshold may be met.
        learned[name] = np.require(array, np.float64, "C")
    assert set(learned) == set(card.learned), card.name
    return FittedScore(spec, learned, n_classes, n_features, known.fingerprint(card.needs))


# ---- files -----------------------------------------------------------------------------------------------------------


def _safetensors() -> Any:
    with needing("Keeping a fitted score"):
        import safetensors.numpy
    return safetensors.numpy


def _read(file: Path) -> tuple[dict[str, Any], dict[str, Array]]:
    _safetensors()
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(file, "np") as opened:
            marks = opened.metadata() or {}
            arrays = {name: opened.get_tensor(name) for name in opened.keys()}  # noqa: SIM118  not a dict
    except (SafetensorError, ValueError, OSError) as error:
        raise OpenSetError(f"{file} is not a readable safetensors file, or it is cut off ({error}).") from error
    description = marks.get(_KEY, "null")
    metadata = parse_json(description, f"The description in {file}")
    if not isinstance(metadata, dict) or metadata.get("kind") != _KIND:
        raise OpenSetError(f"{file} does not hold a fitted score: write one with FittedScore.save.")
    if metadata.get("schema") != _SCHEMA:
        raise OpenSetError(
            f"{file} has schema {metadata.get('schema')!r} and this openset reads {_SCHEMA}: use a newer openset."
        )
    checksums.check(file, marks, description, arrays)
    return metadata, arrays


def _check_arrays(card: Score, arrays: Mapping[str, NDArray[Any]], sizes: dict[str, Any], file: Path) -> None:
    """Names, axes and values of arrays are those that the score keeps, so that nothing fails when it is applied."""
    if set(arrays) != set(card.learned):
        odd = min(set(arrays) ^ set(card.learned))
        raise OpenSetError(
            f"{file} does not hold what the score '{card.name}' keeps: '{odd}' is missing or too much. If another "
            "version of openset saved it, fit and save it again."
        )
    lengths = {letter: size for letter, size in sizes.items() if size is not None}
    for name, axes in card.learned.items():
        array = arrays[name]
        fits = array.dtype == np.float64 and array.ndim == len(axes) and 0 not in array.shape
        fits = fits and all(
            (int(one) if one.isdigit() else lengths.setdefault(one, n)) == n
            for one, n in zip(axes, array.shape, strict=True)
        )
        if not fits or not np.isfinite(array).all():
            raise OpenSetError(f"{file} is damaged: its array '{name}' does not fit the score '{card.name}'.")
