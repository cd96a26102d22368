"""`openset detect demo`: a small detector and what it calls unknown shapes."""

from pathlib import Path
from typing import Annotated

import typer

from openset.cli._console import show_table
from openset.cli.detect._shared import say, stages

EXAMPLE = "openset detect demo --out detect-demo"


def command(
    out: Annotated[Path, typer.Option(help="Folder for scenes, detector, results and pictures.")] = Path("detect-demo"),
    steps: Annotated[int, typer.Option(help="Training steps; fewer are faster and worse.", min=1)] = 1500,
    seed: Annotated[int, typer.Option(min=0, help="Seed of scenes, training and bootstrap.")] = 0,
) -> None:
    """Train a small detector on some shapes (about two minutes on 2 cores) and see what it calls the others."""
    from openset.detection.scenes import KNOWN, UNKNOWN
    from openset.detection.tables import result_tables
    from openset.detection.verdict import verdict
    from openset.studies.detector_demo import run_demo

    with stages() as report:
        done = run_demo(out, steps=steps, seed=seed, report=report)
    say(
        f"Learnt {', '.join(KNOWN)} from {done.n_train} scenes in {done.seconds_training:.0f} s; "
        f"never shown: {', '.join(UNKNOWN)}.",
        f"Tested on {done.result.n_known} scenes of known shapes and {done.result.n_wild} wild scenes of unknown ones.",
        "",
    )
    for made in result_tables(done.result):
        show_table(made)
    say(
        f"Verdict: {verdict(done.result)}",
        *([f"Look at {done.gallery.sheet}: the unknown shapes it is most certain about."] if done.gallery else []),
        *([f"{len(done.figures)} figures are in {done.figures[0].parent}."] if done.figures else []),
        f"Everything is in {out}. Try: openset detect evaluate --known-gt {out}/known.json "
        f"--known-dt {out}/known_dt.json --wild-gt {out}/wild.json --wild-dt {out}/wild_dt.json "
        f"--images {out}/images --report {out}/report.html",
    )
