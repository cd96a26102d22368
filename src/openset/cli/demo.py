"""`openset demo`: all of this on embedded data."""

from pathlib import Path
from typing import Annotated

import typer

from openset.cli import compare as compare_command
from openset.cli import evaluate as evaluate_command
from openset.cli import threshold as threshold_command
from openset.cli._console import console, progress


def command(
    out: Annotated[Path, typer.Option("--out", help="Folder for the results.")] = Path("openset-demo"),
    seed: Annotated[
        int, typer.Option("--seed", min=0, help="Which digits are known, and how samples are divided.")
    ] = 0,
) -> None:
    """Try everything on embedded data: six digits known, four unknown, five splits, classifiers and networks.

    Example: openset demo
    """
    from rich.markup import escape

    from openset.studies.demo import N_SPLITS, run_split, write_split

    screen = console()
    screen.print(
        "Handwritten digits that come with scikit-learn: six are [bold]known[/bold] and learned, four are "
        "[bold]unknown[/bold] and appear in the test alone.\n'linear' is logistic regression (score: one minus the "
        "largest probability), 'neighbours' is 3 nearest neighbours (score: distance to the third).\n"
    )
    tests: dict[str, list[Path]] = {"linear": [], "neighbours": []}
    validations: dict[str, list[Path]] = {"linear": [], "neighbours": []}
    with progress("Training on five splits", N_SPLITS) as advance:
        for split in range(N_SPLITS):
            for result in run_split(split, seed=seed):
                validation, test = write_split(result, out)
                validations[result.method].append(validation)
                tests[result.method].append(test)
            advance(1)

    _step(
        f"openset evaluate {out}/test/*/*.parquet",
        "All models, with 95 % intervals, then mean and spread over splits:",
    )
    both = [str(file) for file in (*tests["linear"], *tests["neighbours"])]
    evaluate_command.command(both, json=out / "evaluation.json", resamples=300)
    best = tests["neighbours"][0]
    _step(f"openset evaluate {best}", "Every result of one of them:")
    evaluate_command.command([str(best)], json=out / "neighbours-split0.json")
    _step(
        f"openset compare {best} {tests['linear'][0]} --report {out}/report.html",
        "Is it better than the other on the same samples?",
    )
    page = out / "report.html"
    compare_command.command(best, tests["linear"][0], json=out / "comparison.json", report=page)
    _step(
        f"openset threshold {validations['neighbours'][0]} --rule at_acceptance=0.95 --apply {best}",
        "A threshold chosen on validation data, frozen, applied to the test part:",
    )
    threshold_command.command(
        validations["neighbours"][0],
        rule="at_acceptance=0.95",
        apply=best,
        out=out / "threshold.json",
        unknown_share=0.1,
    )
    _train_networks(out)
    screen.print(
        f"\nAll files are in [bold]{escape(str(out))}/[/bold]. Next: openset evaluate SCORES.csv --report page.html"
    )
    screen.print(f"To see it all, open in a browser:\n{page.resolve()}", soft_wrap=True, highlight=False, markup=False)


def _train_networks(out: Path) -> None:
    """Networks that learn to rank unknowns, against plain ones; needs the torch extra."""
    from openset.errors import is_installed
    from openset.studies.demo import METHODS, compare_networks

    if not is_installed("torch", "lightning_fabric", "safetensors", "yaml"):
        console().print("\nTo train networks as well: pip install 'openset[torch,data]'", markup=False, style="dim")
        return
    from openset.cli import bench as bench_command

    methods, folder = ",".join(METHODS), out / "networks"
    _step(
        f"openset bench --protocols digits --methods {methods} --splits 0-4 --recipe fast/digits --out {folder}",
        "Small networks on the digits protocol: plain training scored in two ways, and training for OpenAUC:",
    )
    bench_command.command("digits", methods, splits="0-4", recipe="fast/digits", out=folder)
    console().print(compare_networks(folder), highlight=False, markup=False)


def _step(line: str, meaning: str) -> None:
    screen = console()
    screen.print(f"\n$ {line}", style="bold cyan", soft_wrap=True, highlight=False, markup=False)
    screen.print(meaning, style="dim")
