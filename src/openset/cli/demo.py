"""`openset demo`: all of this on embedded data, with a first result within seconds."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from openset.cli import compare as compare_command
from openset.cli import evaluate as evaluate_command
from openset.cli import threshold as threshold_command
from openset.cli._console import console, progress

if TYPE_CHECKING:
    from collections.abc import Iterable

_RESAMPLES = 300
"""Enough for a first look, so that it comes within seconds."""


def command(
    out: Annotated[Path, typer.Option("--out", help="Folder for the results.")] = Path("openset-demo"),
    seed: Annotated[
        int, typer.Option("--seed", min=0, help="Which digits are known, and how samples are divided.")
    ] = 0,
    show: Annotated[
        bool, typer.Option("--open", help="Open the page in a browser as soon as it is written, if there is a desktop.")
    ] = False,
) -> None:
    """Try everything on embedded data: six digits known, four unknown, five splits, classifiers and networks.

    The first result is there within seconds; the networks are trained last.

    Example: openset demo --open
    """
    from openset.studies.demo import N_SPLITS

    screen = console()
    screen.print(
        "Handwritten digits that come with scikit-learn: six are [bold]known[/bold] and learned, four are "
        "[bold]unknown[/bold] and appear in the test alone.\n'linear' is logistic regression (score: one minus the "
        "largest probability), 'neighbours' is 3 nearest neighbours (score: distance to the third).\n"
    )
    tests: dict[str, list[Path]] = {"linear": [], "neighbours": []}
    validations: dict[str, list[Path]] = {"linear": [], "neighbours": []}
    page = out / "report.html"

    def train(splits: "Iterable[int]", title: str) -> None:
        from openset.studies.demo import run_split, write_split

        chosen = list(splits)
        with progress(title, len(chosen)) as advance:
            for split in chosen:
                for result in run_split(split, seed=seed):
                    validation, test = write_split(result, out)
                    validations[result.method].append(validation)
                    tests[result.method].append(test)
                advance(1)

    train([0], "Training two classifiers")
    first, second = tests["neighbours"][0], tests["linear"][0]
    _step(
        f"openset compare {first} {second} --resamples {_RESAMPLES} --report {page}",
        "Two classifiers on the same test digits. Which one knows better what it does not know?",
    )
    compare_command.command(str(first), str(second), json=out / "comparison.json", report=page, resamples=_RESAMPLES)
    _say_what_to_look_at(page, show=show)
    _step(
        f"openset threshold {validations['neighbours'][0]} --rule at_acceptance=0.95 --apply {first}",
        "A threshold chosen on validation data, frozen, applied to the test part:",
    )
    threshold_command.command(
        str(validations["neighbours"][0]),
        rule="at_acceptance=0.95",
        apply=str(first),
        out=out / "threshold.json",
        unknown_share=0.1,
    )
    train(range(1, N_SPLITS), "Training on other choices of known digits")
    _step(
        f"openset evaluate {out}/test/*/*.parquet --resamples {_RESAMPLES}",
        "Was that luck? Both on five choices of known digits, with 95 % intervals, then mean and spread:",
    )
    both = [str(file) for file in (*tests["linear"], *tests["neighbours"])]
    evaluate_command.command(both, json=out / "evaluation.json", resamples=_RESAMPLES)
    _train_networks(out)
    screen.print(
        f"\nAll files are in {out}/. The page: {page.resolve()}", soft_wrap=True, highlight=False, markup=False
    )
    screen.print("Next, with scores of your own: openset evaluate SCORES.csv --report page.html", highlight=False)


def _say_what_to_look_at(page: Path, *, show: bool) -> None:
    """What the first table and the page are there for."""
    from openset.cli._desktop import open_page

    screen = console()
    screen.print(
        "\n[bold]What to look at[/bold]\n"
        "- Closed-set accuracy: how often known digits are recognised. It says nothing about unknown ones.\n"
        "- OpenAUC: how often a known digit is classified correctly [italic]and[/italic] gets a lower unknown score "
        "than an unknown digit. This is what the two are compared by.\n"
        "- The page: drag the slider 'Threshold' and see how many knowns are lost for the unknowns that are caught.",
        highlight=False,
    )
    if show and not open_page(page):
        screen.print("There is no desktop to open it on.", style="dim")
    screen.print(page.resolve().as_uri(), soft_wrap=True, highlight=False, markup=False)


def _train_networks(out: Path) -> None:
    """Networks that learn to rank unknowns, against plain ones; needs the torch extra."""
    from openset.errors import is_installed
    from openset.studies.demo import METHODS, N_SPLITS, compare_networks

    if not is_installed("torch", "lightning_fabric", "safetensors", "yaml"):
        console().print("\nTo train networks as well: pip install 'openset[torch,data]'", markup=False, style="dim")
        return
    from openset.cli import bench as bench_command

    methods, splits, folder = ",".join(METHODS), f"0-{N_SPLITS - 1}", out / "networks"
    _step(
        f"openset bench --protocols digits --methods {methods} --splits {splits} --recipe fast/digits --out {folder}",
        "Small networks on the digits protocol: plain training scored in two ways, and training for OpenAUC. It takes "
        "a few minutes; Ctrl-C ends it, and everything above stays:",
    )
    bench_command.command("digits", methods, splits=splits, recipe="fast/digits", out=folder)
    console().print(compare_networks(folder), highlight=False, markup=False)


def _step(line: str, meaning: str) -> None:
    screen = console()
    screen.print(f"\n$ {line}", style="bold cyan", soft_wrap=True, highlight=False, markup=False)
    screen.print(meaning, style="dim")
