"""`openset predict`: class or "unknown" for a person's own images."""

import warnings
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from openset.cli._console import console, progress, say, table
from openset.cli._outputs import check_outputs
from openset.cli.threshold import ForceOption

_SHOWN = 40
_OF_A_RUN = ("config.yaml", "summary.json", "threshold.json")


def command(
    run: Annotated[Path, typer.Argument(help="Folder of a finished training run.")],
    images: Annotated[list[Path], typer.Argument(help="Image files, or folders of them.")],
    json: Annotated[Path | None, typer.Option("--json", help="Write the predictions to this JSON file.")] = None,
    csv: Annotated[Path | None, typer.Option("--csv", help="Write the predictions to this CSV file.")] = None,
    threshold: Annotated[
        Path | None, typer.Option("--threshold", help="Another threshold file; see: openset threshold.")
    ] = None,
    force: ForceOption = False,
) -> None:
    """Say for each image which class it shows, or that it is unknown.

    An image is unknown if its unknown score is above the threshold, which was chosen on validation data.

    Example: openset predict runs/flowers photos/ --csv predictions.csv
    """
    from rich.markup import escape

    from openset._io.atomic import write_text
    from openset._io.json_files import write_json
    from openset.errors import OpenSetError, OpenSetWarning
    from openset.operating.notes import notes_on_unlabelled
    from openset.train.predict import TrainedRun, find_images, read_images

    files = find_images(images)
    check_outputs(json, csv, inputs=[*files, threshold, *(run / name for name in _OF_A_RUN)])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", OpenSetWarning)  # the notes say the same
        trained = TrainedRun.read(run, threshold, force=force)
    found = []
    bad = 0
    with progress("Predicting", len(files)) as advance:
        for start in range(0, len(files), 64):
            some = files[start : start + 64]
            good = []
            for name, image, trouble in read_images(some):
                if trouble:
                    bad += 1
                    say(f"Left out: {trouble}.", err=True)
                else:
                    good.append((name, image))
            found += trained.predict(good) if good else []
            advance(len(some))
    if not found:
        raise OpenSetError(f"None of the {len(files)} images can be read.")
    about = trained.threshold
    rejected = sum(one.prediction == "unknown" for one in found)
    notes = [*about.notes, *notes_on_unlabelled(rejected, len(found))]
    if json is not None:
        predictions = [asdict(one) for one in found]
        write_json(json, {"schema": 1, "threshold": about.as_json(), "notes": notes, "predictions": predictions})
    if csv is not None:
        from openset.present.csv_text import csv_table
        from openset.results.table import Table

        lines = [asdict(one) for one in found]
        write_text(csv, csv_table(Table(list(lines[0]), [list(line.values()) for line in lines])))
    made = table("image", "prediction", "best class", "probability", "unknown score")
    for one in found[:_SHOWN]:
        style = "yellow" if one.prediction == "unknown" else ""
        made.add_row(
            escape(one.file),
            escape(one.prediction),
            escape(one.best_class),
            f"{one.probability:.3f}",
            f"{one.unknown_score:.4g}",
            style=style,
        )
    screen = console()
    screen.print(made)
    if len(found) > _SHOWN:
        screen.print(f"... and {len(found) - _SHOWN} more; write them all with --csv or --json.")
    screen.print(
        f"{rejected} of {len(found)} images are unknown: their score is above the threshold {about.value:.4g} "
        f"({about.rule}).",
        highlight=False,
        markup=False,
    )
    for note in notes:
        screen.print(f"Note: {note}", style="yellow", highlight=False, markup=False)
    if bad:
        raise typer.Exit(1)
