"""Cells of a reproduction: the recipe of each, what results are there, and running what is missing."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from openset._core.numbers import counted
from openset.errors import OpenSetError
from openset.evaluation import HEADLINE
from openset.reproduction.options import Options
from openset.reproduction.recipes import cell_config, recipe_name
from openset.studies.cell import Cell, Layout
from openset.studies.executors import Executor
from openset.studies.grid import Execution, run_grid
from openset.studies.key import Key
from openset.studies.plan import Plan, make_plan
from openset.studies.results_files import Finished, ResultsFile
from openset.studies.running import Outcome, reason_of
from openset.train.config import Config


class DryRun(Exception):  # noqa: N818  not an error: the user asked for it
    """A study was planned, not run."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan


@dataclass
class Study:
    """What is there after a study was run, or read."""

    finished: dict[Key, Finished] = field(default_factory=dict)
    changed: list[Key] = field(default_factory=list)
    """Cells whose results were made by another recipe than today's."""
    failures: list[tuple[Key, str]] = field(default_factory=list)

    def notes(self, *, kept: bool) -> list[str]:
        """What a reader must know about changed recipes."""
        if not self.changed:
            return []
        names = ", ".join(sorted({key.title for key in self.changed}))
        what = "they are used all the same" if kept else "they count as missing (--keep-changed uses them)"
        return [f"Recipes have changed since these results were made, so {what}: {names}."]


def make_cell(
    study: str,
    options: Options,
    protocol: str,
    method: str,
    split: int,
    seed: int,
    *,
    variant: str = "",
    overrides: Sequence[str] = (),
    keep: Sequence[str] = HEADLINE,
) -> Cell:
    """One cell; the user's own changes of the recipe come last."""
    recipe = recipe_name(options.scale, protocol, method)
    changes = [*overrides, *options.overrides]
    try:
        config = cell_config(
            options.scale, protocol, method, split, seed, overrides=changes, data_root=options.data_root
        )
    except OpenSetError:
        if not options.show:
            raise
        config = Config()  # results of a recipe that is gone are those of another recipe
    return cell_of(study, options, Key(protocol, method, split, seed, variant), config, recipe, keep)


def cell_of(
    study: str, options: Options, key: Key, config: Config, recipe: str, keep: Sequence[str] = HEADLINE
) -> Cell:
    """A cell with a config of its own."""
    results = ResultsFile(options.results, study, options.scale, recipe, keep)
    return Cell(key, config, Layout(options.out / "runs", marked=True), results)


def read_study(cells: Iterable[Cell], options: Options) -> Study:
    """What the results folder holds."""
    study = Study()
    for cell in cells:
        assert cell.results is not None
        found = cell.results.read(cell.key)
        if found is None:
            continue
        if found.content["recipe_fingerprint"] != cell.fingerprint:
            study.changed.append(cell.key)
            if not options.keep_changed:
                continue
        study.finished[cell.key] = found
    return study


def run_study(cells: Sequence[Cell], options: Options) -> Study:
    """Run what is missing and write its results files; a failed cell does not stop the others."""
    study = read_study(cells, options)
    execution = options.execution or Execution()
    if execution.dry_run:
        contents = {key: found.content for key, found in study.finished.items()}
        raise DryRun(make_plan(cells, shard=execution.shard, done=study.finished, contents=contents))
    there, n_todo = len(study.finished), len(cells) - len(study.finished)
    options.tell(f"{counted(len(cells), 'cell')}, {there} already in {options.results}/, {n_todo} to run.")
    place = 0

    def take(outcome: Outcome[Cell]) -> None:
        nonlocal place
        place += 1
        title, key, reason = f"{place}/{n_todo} {outcome.cell.key.title}", outcome.cell.key, outcome.reason
        if outcome.summary is not None:
            try:
                found = study.finished[key] = store(outcome.cell, outcome.summary)
                study.changed = [one for one in study.changed if one != key]
                value = found.value("open_auc").value
                options.tell(f"{title}: OpenAUC {value:.4f}, {found.minutes:.1f} minutes of training")
            except OpenSetError as error:
                reason = reason_of(error)
        if reason:
            study.failures.append((key, reason))
            options.tell(f"{title}: failed: {reason}")

    run_grid(cells, _executor(options), tell=take, shard=execution.shard, done=study.finished)
    if study.failures and not study.finished:
        raise OpenSetError(study.failures[0][1])
    return study


def store(cell: Cell, summary: Mapping[str, Any]) -> Finished:
    """Write the results file of a finished cell."""
    assert cell.results is not None
    return cell.results.write(cell.key, summary, recipe_fingerprint=cell.fingerprint, trained_for=cell.trained_for)


def run_folders(cells: Sequence[Cell], options: Options) -> list[Mapping[str, Any]]:
    """Summaries of all cells, run if needed: for what is read from run folders. A failed cell is an error."""
    if options.show:
        missing = next((cell for cell in cells if not cell.is_finished), None)
        if missing is not None:
            raise OpenSetError(f"{missing.folder} is not there: without --show, {missing.key.title} is trained.")
        return [cell.run() for cell in cells]
    execution = options.execution or Execution()
    if execution.dry_run:
        raise DryRun(make_plan(cells, shard=execution.shard))

    def take(outcome: Outcome[Cell]) -> None:
        if outcome.summary is not None:
            minutes = outcome.summary["seconds"] / 60
            options.tell(f"{outcome.cell.key.title}: {minutes:.1f} minutes of training")

    options.tell(f"{counted(len(cells), 'run')}: trained unless they are there.")
    outcomes = {one.cell.key: one for one in run_grid(cells, _executor(options), tell=take, shard=execution.shard)}
    failed = next((one for one in outcomes.values() if one.summary is None), None)
    if failed is not None:
        raise OpenSetError(failed.reason)
    for cell in cells:
        if cell.key not in outcomes and not cell.is_finished:
            raise OpenSetError(f"{cell.key.title} belongs to another --shard: run this again when all are done.")
    return [outcomes[cell.key].summary or {} if cell.key in outcomes else cell.run() for cell in cells]


def _executor(options: Options) -> Executor:
    return (options.execution or Execution()).executor(
        on_corrupt=options.on_corrupt,
        watch=lambda cell: options.watch(cell.config, cell.key.title),
        tell=options.tell,
    )


def grid(
    options: Options, protocols: Sequence[str], methods: Sequence[str], make: Callable[[str, str, int, int], Cell]
) -> list[Cell]:
    """Cells of all protocols, methods, splits and seeds."""
    return [
        make(protocol, method, split, seed)
        for seed in options.seeds
        for protocol in protocols
        for split in options.splits
        for method in methods
    ]
