"""`openset detect evaluate`: what the open world does to a detector, and whether it may be released."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from openset.cli._console import JsonOption, progress, show_table
from openset.cli._gate import pass_gate
from openset.cli._numbers import steps
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
    Classes,
    ExtraImages,
    Force,
    Iou,
    KnownDt,
    KnownGt,
    Matching,
    MaxDetections,
    OtherClasses,
    Recall,
    Seed,
    WildDt,
    WildGt,
    load_data,
    say,
)
from openset.errors import OpenSetError

if TYPE_CHECKING:
    from openset.detection.measure.result import OpenSetEvaluation
    from openset.detection.measure.sets import OpenSetData
    from openset.present.page import FalseDetection
    from openset.results.table import Table

EXAMPLE = "openset detect evaluate --known-gt known.json --wild-gt wild.json --dt results.json"


def command(
    known_gt: KnownGt,
    wild_gt: WildGt,
    known_dt: KnownDt = None,
    wild_dt: WildDt = None,
    dt: BothDt = None,
    recall: Recall = None,
    thresholds: Annotated[
        Path | None, typer.Option(help="Measure at these frozen thresholds, instead of at recalls.")
    ] = None,
    force: Force = False,
    variant: Annotated[
        list[str] | None,
        typer.Option(help="paper, macro, official or all; may be repeated.  [default: paper]"),
    ] = None,
    matching: Matching = "voc",
    iou: Iou = 0.5,
    max_detections: MaxDetections = None,
    ratios: Annotated[
        str | None, typer.Option(help="Wilderness ratios: 0.5,1,2 or 0.1:4.6:0.1.  [default: steps of 0.1]")
    ] = None,
    similar: Annotated[Path | None, typer.Option(help="JSON list of lists of class names that look alike.")] = None,
    bootstrap: Bootstrap = 1000,
    seed: Seed = 0,
    name: Annotated[str | None, typer.Option(help="What the detector is called.  [default: its results file]")] = None,
    json: JsonOption = None,
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
        typer.Option(
            help="A bar such as 'recall>=0.5', 'fp_per_1000.high<=20' (the end of the interval), "
            "'precision_open>=0.8', 'awi(variant=macro)<=0.05' or 'unreached<=2'; exit code 1 if one is missed."
        ),
    ] = None,
    allow_unreached: Annotated[
        bool,
        typer.Option("--allow-unreached", help="Classes that are lost or not tested do not fail the gate."),
    ] = False,
    allow_silent: Annotated[
        bool, typer.Option("--allow-silent", help="Wild images without any detection do not fail the gate.")
    ] = False,
    classes: Classes = None,
    allow_extra_images: ExtraImages = False,
    drop_other_classes: OtherClasses = False,
    fully_annotated: Annotated[
        bool, typer.Option("--fully-annotated", help="Wild images without annotations show no object.")
    ] = False,
    inclusive_pixels: Annotated[
        bool, typer.Option("--inclusive-pixels", help="OWOD's metrics with the last pixel inside the box, as there.")
    ] = False,
) -> None:
    """What the open world does to a detector: mAP, Wilderness Impact, kinds of errors, confusions, and a verdict."""
    from openset._io.json_files import write_json
    from openset._io.paths import is_folder
    from openset.detection.gate import (
        check_complete,
        check_detection_bars,
        gate_remarks,
        parse_detection_bar,
    )
    from openset.detection.measure.evaluation import RECALLS, evaluate_data
    from openset.detection.measure.wilderness import VARIANTS
    from openset.detection.read.names import read_similar
    from openset.detection.tables import class_table, csv_lines, result_tables
    from openset.detection.thresholds import Thresholds, frozen_for, with_frozen_notes
    from openset.detection.verdict import verdict

    check_outputs(
        json, latex, markdown, csv, report, folder=figures,
        inputs=[known_gt, wild_gt, known_dt, wild_dt, dt, similar, thresholds, classes],
    )  # fmt: skip
    if images is not None and report is None:
        raise OpenSetError("--images is for the page: give --report as well.")
    if images is not None and not is_folder(images):
        raise OpenSetError(f"There is no folder {images} with images.")
    if recall and thresholds is not None:
        raise OpenSetError("Give --recall or --thresholds: frozen thresholds have the recall that they have.")
    bars = [parse_detection_bar(text) for text in require or []]
    check_complete(bars, frozen=thresholds is not None)
    variants = [one for word in variant or ["paper"] for one in (VARIANTS if word == "all" else [word])]
    chosen_ratios = None if ratios is None else steps(ratios, "--ratios")
    frozen = None if thresholds is None else Thresholds.read(thresholds)
    with progress("Evaluating", 2) as advance:
        data = load_data(
            known_gt,
            known_dt,
            wild_gt,
            wild_dt,
            dt,
            allow_extra_images=allow_extra_images,
            drop_other_classes=drop_other_classes,
            fully_annotated=fully_annotated,
            classes=classes,
        )
        advance(1)
        result = evaluate_data(
            data,
            recalls=recall or RECALLS,
            thresholds=None
            if frozen is None
            else frozen_for(data, frozen, matching=matching, iou=iou, max_detections=max_detections, force=force),
            variant=variants,
            matching=matching,
            iou=iou,
            ratios=chosen_ratios,
            similar=None if similar is None else read_similar(similar, data.known.class_names),
            max_detections=max_detections,
            bootstrap=bootstrap,
            seed=seed,
            inclusive_pixels=inclusive_pixels,
            details=report is not None or json is not None,
        )
        advance(1)
    if frozen is not None and thresholds is not None:
        result = with_frozen_notes(result, frozen, thresholds)
    gate = check_detection_bars(result, bars, allow_unreached=allow_unreached, allow_silent=allow_silent)
    called = name or (known_dt or dt or known_gt).name.partition(".")[0]
    judged = verdict(result)
    if report is not None:
        from openset.present.page import detection_page, write_page

        shown = worst_false_detections(data, images)
        write_page(report, detection_page(called, result, gallery=shown, gate=gate))
    if json is not None:
        content = {
            "verdict": list(judged.sentences),
            "gate": [one.as_json() for one in gate],
        }
        write_json(json, {"name": called, **result.to_json(), **content})
    tables = [*result_tables(result), *([class_table(result.operating[0])] if frozen else [])]
    if latex or markdown or csv:
        write_tables(latex, markdown, csv, tables, csv_lines(called, result))
    _show(result, tables, str(judged))
    drawn: list[Path] = []
    if figures is not None:
        from openset.present.plots import write_detection_figures

        drawn = write_detection_figures(figures, called, result)
    say_written(report, figures, drawn)
    pass_gate(gate, gate_remarks(result, bars))


def _show(result: "OpenSetEvaluation", tables: "Sequence[Table]", judged: str) -> None:
    from openset.detection.verdict import TRAINING_RULE

    say(
        f"{result.n_known} known images with {result.n_detections[0]} detections, "
        f"{result.n_wild} wild images with {result.n_detections[1]} detections",
        *(f"Note: {note}." for note in result.notes),
        "",
    )
    for made in tables:
        show_table(made)
    owod = result.owod
    say(
        f"OWOD: WI {_or_dash(owod.wi)} at recall {owod.recall:g}, A-OSE {_or_dash(owod.a_ose)}, "
        f"U-Recall {_or_dash(owod.u_recall)} on {owod.n_unknown} unknown objects of "
        f"{owod.n_annotated} annotated wild images (defined differently from the metrics above)",
        "",
        f"Verdict: {judged}",
        TRAINING_RULE,
    )


def worst_false_detections(data: "OpenSetData", images: Path | None) -> "list[FalseDetection]":
    """The highest scored detections on wild images, the best one of each image, with what they really lie on."""
    from openset.detection.gallery import find_inside, truths_of, worst_detections
    from openset.present.page import FalseDetection

    worst = data.wild_found.select(worst_detections(data.wild_found)[:24])
    made = []
    for image, category, box, score, truth in zip(
        worst.image, worst.category, worst.box.tolist(), worst.score.tolist(), truths_of(data.wild, worst), strict=True
    ):
        name = data.wild.file_names[image] or str(data.wild.image_ids[image])
        label = data.known.class_names[category]
        file = None if images is None else find_inside(images, name)
        made.append(FalseDetection(file, tuple(box), label, score, truth, name))
    if images is not None and made and all(one.image is None for one in made):
        raise OpenSetError(
            f"None of the {len(made)} images of the worst false detections is in {images}, {made[0].name} for example: "
            "give the folder of the wild images."
        )
    return made


def _or_dash(value: float | None) -> str:
    return "-" if value is None else str(value) if isinstance(value, int) else f"{value:.4f}"
