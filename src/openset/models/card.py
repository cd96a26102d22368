"""What a model that a user already has looks like from here, and the families by which models are found."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, Literal, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from openset._core.registry import Registry
from openset._io.paths import is_folder
from openset.errors import OpenSetError, did_you_mean, need
from openset.posthoc import Head, Outputs

Takes = Literal["images", "texts", "vectors"]
Floats = NDArray[np.floating[Any]]


class Answers(NamedTuple):
    """What a model says about a batch."""

    logits: Floats
    """(n, K), or K+1 with a background class."""
    features: Floats | None
    """(n, D), what enters the last layer."""


class Model(Protocol):
    """A classifier that can be run on samples, whatever it was made with."""

    @property
    def name(self) -> str:
        """As the user named it."""

    @property
    def takes(self) -> Takes:
        """What it is run on."""

    @property
    def class_names(self) -> tuple[str, ...] | None:
        """Names of the known classes in the order of the logits; None where the model does not tell."""

    @property
    def background(self) -> bool:
        """Whether the last of its logits is a background class."""

    @property
    def fingerprint(self) -> str:
        """Changes when the weights do, or what is done to the samples."""

    @property
    def preparation(self) -> dict[str, Any]:
        """What is done to a sample before the model sees it, as results keep it."""

    @property
    def score(self) -> dict[str, Any] | None:
        """Name and parameters of the unknown score it was trained with, where it tells."""

    @property
    def own_score(self) -> "Callable[[Outputs], NDArray[np.float64]] | None":
        """How that score is computed, where it is one that only this model has."""

    @property
    def head(self) -> Head | None:
        """Weight and bias of the last layer where that is linear; known once the model has run."""

    @property
    def notes(self) -> list[str]:
        """What to know about its outputs."""

    def prepare(self, sample: Any) -> Any:
        """One sample as the model wants it; may be called by several threads."""

    def run(self, batch: Sequence[Any]) -> Answers:
        """What the model says about prepared samples."""


@dataclass(frozen=True)
class Options:
    """What a user may say about a model; each family takes some of it."""

    weights: Path | None = field(default=None, metadata={"flag": "--weights"})
    features: str | None = field(default=None, metadata={"flag": "--features"})
    classes: Path | None = field(default=None, metadata={"flag": "--classes"})
    size: int | None = field(default=None, metadata={"flag": "--size"})
    mean: tuple[float, ...] | None = field(default=None, metadata={"flag": "--mean"})
    std: tuple[float, ...] | None = field(default=None, metadata={"flag": "--std"})
    device: str = field(default="cpu", metadata={"flag": "--device"})


@dataclass(frozen=True)
class Family:
    """Card of a family of models: how a user names one, what it needs, and how it is opened."""

    name: str
    title: str
    example: str
    options: tuple[str, ...]
    """Fields of `Options` that it takes."""
    needs: tuple[str, ...]
    """Packages that it needs."""
    open: Callable[[str, Options], Model]
    holds: Callable[[Path], bool] | None = None
    """Whether a path without a prefix is such a model; None for families that need their prefix."""


def adopt_family(name: str, thing: Any) -> Family:
    """A card that a user wrote."""
    if not isinstance(thing, Family):
        raise OpenSetError("this is not a family of models: it is an openset.models.Family.")
    return thing


FAMILIES: Registry[Family] = Registry("family of models", group="openset.models", adopt=adopt_family)


def register(card: Family) -> Family:
    """Add a family: from now on its models are found by its prefix."""
    return FAMILIES.add(card.name, card)


def open_model(name: str, options: Options | None = None) -> Model:
    """The model that `hf:FOLDER`, `timm:NAME`, `torchvision:NAME`, `onnx:FILE` or a run folder stands for.

    >>> open_model("tensorflow:net")
    Traceback (most recent call last):
    openset.errors.OpenSetError: 'tensorflow:net' is not a model: write hf:NAME_OR_FOLDER, onnx:FILE.onnx, ...
    """
    given = options or Options()
    family, rest = _family_of(name)
    for one in fields(Options):
        if getattr(given, one.name) != one.default and one.name not in family.options:
            raise OpenSetError(
                f"{name}: {one.metadata['flag']} is not for models of the family '{family.name}' ({family.title}): "
                "leave it out."
            )
    need(f"A model of the family '{family.name}'", *family.needs)
    return family.open(rest, given)


def _family_of(name: str) -> tuple[Family, str]:
    prefix, colon, rest = name.partition(":")
    if colon and prefix in FAMILIES:
        if not rest:
            raise OpenSetError(f"'{name}' names no model: write {FAMILIES[prefix].example}.")
        return FAMILIES[prefix], rest
    path = Path(name)
    if path.exists():
        for family in FAMILIES.values():
            if family.holds is not None and family.holds(path):
                return family, name
    raise OpenSetError(_no_model(name, path))


def _no_model(name: str, path: Path) -> str:
    ways = ", ".join(family.example for family in FAMILIES.values())
    if is_folder(path) and (path / "config.json").exists():
        return f"{path} is not the folder of a training run; for a model of transformers write hf:{path}."
    if path.suffix == ".onnx" and path.exists():
        return f"'{name}' is no training run; for an ONNX file write onnx:{path}."
    if is_folder(path):
        return f"{path} is not a finished run; give the --out folder of openset train, or write {ways}."
    prefix, colon, rest = name.partition(":")
    near = did_you_mean(prefix, FAMILIES) if colon and rest and len(prefix) > 1 else ""
    hint = f" {near}" if near.startswith("Did") else ""
    there = "" if path.exists() or colon else ", and there is no such folder"
    return f"'{name}' is not a model{there}: write {ways}.{hint}"
