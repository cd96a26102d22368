"""Running the cells of a study: what has a results file is not run again, what was broken off goes on."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from openset._io.json_files import read_json
from openset._io.paths import plain_name
from openset.errors import OpenSetError
from openset.methods import METHODS
from openset.reproduction.options import Options
from openset.reproduction.recipes import cell_config, recipe_name
from openset.results.numbers import counted
from openset.studies import bench
from openset.studies.cells import HEADLINE, Finished, Key, fingerprint, read_result, write_result
from openset.train.config import Config, Named, read_config
from openset.train.interrupt import Interrupted
from openset.train.run import begin, reapply
from openset.train.state import FIELDS_WITHOUT_EFFECT

TRAINED_FOR = {"cifar+50": "cifar+10"}
"""Protocols that another one's training serves: the same known classes and training images, only the test differs."""


@dataclass(frozen=True)
class Job:
    """A cell with the recipe it needs; `config` is None where that recipe is missing."""

    key: Key
    recipe: str
    config: Config | None
    trouble: str = ""
    keep: Sequence[str] = HEADLINE

    @property
    def fingerprint(self) -> str:
        """Of the recipe as it is now."""
        if self.config is None:
            return ""
        return fingerprint(self.config.as_plain(), Config().as_plain(), FIELDS_WITHOUT_EFFECT)


@dataclass
class Outcome:
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


def make_job(
    name: str,
    options: Options,
    protocol: str,
    method: str,
    split: int,
    seed: int,
    *,
    variant: str = "",
    overrides: Sequence[str] = (),
    keep: Sequence[str] = HEADLINE,
) -> Job:
    """The job of one cell; the user's own changes of the recipe come last."""
    key = Key(name, options.scale, protocol, method, split, seed, variant)
    recipe = recipe_name(options.scale, protocol, method)
    changes = [*overrides, *options.overrides]
    try:
        config = cell_config(
            options.scale, protocol, method, split, seed, overrides=changes, data_root=options.data_root
        )
    except OpenSetError as error:
        if not options.show:
            raise
        return Job(key, recipe, None, str(error), keep)
    return Job(key, recipe, config, keep=keep)


def stored(job: Job, options: Options, outcome: Outcome) -> Finished | None:
    """The results of a job, unless its recipe has changed."""
    found = read_result(options.results, job.key)
    if found is None:
        return None
    if found.content["recipe_fingerprint"] != job.fingerprint:
        outcome.changed.append(job.key)
        if not options.keep_changed:
            return None
    return found


def read_study(jobs: Iterable[Job], options: Options) -> Outcome:
    """What the results folder holds."""
    outcome = Outcome()
    for job in jobs:
        found = stored(job, options, outcome)
        if found is not None:
            outcome.finished[job.key] = found
    return outcome


def run_study(jobs: Sequence[Job], options: Options) -> Outcome:
    """Run what is missing, one cell after the other; a failed cell does not stop the others."""
    outcome = read_study(jobs, options)
    todo = [job for job in jobs if job.key not in outcome.finished]
    there = len(jobs) - len(todo)
    options.tell(f"{counted(len(jobs), 'cell')}, {there} already in {options.results}/, {len(todo)} to run.")
    for place, job in enumerate(todo, 1):
        title = f"{place}/{len(todo)} {job.key.title}"
        try:
            found = run_job(job, options)
        except (Interrupted, KeyboardInterrupt):
            raise
        except Exception as error:
            reason = str(error) if isinstance(error, OpenSetError) else f"{type(error).__name__}: {error}"
            outcome.failures.append((job.key, reason))
            options.tell(f"{title}: failed: {reason}")
        else:
            outcome.finished[job.key] = found
            outcome.changed = [key for key in outcome.changed if key != job.key]
            figure = found.value("open_auc")
            options.tell(f"{title}: OpenAUC {figure.value:.4f}, {found.minutes:.1f} minutes of training")
    if outcome.failures and not outcome.finished:
        raise OpenSetError(outcome.failures[0][1])
    return outcome


def run_job(job: Job, options: Options) -> Finished:
    """Train, rescore or reapply, and write the results file."""
    summary = run_folder(job, options)[1]
    trained_for = TRAINED_FOR.get(job.key.protocol, "")
    return write_result(
        options.results,
        job.key,
        summary,
        recipe=job.recipe,
        recipe_fingerprint=job.fingerprint,
        keep=job.keep,
        trained_for=trained_for,
    )


def run_folder(job: Job, options: Options) -> tuple[Path, dict[str, Any]]:
    """The finished run folder of a job and its summary, run if needed."""
    cell, relatives = _cells(job, options)
    if options.show and not (cell.folder / "summary.json").exists():
        raise OpenSetError(f"{cell.folder} is not there: without --show, {job.key.title} is trained.")
    other = TRAINED_FOR.get(job.key.protocol)
    if other is None:
        with options.watch(cell.config, job.key.title) as watch:
            return cell.folder, bench.run_cell(cell, [cell, *relatives], on_corrupt=options.on_corrupt, watch=watch)
    if not (cell.folder / "summary.json").exists():
        assert job.config is not None
        source = replace(job, key=replace(job.key, protocol=other), config=replace(job.config, protocol=other))
        folder, _ = run_folder(source, options)
        begin(cell.config, cell.folder, resume=(cell.folder / "config.yaml").exists())
        return cell.folder, reapply(cell.config, folder, cell.folder, on_corrupt=options.on_corrupt)
    return cell.folder, dict(read_json(cell.folder / "summary.json"))


def _cells(job: Job, options: Options) -> tuple[bench.Cell, list[bench.Cell]]:
    """The cell as `bench` knows it, and those whose training would serve it too, all of it or the beginning."""
    if job.config is None:
        raise OpenSetError(job.trouble)
    own = job.config.method.name
    relatives = [name for name in _trained_as(METHODS[own].trained_as or own) if name != own]
    made = [_cell(replace(job.config.method, name=name), job.config, options) for name in (own, *relatives)]
    if METHODS[own].warm_start_from:
        plain = read_config(job.config.as_plain(), **{"method.name": METHODS[own].warm_start_from})
        made += [_cell(replace(plain.method, name=name), plain, options) for name in _trained_as(plain.method.name)]
    return made[0], made[1:]


def _trained_as(method: str) -> list[str]:
    return [name for name in METHODS if (METHODS[name].trained_as or name) == method]


def _cell(method: Named, like: Config, options: Options) -> bench.Cell:
    config = replace(like, method=method)
    mark = fingerprint(config.as_plain(), Config().as_plain(), FIELDS_WITHOUT_EFFECT)[:8]
    stem = f"split{config.split}-seed{config.seed}-{mark}"
    protocol = plain_name(config.protocol)
    return bench.Cell(protocol, method.name, config, options.out / "runs" / protocol / method.name / stem)


def grid(
    options: Options, protocols: Sequence[str], methods: Sequence[str], make: Callable[[str, str, int, int], Job]
) -> list[Job]:
    """Jobs of all protocols, methods, splits and seeds; those that share a training stand together."""
    return [
        make(protocol, method, split, seed)
        for seed in options.seeds
        for protocol in protocols
        for split in options.splits
        for method in methods
    ]
