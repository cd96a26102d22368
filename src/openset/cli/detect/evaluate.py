"""`openset detect evaluate`: what the open world does to a detector."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from openset.cli._outputs import (
    CsvOption,
    FiguresOption,
    LatexOption,
    MarkdownOption,
    ReportOption,
    check_outputs,
    say_written,
    write_tables,
)
from openset.cli.detect._shared import (
    Bootstrap,
    BothDt,
    ExtraImages,
    Iou,
    JsonOut,
    KnownDt,
    KnownGt,
    OtherClasses,
    Recall,
    Rule,
    Seed,
    WildDt,
    WildGt,
    busy,
    load_data,
    say,
)
from openset.errors import OpenSetError

if TYPE_CHECKING:
    from openset.detection.measure.sets import OpenSetData
    from openset.present.page import FalseDetection

EXAMPLE = "openset detect evaluate --known-gt known.json --wild-gt wild.json --dt results.json"


def command(
    known_gt: KnownGt,
    wild_gt: WildGt,
    known_dt: KnownDt = None,
    wild_dt: WildDt = None,
    dt: BothDt = None,
    recall: Recall = None,
    variant: Annotated[
        list[str] | None,
        typer.Option(help="paper, macro, official or all; may be repeated.  [default: paper]"),
    ] = None,
    rule: Rule = "voc",
    iou: Iou = 0.5,
    ratio: Annotated[
        list[float] | None, typer.Option(help="Wilderness ratio; may be repeated.  [default: steps of 0.1]")
    ] = None,
    similar: Annotated[Path | None, typer.Option(help="JSON list of lists of class names that look alike.")] = None,
    bootstrap: Bootstrap = 1000,
    seed: Seed = 0,
    json: JsonOut = None,
    latex: LatexOption = None,
    markdown: MarkdownOption = None,
    csv: CsvOption = None,
    report: ReportOption = None,
    images: Annotated[
        Path | None, typer.Option(help="Folder of the wild images; the page then shows the worst false detections.")
    ] = None,
    figures: FiguresOption = None,
    require: Annotated[
        list[str] | None,
        typer.Option(help="A bar such as 'awi<=0.05', 'fp_per_1000<=20' or 'map>=0.7'; exit code 1 if missed."),
    ] = None,
    allow_extra_images: ExtraImages = False,
    drop_other_classes: OtherClasses = False,
) -> None:
    """What the open world does to a detector: mAP, Wilderness Impact, kinds of errors, confusions, and a verdict."""
    from openset._io.json_files import write_json
    from openset._io.paths import is_folder
    from openset.detection.gate import check_bars, parse_bar
    from openset.detection.measure.evaluation import RECALLS, evaluate_data
    from openset.detection.measure.wilderness import VARIANTS
    from openset.detection.read.names import read_similar
    from openset.detection.tables import csv_lines, paper_tables, result_tables
    from openset.detection.verdict import TRAINING_RULE, verdict

    check_outputs(
        json, latex, markdown, csv, report, folder=figures,
        inputs=[known_gt, wild_gt, known_dt, wild_dt, dt, similar],
    )  # fmt: skip
    if images is not None and report is None:
        raise OpenSetError("--images is for the page: give --report as well.")
    if images is not None and not is_folder(images):
        raise OpenSetError(f"There is no folder {images} with images.")
    bars = [parse_bar(text) for text in require or []]
    variants = [name for one in variant or ["paper"] for name in (VARIANTS if one == "all" else [one])]
    with busy("reading"):
        data = load_data(
            known_gt,
            known_dt,
            wild_gt,
            wild_dt,
            dt,
            allow_extra_images=allow_extra_images,
            drop_other_classes=drop_other_classes,
        )
        groups = None if similar is None else read_similar(similar, data.known.class_names)
    with busy("evaluating"):
        result = evaluate_data(
            data, recalls=recall or RECALLS, variant=variants, rule=rule, iou=iou, ratios=ratio, similar=groups,
            bootstrap=bootstrap, seed=seed,
        )  # fmt: skip
    name = (known_dt or dt or known_gt).name.partition(".")[0]
    if report is not None:
        from openset.present.page import detection_page, write_page

        shown = [] if images is None else _false_detections(data, images)
        write_page(report, detection_page(name, result, gallery=shown))
    if json is not None:
        write_json(json, result.to_json())
    if latex or markdown or csv:
        write_tables(latex, markdown, csv, list(paper_tables(result)), csv_lines(name, result))
    say(
        f"{result.n_known} known images with {result.n_detections[0]} detections, "
        f"{result.n_wild} wild images with {result.n_detections[1]} detections",
        *(f"Note: {note}." for note in result.notes),
        "",
        *result_tables(result),
        f"OWOD: WI {_or_dash(result.owod.wi)} at recall {result.owod.recall:g}, A-OSE {result.owod.a_ose}, "
        f"U-Recall {_or_dash(result.owod.u_recall)} (defined differently from the figures above)",
        "",
        f"Verdict: {verdict(result)}",
        TRAINING_RULE,
    )
    drawn: list[Path] = []
    if figures is not None:
        from openset.present.plots import write_detection_figures

        drawn = write_detection_figures(figures, name, result)
    say_written(report, figures, drawn)
    missed = check_bars(result, bars)
    if missed:
        say(*missed)
        raise typer.Exit(1)


def _false_detections(data: "OpenSetData", images: Path) -> "list[FalseDetection]":
    """The highest scored detections on wild images, the best one of each image, with what they really lie on."""
    from openset.detection.gallery import find_inside, truths_of, worst_detections
    from openset.present.page import FalseDetection

    worst = data.wild_found.select(worst_detections(data.wild_found)[:24])
    made = []
    for image, category, box, score, truth in zip(
        worst.image, worst.category, worst.box.tolist(), worst.score.tolist(), truths_of(data.wild, worst), strict=True
    ):
        name, label = data.wild.file_names[image], data.known.class_names[category]
        made.append(FalseDetection(find_inside(images, name), tuple(box), label, score, truth, name))
    return made


def _or_dash(value: float | None) -> str:
    return "-" if value is None else f"{value:.4f}"
