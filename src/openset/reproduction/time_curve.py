"""Quality against time: the fast recipe on one split, with the epochs that about so many minutes allow."""

from dataclasses import replace

from openset.reproduction.claims_openauc import longer_is_better
from openset.reproduction.drawing import draw
from openset.reproduction.findings import Line, Report, Table, Value
from openset.reproduction.options import Options
from openset.reproduction.recipes import cell_config
from openset.reproduction.study import make_cell, read_study, run_study
from openset.reproduction.table2 import STAND_IN, published_value
from openset.reproduction.writing import MISSING
from openset.studies.cell import Cell
from openset.train.config import read_config

NAME = "openauc/time"
_PROTOCOL = {"smoke": "digits", "cpu": "cifar10"}
SHARES = {"smoke": (0.1, 0.5, 1.0), "cpu": (0.25, 0.5, 1.0, 1.5)}
"""Of the recipe's epochs: at cpu about 5, 10, 20 and 30 minutes, where the whole recipe takes twenty."""


def reproduce(options: Options) -> Report:
    """OpenAUC against minutes of training."""
    protocol = options.protocols[0] if options.protocols else _PROTOCOL[options.scale]
    method = options.methods[0] if options.methods else "openauc"
    split = options.splits[0] if options.splits else 0
    made = [_cell(options, protocol, method, split, share) for share in SHARES[options.scale]]
    cells = list({cell.key: cell for cell in made}.values())
    outcome = read_study(cells, options) if options.show else run_study(cells, options)
    done = [outcome.finished[cell.key] for cell in cells if cell.key in outcome.finished]
    paper = published_value(STAND_IN.get(protocol, protocol), method)
    same = protocol not in STAND_IN
    lines = []
    for cell in cells:
        found = outcome.finished.get(cell.key)
        labels = {
            "epochs": cell.key.variant.removeprefix("epochs"),
            "minutes": MISSING if found is None else f"{found.minutes:.1f}",
        }
        ours = None if found is None else Value.of(found.value("open_auc"))
        lines.append(Line(labels, ours, paper, remark="" if same else "published: mnist, other data", compare=False))
    points = sorted((one.minutes, one.value("open_auc").value) for one in done)
    figures = []
    if points:
        mark = paper.value if paper is not None and same else None
        curve = {f"{method}, {protocol}": points}
        figures = draw(options, NAME, "quality-against-time", "quality_against_time", curve, published=mark)
    return Report(
        NAME,
        f"OpenAUC against training time, {protocol} split {split}",
        options.scale,
        [Table("OpenAUC in percent, 95 % interval over test samples", lines)],
        [longer_is_better(points)],
        [
            "One split: the published value is a mean over five, so no difference is taken.",
            *outcome.notes(kept=options.keep_changed),
        ],
        figures,
        [f"{key.title}: {reason}" for key, reason in outcome.failures],
    )


def _cell(options: Options, protocol: str, method: str, split: int, share: float) -> Cell:
    """The recipe with a fraction of all its epochs, those of beginnings too; the user's `train.epochs` is the whole."""
    changes = [text for text in options.overrides if not text.startswith("train.epochs=")]
    given = [text for text in options.overrides if text.startswith("train.epochs=")]
    recipe = cell_config(options.scale, protocol, method, split, options.seeds[0])
    whole = read_config(None, given).train.epochs if given else recipe.train.epochs
    epochs = max(1, round(whole * share))
    warm = {
        "schedule.warmup_epochs": recipe.schedule.warmup_epochs,
        "method.start": recipe.method.options.get("start"),
        "method.warmup": recipe.method.options.get("warmup"),
    }
    shortened = [f"{name}={value * epochs / recipe.train.epochs:g}" for name, value in warm.items() if value]
    if recipe.augment.shrink:
        small = recipe.augment.shrink_epochs * epochs / recipe.train.epochs
        shortened.append(f"augment.shrink_epochs={max(1, round(small))}")
    return make_cell(
        NAME,
        replace(options, overrides=changes),
        protocol,
        method,
        split,
        options.seeds[0],
        variant=f"epochs{epochs}",
        overrides=[f"train.epochs={epochs}", *shortened],
    )
