"""When does the OpenAUC loss help? Its gain over cross-entropy, everything else equal, under many conditions."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from openset.errors import OpenSetError, did_you_mean
from openset.reproduction import cub, table2
from openset.reproduction.claims_openauc import grows_on_little_data
from openset.reproduction.drawing import draw
from openset.reproduction.findings import Line, Report, Table, Value
from openset.reproduction.options import Options
from openset.reproduction.recipes import FAST
from openset.reproduction.study import Study, cell_of, read_study, run_study
from openset.results.views.runs import BenchRow
from openset.studies.cell import Cell, protocol_name
from openset.studies.key import Key
from openset.studies.results_files import Finished
from openset.train.config import Config, read_config

NAME = "openauc/when"
PLAIN, LOSS = "maxlogit", "openauc"
FORMS = {
    "recipe": (),
    "slots": ("method.pairing=slots", "method.surrogate=square", "method.score=max_logit"),
    "halves": ("method.pairing=halves", "method.surrogate=square", "method.score=max_logit"),
}
"""What is ranked: as the recipe says, as the paper writes it, as its program does. Weights are the recipe's."""


@dataclass(frozen=True)
class Condition:
    """A training, with and without the loss."""

    name: str
    """In the names of files."""
    title: str
    protocol: str
    settings: tuple[str, ...] = ()
    """What differs from the recipe, with the loss and without."""
    forms: tuple[str, ...] = ("slots", "halves")
    splits: tuple[int, ...] = table2.SPLITS
    recipe: str = ""
    """If it is not the fast recipe of the protocol."""
    fraction: float | None = None
    """Of the training samples, where several fractions are compared with equal numbers of steps."""
    in_table_4: bool = False
    """Whether Table 4 has these very trainings, so that its results serve."""


def _little(
    name: str, title: str, protocol: str, epochs: int, fraction: float, *, small: Sequence[str] = ()
) -> Condition:
    """As many steps on a fraction of the training samples; the loss acts in the last third, as in the recipes."""
    long = round(epochs / fraction)
    settings = (f"data.fraction={fraction:g}", f"train.epochs={long}", f"train.keep=[{2 * long // 3}]", *small)
    forms = ("recipe", "slots", "halves")
    return Condition(f"{name}{100 * fraction:g}", title, protocol, settings, forms, fraction=fraction)


_NARROW = ("backbone.width=16", "augment.shrink=0", "augment.shrink_epochs=0", "augment.test_views=1")
_HEAD_ALONE = (
    *("train.frozen=true", "train.epochs=30", "train.keep=[20]", "optimizer.lr=1e-3"),
    *("data.size=160", "data.batch_size=64", "augment.crop_padding=0", "augment.flip=false"),
)
_HOUR = ("train.epochs=16", "schedule.restarts=0", "schedule.warmup_epochs=1", "engine.threads=1")
CONDITIONS = {
    "smoke": (
        Condition(
            "usual",
            "digits, 10 epochs",
            "digits",
            ("train.epochs=10", "schedule.warmup_epochs=1"),
            splits=(0, 1),
            fraction=1.0,
        ),
        Condition(
            "little25",
            "a quarter of the digits, 40 epochs",
            "digits",
            ("train.epochs=40", "schedule.warmup_epochs=1", "data.fraction=0.25"),
            splits=(0, 1),
            fraction=0.25,
        ),
    ),
    "cpu": (
        *(
            _little("share", f"CLINC150, {share:.0%} of the queries", "clinc150.yaml", 30, share)
            for share in (1.0, 0.25, 0.1)
        ),
        Condition("tuned", "CUB, fine-tuned", "cub", forms=("recipe",), splits=(0,), in_table_4=True),
        Condition("frozen", "CUB, last layer alone", "cub", _HEAD_ALONE, splits=(0,)),
        *(
            _little("share", f"CIFAR10, {share:.0%} of the images", "cifar10", 18, share, small=_NARROW)
            for share in (1.0, 0.25, 0.1)
        ),
        Condition(
            "hour", "CIFAR10, classifier32, an hour", "cifar10", _HOUR, ("recipe",), (0,), "openauc/cifar10-openauc"
        ),
    ),
}


def reproduce(options: Options) -> Report:
    """Run the cells that are missing, or only read, and take the differences."""
    conditions = _chosen(options)
    cells = {
        (condition.protocol, condition.name, form): [
            _cell(options, condition, form, split, seed)
            for split in options.splits or condition.splits
            for seed in options.seeds
        ]
        for condition in conditions
        for form in ("", *condition.forms)
    }
    every = [cell for some in cells.values() for cell in some]
    outcome = read_study(every, options) if options.show else run_study(every, options)
    gains: dict[tuple[str, str, str], Value | None] = {}
    lines: list[Line] = []
    rows: list[BenchRow] = []
    for condition in conditions:
        plain = _found(outcome, cells[condition.protocol, condition.name, ""])
        for form in condition.forms:
            loss = _found(outcome, cells[condition.protocol, condition.name, form])
            pairs = table2.pairs_of(loss.values(), plain.values())
            gain = gains[condition.protocol, condition.name, form] = table2.paired_gap(pairs)
            n_cells = len(cells[condition.protocol, condition.name, form])
            labels = {"condition": condition.title, "loss": form, "runs": f"{len(pairs)} of {n_cells}"}
            also = {"without the loss": _mean(plain, pairs), "with it": _mean(loss, pairs)}
            lines.append(Line(labels, gain, also=also))
            if pairs:
                rows.append(BenchRow(condition.title, form, list(pairs.values()), [split for split, _ in pairs]))
    lines += [line for line in _of_table_2(options) if line.ours is not None]
    figures = draw(options, NAME, "gains", "bench", rows, metric="gain in OpenAUC") if rows else []
    little: dict[str, dict[float, Value | None]] = {}
    for (protocol, name, form), gain in gains.items():
        fraction = next(one.fraction for one in conditions if (one.protocol, one.name) == (protocol, name))
        if fraction is not None:
            little.setdefault(f"{protocol}, {form}", {})[fraction] = gain
    return Report(
        NAME,
        "When does the OpenAUC loss help?",
        options.scale,
        [Table("OpenAUC in percent; ours: gain by the loss, 95 % interval over splits", lines, heading="gain")],
        [grows_on_little_data(little)],
        [
            (
                "Each gain is paired: the same recipe, split and seed, with the loss and without. The loss acts in the "
                "last third of the training, where the recipe says so; until then both are the same training."
            ),
            "slots: the paper's pairs; halves: its program's; recipe: as the recipe says.",
            *outcome.notes(kept=options.keep_changed),
        ],
        figures,
        [f"{key.title}: {reason}" for key, reason in outcome.failures],
    )


def _chosen(options: Options) -> list[Condition]:
    have = CONDITIONS[options.scale]
    known = list(dict.fromkeys(protocol_name(one.protocol) for one in have))
    for name in options.protocols:
        if name not in known:
            raise OpenSetError(f"{NAME} has no protocol '{name}' at scale {options.scale}. {did_you_mean(name, known)}")
    return [one for one in have if not options.protocols or protocol_name(one.protocol) in options.protocols]


def _cell(options: Options, condition: Condition, form: str, split: int, seed: int) -> Cell:
    """The training of a condition with a form of the loss; without one, plain cross-entropy."""
    if condition.in_table_4:
        return cub.training(options, LOSS if form else PLAIN, seed)
    recipe = condition.recipe or FAST[condition.protocol]
    # Where the recipe's own loss begins may lie beyond the end of a shorter training.
    epochs = read_config(recipe, [*condition.settings, *options.overrides, "method.start=0"]).train.epochs
    method = LOSS if form else PLAIN
    start = [f"method.start={2 * epochs // 3}"] if form else []
    given = {"method.name": method, "protocol": condition.protocol, "split": split, "seed": seed}
    changes = [*condition.settings, *start, *(FORMS[form] if form else ()), *options.overrides]
    try:
        config = read_config(recipe, changes, data_root=options.data_root, **given)
    except OpenSetError:
        if not options.show:
            raise
        config = Config()
    variant = "-".join(filter(None, (condition.name, form)))
    key = Key(protocol_name(condition.protocol), method, split, seed, variant)
    return cell_of(NAME, options, key, config, recipe)


def _found(outcome: Study, cells: Sequence[Cell]) -> dict[tuple[int, int], Finished]:
    return {
        (cell.key.split, cell.key.seed): outcome.finished[cell.key] for cell in cells if cell.key in outcome.finished
    }


def _mean(found: Mapping[tuple[int, int], Finished], places: Mapping[tuple[int, int], float]) -> Value | None:
    """Over the runs of which there are pairs."""
    return table2.spread([found[place] for place in places], "open_auc") if places else None


def _of_table_2(options: Options) -> list[Line]:
    """Gains by the recipes of Table 2, from its results."""
    if options.scale != "cpu":
        return []
    whole = replace(options, protocols=(), methods=(), splits=(), overrides=(), show=True)
    return [
        Line(
            {
                "condition": f"{line.labels['protocol']}, recipe of Table 2",
                "loss": "recipe",
                "runs": line.labels["cells"],
            },
            line.ours,
            also={"without the loss": None, "with it": None},
        )
        for line in table2.gaps(whole)
        if line.labels["difference of"] == f"{LOSS} - {PLAIN}"
    ]
