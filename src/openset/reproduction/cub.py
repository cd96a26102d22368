"""OpenAUC, Tables 4 and 5: fine-grained birds, against easy, medium and hard unknowns."""

from collections.abc import Callable, Mapping
from typing import Any

from openset._io.atomic import write_text
from openset.errors import OpenSetError, did_you_mean
from openset.reproduction import claims_openauc
from openset.reproduction.findings import Claim, Line, Report, Table, Value
from openset.reproduction.options import Options
from openset.reproduction.published import published
from openset.reproduction.recipes import cell_config
from openset.reproduction.study import Study, cell_of, make_cell, read_study, run_study
from openset.studies.cell import Cell
from openset.studies.key import Key
from openset.studies.results_files import Finished

GROUPS = ("easy", "medium", "hard")
METHODS = {
    "smoke": ("softmax", "maxlogit", "openauc"),
    "cpu": ("softmax", "maxlogit", "arpl", "acc_auc", "openauc"),
    "paper": ("softmax", "gcpl", "rpl", "arpl", "maxlogit", "arpl+", "openauc"),
}
_KEEP = ("open_auc", "closed_set_accuracy", "auroc", "error_at_tpr", "open_set_f_score")
_STAND_IN = (
    "title: digits with three groups of unknowns\ndata: digits\nknown: ['0', '1', '2', '3', '4', '5']\n"
    "unknown: {easy: ['6'], medium: ['7'], hard: ['8', '9']}\n"
)
_METRICS: dict[str, tuple[str, str, Mapping[str, Any]]] = {
    "AUC": ("auroc", "auroc", {}),
    "OpenAUC": ("open_auc", "open_auc", {}),
    "Error@95%TPR": ("error_at_tpr", "error_at_tpr", {}),
    "macro F-score": ("f_macro", "open_set_f_score", {"average": "macro"}),
    "micro F-score": ("f_micro", "open_set_f_score", {"average": "micro"}),
}
"""Key in the published file, metric, and its options."""
_OTHER_DATA = {"smoke": "published: CUB, other data", "cpu": "published: another backbone, larger images"}
_BEFORE = {
    "cpu": (
        (
            "The paper trains a ResNet-50, pretrained on Places by MoCo, on images of 448 x 448 pixels for 600 epochs. "
            "Here an EfficientNet-Lite0, pretrained on ImageNet with labels, is fine-tuned for 8 epochs on images "
            "whose shorter side has 96 pixels, enlarged to 128."
        ),
        (
            "ImageNet has 59 classes of birds, and photographs of CUB are known to be among its images, so what is "
            "unknown here was perhaps seen in pretraining. No difference to a published value is taken."
        ),
    )
}


def table4(options: Options) -> Report:
    """Accuracy, AUC and OpenAUC."""
    return _report(options, "openauc/table4", ("AUC", "OpenAUC"), _claims4)


def table5(options: Options) -> Report:
    """Error rate at 95 % TPR, and F-scores."""
    return _report(options, "openauc/table5", ("Error@95%TPR", "macro F-score", "micro F-score"), _claims5)


def _report(
    options: Options, name: str, columns: tuple[str, ...], claims: Callable[[Mapping[str, Finished]], list[Claim]]
) -> Report:
    methods = options.methods or METHODS[options.scale]
    for method in methods:
        if method not in METHODS[options.scale]:
            known = METHODS[options.scale]
            raise OpenSetError(
                f"{name} has no method '{method}' at scale {options.scale}. {did_you_mean(method, known)}"
            )
    # Both tables are of the same runs, so they share the results files.
    cells = [training(options, method, options.seeds[0]) for method in methods]
    outcome = read_study(cells, options) if options.show else run_study(cells, options)
    found = {key.method: cell for key, cell in outcome.finished.items()}
    lines = [
        _line(title, group, method, found, options.scale) for title in columns for method in methods for group in GROUPS
    ]
    if name == "openauc/table4":
        lines = [_accuracy(method, found, options.scale) for method in methods] + lines
    return Report(
        name,
        "CUB, in percent, against easy, medium and hard unknowns",
        options.scale,
        [Table("Ours beside the published values, percent", lines)],
        claims(found),
        _notes(options, outcome),
        before=_BEFORE.get(options.scale, ()),
        failures=[f"{key.title}: {reason}" for key, reason in outcome.failures],
    )


def _notes(options: Options, outcome: Study) -> list[str]:
    limits = {
        "smoke": "The digits of scikit-learn, with three made-up groups of unknowns, stand in for CUB: published "
        "values are of other data and not comparable.",
        "cpu": "Softmax here is the training of CE+ scored by the largest probability; the published row is a shorter "
        "training. The paper has no row of Acc+AUC on CUB.",
        "paper": "ARPL+ is ARPL with the recipe of CE+; baselines are derived from their recipes for CIFAR10.",
    }
    return [limits[options.scale], *outcome.notes(kept=options.keep_changed)]


def training(options: Options, method: str, seed: int) -> Cell:
    """The cell of a method, for both tables."""
    name = "openauc/table4"
    if options.scale != "smoke":
        return make_cell(name, options, "cub", method, 0, seed, keep=_KEEP)
    file = options.out / "protocols" / "digits-groups.yaml"
    write_text(file, _STAND_IN)
    config = cell_config(
        "smoke",
        "digits",
        method,
        0,
        seed,
        overrides=[f"protocol={file}", *options.overrides],
        data_root=options.data_root,
    )
    return cell_of(name, options, Key("digits-groups", method, 0, seed), config, "fast/digits", _KEEP)


def _accuracy(method: str, found: Mapping[str, Finished], scale: str) -> Line:
    paper = published("openauc")["table4"]["accuracy"].get(method)
    ours = Value.of(found[method].value("closed_set_accuracy")) if method in found else None
    return _beside({"metric": "accuracy", "method": method, "unknowns": ""}, ours, paper, scale)


def _line(title: str, group: str, method: str, found: Mapping[str, Finished], scale: str) -> Line:
    key, metric, params = _METRICS[title]
    tables = published("openauc")
    row = (tables["table4"] if key in tables["table4"] else tables["table5"])[key].get(method)
    paper = None if row is None else row[GROUPS.index(group)]
    ours = Value.of(found[method].value(metric, group, **params)) if method in found else None
    return _beside({"metric": title, "method": method, "unknowns": group}, ours, paper, scale)


def _beside(labels: Mapping[str, str], ours: Value | None, percent: float | None, scale: str) -> Line:
    """In a line with the published percentage, where there is one."""
    beside = None if percent is None else Value(percent / 100)
    remark = "" if beside is None else _OTHER_DATA.get(scale, "")
    return Line(labels, ours, beside, remark=remark, compare=scale not in _OTHER_DATA)


def _claims4(found: Mapping[str, Finished]) -> list[Claim]:
    means = {group: {name: cell.value("open_auc", group).value for name, cell in found.items()} for group in GROUPS}
    return [claims_openauc.best_on_each(means)]


def _claims5(found: Mapping[str, Finished]) -> list[Claim]:
    spans = {}
    for name, cell in found.items():
        f_scores = [cell.value("open_set_f_score", group, average="macro").value for group in GROUPS]
        areas = [cell.value("open_auc", group).value for group in GROUPS]
        spans[name] = (max(f_scores) - min(f_scores), max(areas) - min(areas))
    return [claims_openauc.f_score_cannot_tell(spans)]
