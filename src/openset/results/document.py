"""One result document: what was computed, once, and rendered by JSON, tables, page and terminal alike."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib import import_module
from pathlib import Path
from typing import Any

from openset._core.registry import Registry
from openset._core.shown import Shown
from openset._io.json_files import read_json, write_json
from openset.errors import OpenSetError, did_you_mean
from openset.evaluation import Evaluation, Result
from openset.results.gate import Bar, GateResult
from openset.results.metric_bars import check_metric_bars
from openset.results.paired import Paired, against_best
from openset.results.provenance import provenance
from openset.results.spread import MetricSpread, Spread, spreads_of
from openset.results.verdict import ranking, verdict
from openset.scores import Scores

SCHEMA = 2
RENDERERS: Registry[Callable[["Document"], str]] = Registry("format of documents")
"""Filled by `openset.present.rendering`, which stands above this room: a document is rendered by whoever can."""


@dataclass(frozen=True)
class Group:
    """Files that are splits and seeds of one model."""

    name: str
    places: tuple[int, ...]
    """Which evaluations of the document."""
    splits: tuple[str, ...]
    metrics: tuple[MetricSpread, ...]

    def find(self, result: Result) -> Spread | None:
        """The spread of a metric that one of the group has, if all of them have it."""
        wanted = (result.name, result.against, result.params)
        return next((m.spread for m in self.metrics if (m.name, m.against, m.params) == wanted), None)


@dataclass(frozen=True, eq=False)
class Document(Shown):
    """Evaluations of one or several models with all that belongs to them; make one by `Document.of`."""

    names: tuple[str, ...]
    evaluations: tuple[Evaluation, ...]
    files: tuple[str, ...]
    """Where each was read from."""
    groups: tuple[Group, ...]
    tests: tuple[Paired, ...] | None
    """Paired tests on the same samples; None: nobody looked."""
    gate: tuple[GateResult, ...]
    verdict: tuple[str, ...]
    provenance: Mapping[str, str]
    models: tuple[Scores, ...] = field(default=(), repr=False)
    """What curves and operating points are drawn from; not part of the JSON."""
    remarks: tuple[str, ...] = ()
    """What is to be known about all of them, such as which scores could not be computed."""

    @classmethod
    def of(
        cls,
        evaluations: Sequence[Evaluation],
        *,
        names: Sequence[str] | None = None,
        files: Sequence[str] | None = None,
        models: Sequence[Scores] | None = None,
        groups: Mapping[str, Sequence[int]] | None = None,
        splits: Sequence[str] | None = None,
        tests: Sequence[Paired] | None = None,
        bars: Sequence[Bar] = (),
        against: Sequence[str] | None = None,
        origin: Mapping[str, str] | None = None,
        reference: str | None = None,
        remarks: Sequence[str] = (),
    ) -> "Document":
        """Everything about these evaluations.

        With `models`, their scores, the best of several is tested against the others where they saw the same samples,
        unless `tests` are given; or the one named as `reference`. `groups` are the evaluations, by place, that are
        splits of one model; `splits` names the split of each evaluation. `bars` are checked against each of `against`,
        by default the first that was evaluated. `origin` is where the results come from, by default this machine.

        >>> from openset.evaluation import evaluate
        >>> scores = Scores([0, 1, 0, -2, -2], [0, 1, 1, 0, 1], [0.1, 0.2, 0.6, 0.5, 0.9])
        >>> document = Document.of([evaluate(scores)], names=["ours"])
        >>> document.as_json()["files"][0]["name"], round(document.as_json()["metrics"][0]["value"], 3)
        ('ours', 0.667)
        """
        if not evaluations:
            raise OpenSetError("Document.of: give at least one evaluation.")
        own = list(names or ([f"model {i}" for i in range(len(evaluations))] if len(evaluations) > 1 else ["model"]))
        if not len(set(own)) == len(own) == len(evaluations):
            raise OpenSetError("Document.of: give each evaluation a name of its own.")
        best = ranking(evaluations)[0]
        _check_models(own, evaluations, models)
        if tests is None and models is not None:
            tested = best if reference is None else _place(own, reference)
            tests = against_best(own, models, tested, against=evaluations[best].against[0])
        labels = list(splits or map(str, range(len(evaluations))))
        made = tuple(_group(name, places, evaluations, labels) for name, places in (groups or {}).items())
        main = evaluations[best].find("open_auc", against=evaluations[best].against[0])
        means = {group.name: mean for group in made if (mean := group.find(main)) is not None}
        return cls(
            names=tuple(own),
            evaluations=tuple(evaluations),
            files=tuple(files or [""] * len(evaluations)),
            groups=made,
            tests=None if tests is None else tuple(tests),
            gate=tuple(check_metric_bars(bars, own, evaluations, against=against)),
            verdict=tuple(verdict(own, evaluations, best, tests, means)),
            provenance=dict(provenance() if origin is None else origin),
            models=tuple(models or ()),
            remarks=tuple(remarks),
        )

    @property
    def ranking(self) -> list[int]:
        """Places of the evaluations, from the largest OpenAUC to the smallest."""
        return ranking(self.evaluations)

    @property
    def notes(self) -> list[tuple[str, str]]:
        """What a reader should know, with the name of the model it is about."""
        return [(name, note) for name, one in zip(self.names, self.evaluations, strict=True) for note in one.notes]

    # ---- JSON ------------------------------------------------------------------------------------------------------

    def as_json(self) -> dict[str, Any]:
        """Everything but the scores; of one file its metrics stand at the top as well."""
        files = [
            {"name": name, "file": file, **evaluation.as_json()}
            for name, file, evaluation in zip(self.names, self.files, self.evaluations, strict=True)
        ]
        content: dict[str, Any] = {"schema": SCHEMA, "files": files, "verdict": list(self.verdict)}
        if len(files) == 1:
            content["metrics"] = files[0]["metrics"]
        if self.groups:
            content["groups"] = [
                {
                    "name": group.name,
                    "files": [self.names[place] for place in group.places],
                    "splits": list(group.splits),
                    "metrics": [one.as_json() for one in group.metrics],
                }
                for group in self.groups
            ]
        if self.tests is not None and len(files) > 1:
            content["comparisons"] = [one.as_json() for one in self.tests]
        if self.gate:
            content["gate"] = [one.as_json() for one in self.gate]
        if self.remarks:
            content["remarks"] = list(self.remarks)
        return {**content, "provenance": dict(self.provenance)}

    @classmethod
    def from_json(cls, content: Mapping[str, Any], *, models: Sequence[Scores] | None = None) -> "Document":
        """The document that `as_json` wrote; with the scores it was made from, it can draw their curves again."""
        try:
            names = [str(one["name"]) for one in content["files"]]
            evaluations = [Evaluation.from_json(one) for one in content["files"]]
            splits = list(map(str, range(len(names))))
            groups = {}
            for group in content.get("groups", ()):
                groups[str(group["name"])] = places = [names.index(name) for name in group["files"]]
                for place, split in zip(places, group["splits"], strict=True):
                    splits[place] = str(split)
            tests = content.get("comparisons", [] if len(names) == 1 else None)
            made = cls.of(
                evaluations,
                names=names,
                files=[str(one["file"]) for one in content["files"]],
                groups=groups,
                splits=splits,
                tests=None if tests is None else [Paired.from_json(one) for one in tests],
                origin={str(name): str(value) for name, value in content["provenance"].items()},
                remarks=list(map(str, content.get("remarks", ()))),
            )
            gate = tuple(GateResult(**one) for one in content.get("gate", ()))
            sentences = tuple(map(str, content["verdict"]))
        except (KeyError, TypeError, AttributeError, IndexError) as error:
            raise OpenSetError(f"This is no result document: {error!r} is wrong or missing.") from error
        _check_models(names, evaluations, models)
        return replace(made, gate=gate, verdict=sentences, models=tuple(models or ()))

    def save(self, path: str | Path) -> None:
        """Write it as JSON."""
        write_json(path, self.as_json())

    @classmethod
    def load(cls, path: str | Path, *, models: Sequence[Scores] | None = None) -> "Document":
        """Read what `save`, or a command's `--json`, wrote."""
        try:
            return cls.from_json(read_json(path), models=models)
        except OpenSetError as error:
            raise OpenSetError(f"{path}: {error}") from error

    # ---- renderings ------------------------------------------------------------------------------------------------

    def render(self, kind: str) -> str:
        """The document as `markdown`, `latex`, `csv` or `html`."""
        import_module("openset.present.rendering")  # which stands above this room, and fills the registry
        return RENDERERS[kind](self)

    def to_markdown(self) -> str:
        """Tables and verdict, for README files and web pages."""
        return self.render("markdown")

    def to_html(self) -> str:
        """The page; with curves where the document has the scores."""
        return self.render("html")


def _place(names: Sequence[str], name: str) -> int:
    if name not in names:
        raise OpenSetError(f"There is no model named '{name}' to test the others against. {did_you_mean(name, names)}")
    return names.index(name)


def _group(name: str, places: Sequence[int], evaluations: Sequence[Evaluation], splits: Sequence[str]) -> Group:
    own = tuple(splits[place] for place in places)
    return Group(name, tuple(places), own, spreads_of([evaluations[place] for place in places], own))


def _check_models(names: Sequence[str], evaluations: Sequence[Evaluation], models: Sequence[Scores] | None) -> None:
    """Curves of other scores than those evaluated would show another model."""
    for name, evaluation, scores in zip(names, evaluations, models or (), strict=models is not None):
        if scores.fingerprint != evaluation.fingerprint:
            raise OpenSetError(f"The scores of {name} are not those that were evaluated: evaluate them again.")
