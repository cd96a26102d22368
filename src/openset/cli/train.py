"""`openset train`: train a method: weights, scores and a frozen threshold in one folder."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from openset._core.numbers import exact, percents
from openset.cli._console import JsonOption, SkipCorruptOption, console, say, show_table
from openset.cli._outputs import FiguresOption, ReportOption, check_outputs, say_written
from openset.cli._plugins import OWN, resolving

if TYPE_CHECKING:
    from openset.results.document import Document

SetOption = Annotated[
    list[str] | None, typer.Option("--set", "-s", help="Any field of the recipe: optimizer.lr=0.01; may be repeated.")
]
TunedOption = Annotated[Path | None, typer.Option("--tuned", help="Use the setting in this file of openset tune.")]
DataRootOption = Annotated[
    Path | None, typer.Option("--data-root", help="Folder of data sets; else OPENSET_DATA is used.")
]


def command(
    recipe: Annotated[str | None, typer.Argument(help="A YAML recipe, or the name of a bundled one.")] = None,
    protocol: Annotated[
        str | None,
        typer.Option("--protocol", "-p", help="Protocol name, YAML file, or folder with known/ and unknown/."),
    ] = None,
    method: Annotated[
        str | None,
        typer.Option(
            "--method",
            "-m",
            help=f"See: openset methods; {OWN}.",
            callback=resolving("openset.methods", "METHODS"),
        ),
    ] = None,
    backbone: Annotated[
        str | None, typer.Option("--backbone", help="fastnet, classifier32, mlp, resnet50, timm:NAME.")
    ] = None,
    split: Annotated[int | None, typer.Option("--split", help="Split of the protocol.")] = None,
    seed: Annotated[int | None, typer.Option("--seed", help="Same seed, same result.")] = None,
    epochs: Annotated[int | None, typer.Option("--epochs", help="Passes over the training data.")] = None,
    devices: Annotated[int | None, typer.Option("--devices", help="Processes (GPUs) on this machine.")] = None,
    settings: SetOption = None,
    tuned: TunedOption = None,
    out: Annotated[Path | None, typer.Option("--out", "-o", help="Run folder.")] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Resume the run in --out.")] = False,
    data_root: DataRootOption = None,
    skip_corrupt: SkipCorruptOption = False,
    logger: Annotated[
        list[str] | None,
        typer.Option("--logger", help="Also report to tensorboard, wandb or mlflow; may be repeated."),
    ] = None,
    report: ReportOption = None,
    figures: FiguresOption = None,
    json: JsonOption = None,
) -> None:
    """Train a method on a protocol; weights, scores, outputs and a threshold go to one folder.

    Example: openset train --protocol digits --method openauc --set train.epochs=30
    """
    from contextlib import nullcontext

    from rich.markup import escape

    from openset._io.folder_lock import hold
    from openset.cli._training import training_bar
    from openset.train.config import read_config
    from openset.train.interrupt import Interrupted
    from openset.train.processes import is_first_process
    from openset.train.run import begin, for_vectors, holds_vectors, settle_method, train

    check_outputs(
        report, json, folder=figures, inputs=[Path(one) for one in (recipe, protocol, tuned) if one is not None]
    )

    given: dict[str, Any] = {
        "protocol": protocol,
        "split": split,
        "seed": seed,
        "train.epochs": epochs,
        "engine.devices": devices,
        "data_root": None if data_root is None else str(data_root),
        "method.name": method,
        "backbone.name": backbone,
    }
    if tuned is not None:
        from openset.cli._grid import read_tuned

        given |= read_tuned(tuned, [] if protocol is None else [protocol], settings, given)
    is_configured = recipe is not None or bool(settings) or any(value is not None for value in given.values())
    begun = out / "config.yaml" if resume and recipe is None and out is not None else None
    base = begun if begun is not None and begun.exists() else recipe  # what is given would change the run that is there
    config = read_config(base, settings or (), **given) if is_configured or not resume else None
    if config is not None and holds_vectors(config.protocol, config.data_root):
        config = for_vectors(config)
    note = ""
    if config is not None:
        named = method is not None or any(text.startswith("method") for text in settings or ())
        config, note = settle_method(config, named=named, on_corrupt="skip" if skip_corrupt else "stop")
    if out is None:
        from openset.errors import OpenSetError
        from openset.studies.cell import Layout

        if config is None:
            raise OpenSetError("Say which run to resume: --out DIR.")
        out = Layout(Path("runs")).folder(config)
    if resume and not is_configured:
        config = None
    screen = console()
    first = is_first_process(config)
    with hold(out) if first else nullcontext():
        config = begin(config, out, resume=resume)
        if first:
            if note:
                screen.print(note, highlight=False, markup=False)
            screen.print(
                f"Training [bold]{config.method.name}[/bold] ({config.backbone.name}) on {escape(config.protocol)}, "
                f"split {config.split}, seed {config.seed}, {config.train.epochs} epochs, into {escape(str(out))}/"
            )
        try:
            with training_bar(config) as watch:
                summary = train(
                    config,
                    out,
                    on_corrupt="skip" if skip_corrupt else "stop",
                    watch=watch,
                    loggers=logger or (),
                    tell=lambda note: screen.print(note, style="dim", highlight=False, markup=False),
                )
        except Interrupted as stopped:
            say(f"Stopped at {stopped}; checkpoint saved. Resume with: openset train --resume --out {out}", err=True)
            raise typer.Exit(130) from None
    if summary:
        _write(out, summary, json, report, figures)


def _write(out: Path, summary: dict[str, Any], json: Path | None, report: Path | None, figures: Path | None) -> None:
    """Print what came out, and write what was asked for."""
    if json is not None:
        from openset._io.json_files import write_json

        write_json(json, summary)
    document = read_document(out, summary)
    show(summary, document, out)
    drawn = [] if report is None and figures is None else draw(out, document, report, figures)
    say_written(report, figures, drawn)


def read_document(run: Path, summary: dict[str, Any]) -> "Document":
    """The results of a finished run, as its summary holds them, with the scores they were computed from."""
    from openset.evaluation import evaluate
    from openset.results.document import Document
    from openset.scores import Scores

    scores = Scores.read(run / "scores_test.parquet")
    if "files" not in summary:  # by an earlier version, which kept no document
        return Document.of([evaluate(scores)], models=[scores], files=["scores_test.parquet"])
    return Document.from_json(summary, models=[scores])


def draw(run: Path, document: "Document", report: Path | None, figures: Path | None) -> list[Path]:
    """The page and the plots of a run: what it does on the test part, and how training went; returns the plots."""
    from openset.results.views.runs import GammaLog, TrainingLog

    log = TrainingLog.read(run / "log.csv")
    if report is not None:
        from openset.cli._page import frozen_thresholds
        from openset.present.page import evaluation_page, training_section, write_page

        frozen = frozen_thresholds([run / "scores_test.parquet"], document.models, None)
        write_page(report, evaluation_page(document, extra=[training_section(log)], frozen=frozen))
    if figures is None:
        return []
    from openset.present import plots

    drawn = plots.write_figures(figures, document)
    drawn += plots.save(plots.training_curves(log), figures / "training-curves")
    confidence = GammaLog.mean([log])
    if confidence is not None:
        method = str(document.evaluations[0].meta["method"])
        drawn += plots.save(plots.gamma_over_epochs({method: confidence}), figures / "gamma-over-epochs")
    return drawn


def show(summary: dict[str, Any], document: "Document", out: Path) -> None:
    """What came out, and what to do next."""
    from openset.results.tables import run_table

    show_table(run_table(document))
    screen = console()
    threshold, applied = summary["threshold"], summary["on_test"]
    screen.print(
        f"Threshold {exact(threshold['value'])} ({threshold['rule']} on validation data) accepts "
        f"{_accepted(applied, 'acceptance')} of the known and {_accepted(applied, 'fpr')} of the open-set test "
        "samples.",
        highlight=False,
        markup=False,
    )
    for note in summary["notes"]:
        screen.print(f"Note: {note}", style="dim", highlight=False, markup=False)
    screen.print(
        f"Next: openset evaluate {out}/scores_test.parquet\n      openset predict {out} YOUR_IMAGES/",
        highlight=False,
        markup=False,
    )


def _accepted(applied: dict[str, Any], name: str) -> str:
    """A fraction with its interval, where the summary has one."""
    entry = next((one for one in applied.get("rates", []) if one["name"] == name), None)
    return percents(applied[name], *(None if entry is None else entry[end] for end in ("low", "high")))
