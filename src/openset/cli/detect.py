"""`openset detect`: open-set evaluation of object detectors, from COCO files."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

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
from openset.errors import OpenSetError

if TYPE_CHECKING:
    from openset.detection.sets import OpenSetData
    from openset.report import FalseDetection

app = typer.Typer(
    help="Measure and operate object detectors that meet unknown objects.",
    no_args_is_help=True,
    rich_markup_mode="rich",
)

KnownGt = Annotated[
    Path, typer.Option(help="Ground truth of images with known objects: COCO json, VOC or YOLO folder.")
]
WildGt = Annotated[Path, typer.Option(help="Ground truth of wild images, which show no known object.")]
KnownDt = Annotated[Path | None, typer.Option(help="COCO results on the known images.")]
WildDt = Annotated[Path | None, typer.Option(help="COCO results on the wild images, in the known class ids.")]
BothDt = Annotated[Path | None, typer.Option(help="One results file for known and wild images, instead of two.")]
Rule = Annotated[str, typer.Option(help="Matching: voc, coco, or agnostic (as the paper's program).")]
Iou = Annotated[float, typer.Option(help="IoU from which a detection is correct.")]
Recall = Annotated[
    list[float] | None,
    typer.Option(help="Recall of the operating point; may be repeated.  [default: 0.1 0.3 0.5]"),
]
Bootstrap = Annotated[int, typer.Option(min=0, help="Replicates over images for 95 % intervals; 0 for none.")]
Seed = Annotated[int, typer.Option(min=0, help="Seed of the bootstrap.")]
ExtraImages = Annotated[bool, typer.Option("--allow-extra-images", help="Leave out results on other images.")]
OtherClasses = Annotated[bool, typer.Option("--drop-other-classes", help="Leave out results of other classes.")]
JsonOut = Annotated[Path | None, typer.Option("--json", help="Write everything as JSON.")]


@contextmanager
def _busy(what: str) -> Iterator[None]:
    """A spinner on a terminal, nothing elsewhere."""
    from rich.console import Console

    console = Console(stderr=True)
    if console.is_terminal:
        with console.status(what):
            yield
    else:
        yield


@contextmanager
def _progress() -> Iterator[Callable[[str, float], None]]:
    """A progress bar on a terminal, nothing elsewhere; call it with what is being done and how far it is."""
    from rich.console import Console
    from rich.progress import Progress

    console = Console(stderr=True)
    with Progress(console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task("", total=1.0)
        yield lambda what, share: bar.update(task, description=what, completed=share)


def _print(*things: Any) -> None:
    """Tables and sentences; wide enough for the tables when the output is not a terminal."""
    from rich.console import Console

    console = Console(width=None if Console().is_terminal else 160, highlight=False)
    for thing in things:
        if isinstance(thing, str):
            console.print(thing, markup=False, soft_wrap=True)
        else:
            console.print(thing)
            console.print()


def _load(
    known_gt: Path,
    known_dt: Path | None,
    wild_gt: Path | None,
    wild_dt: Path | None,
    dt: Path | None,
    *,
    allow_extra_images: bool,
    drop_other_classes: bool,
) -> "OpenSetData":
    from openset.detection.sets import load

    lenient = {"allow_extra_images": allow_extra_images, "drop_other_classes": drop_other_classes}
    if dt is not None and (known_dt is not None or wild_dt is not None):
        raise OpenSetError("Give either --dt, for both kinds of image, or --known-dt and --wild-dt.")
    if dt is not None:
        return load(known_gt, dt, wild_gt, **lenient)
    if known_dt is None or (wild_gt is not None and wild_dt is None):
        raise OpenSetError("Give --known-dt and --wild-dt, or one results file for both with --dt.")
    if wild_gt is None and wild_dt is not None:
        raise OpenSetError("--wild-dt needs --wild-gt, which says what the wild images are.")
    return load(known_gt, known_dt, wild_gt, wild_dt, **lenient)


@app.command(epilog="Example: openset detect evaluate --known-gt known.json --wild-gt wild.json --dt results.json")
def evaluate(
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
    from openset.detection.evaluation import RECALLS, evaluate_data
    from openset.detection.gate import check_bars, parse_bar
    from openset.detection.names import read_similar
    from openset.detection.tables import csv_lines, paper_tables, result_tables
    from openset.detection.verdict import TRAINING_RULE, verdict
    from openset.detection.wilderness import VARIANTS
    from openset.files import write_json

    check_outputs(
        json, latex, markdown, csv, report, folder=figures,
        inputs=[known_gt, wild_gt, known_dt, wild_dt, dt, similar],
    )  # fmt: skip
    if images is not None and report is None:
        raise OpenSetError("--images is for the page: give --report as well.")
    if images is not None and not images.is_dir():
        raise OpenSetError(f"There is no folder {images} with images.")
    bars = [parse_bar(text) for text in require or []]
    variants = [name for one in variant or ["paper"] for name in (VARIANTS if one == "all" else [one])]
    with _busy("reading"):
        data = _load(
            known_gt,
            known_dt,
            wild_gt,
            wild_dt,
            dt,
            allow_extra_images=allow_extra_images,
            drop_other_classes=drop_other_classes,
        )
        groups = None if similar is None else read_similar(similar, data.known.class_names)
    with _busy("evaluating"):
        result = evaluate_data(
            data, recalls=recall or RECALLS, variant=variants, rule=rule, iou=iou, ratios=ratio, similar=groups,
            bootstrap=bootstrap, seed=seed,
        )  # fmt: skip
    name = (known_dt or dt or known_gt).name.partition(".")[0]
    if report is not None:
        from openset.report import detection_page, write_page

        shown = [] if images is None else _false_detections(data, images)
        write_page(report, detection_page(name, result, gallery=shown))
    if json is not None:
        write_json(json, result.to_json())
    if latex or markdown or csv:
        write_tables(latex, markdown, csv, list(paper_tables(result)), csv_lines(name, result))
    _print(
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
        from openset.plots import write_detection_figures

        drawn = write_detection_figures(figures, name, result)
    say_written(report, figures, drawn)
    missed = check_bars(result, bars)
    if missed:
        _print(*missed)
        raise typer.Exit(1)


def _false_detections(data: "OpenSetData", images: Path) -> "list[FalseDetection]":
    """The highest scored detections on wild images, the best one of each image, with what they really lie on."""
    from openset.detection.gallery import find_inside, truths_of, worst_detections
    from openset.report import FalseDetection

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


@app.command(epilog="Example: openset detect compare --known-gt known.json --wild-gt wild.json --dt a.json --dt b.json")
def compare(
    known_gt: KnownGt,
    wild_gt: WildGt,
    known_dt: Annotated[list[Path] | None, typer.Option(help="Results on the known images; give it twice.")] = None,
    wild_dt: Annotated[list[Path] | None, typer.Option(help="Results on the wild images; give it twice.")] = None,
    dt: Annotated[list[Path] | None, typer.Option(help="Results on both kinds of image; give it twice.")] = None,
    recall: Recall = None,
    variant: Annotated[str, typer.Option(help="paper, macro or official.")] = "paper",
    rule: Rule = "voc",
    iou: Iou = 0.5,
    bootstrap: Bootstrap = 1000,
    seed: Seed = 0,
    json: JsonOut = None,
    latex: LatexOption = None,
    markdown: MarkdownOption = None,
    csv: CsvOption = None,
    allow_extra_images: ExtraImages = False,
    drop_other_classes: OtherClasses = False,
) -> None:
    """Two detectors on the same images: differences with paired intervals."""
    from dataclasses import asdict, astuple, fields

    from openset.detection.comparison import Difference
    from openset.detection.comparison import compare as compare_detectors
    from openset.detection.evaluation import RECALLS
    from openset.detection.tables import difference_table, for_terminal
    from openset.files import write_json
    from openset.tables import csv_text

    check_outputs(
        json, latex, markdown, csv, inputs=[known_gt, wild_gt, *(known_dt or ()), *(wild_dt or ()), *(dt or ())]
    )
    lenient = {"allow_extra_images": allow_extra_images, "drop_other_classes": drop_other_classes}
    if dt and len(dt) == 2 and not known_dt and not wild_dt:
        inputs: list[tuple[Path | None, Path | None, Path | None]] = [(None, None, file) for file in dt]
    elif known_dt and wild_dt and len(known_dt) == len(wild_dt) == 2 and not dt:
        inputs = [(one, other, None) for one, other in zip(known_dt, wild_dt, strict=True)]
    else:
        raise OpenSetError("Give two detectors: --dt twice, or --known-dt twice and --wild-dt twice.")
    with _busy("comparing"):
        first, second = (_load(known_gt, one, wild_gt, other, both, **lenient) for one, other, both in inputs)
        rows = compare_detectors(
            first,
            second,
            recalls=recall or RECALLS,
            variant=variant,
            rule=rule,
            iou=iou,
            bootstrap=bootstrap,
            seed=seed,
        )
    names = [file.name.partition(".")[0] for one, _, both in inputs if (file := one or both)]
    if names[0] == names[1]:
        names = ["first", "second"]
    if json is not None:
        write_json(json, {"schema": 1, "names": names, "differences": [asdict(row) for row in rows]})
    made = difference_table(rows, names)
    lines = csv_text([field.name for field in fields(Difference)], map(astuple, rows))
    write_tables(latex, markdown, csv, [made], lines)
    _print(for_terminal(made))


@app.command(
    epilog="Example: openset detect threshold --known-gt known.json --known-dt dt.json --rule recall=0.3 --out t.json"
)
def threshold(
    known_gt: KnownGt,
    known_dt: KnownDt = None,
    wild_gt: Annotated[Path | None, typer.Option(help="Ground truth of wild images.")] = None,
    wild_dt: WildDt = None,
    dt: BothDt = None,
    rule: Annotated[
        str | None,
        typer.Option(
            help="recall=R, precision=P, f_beta=B, wild_fp=N or wild_fp_per_class=N (N per 1,000 wild images)."
        ),
    ] = None,
    ratio: Annotated[float, typer.Option(help="Wilderness ratio at which precision and f_beta are judged.")] = 0.0,
    out: Annotated[Path | None, typer.Option(help="Freeze the thresholds in this JSON file.")] = None,
    apply: Annotated[
        Path | None, typer.Option(help="Apply frozen thresholds to these data instead of choosing.")
    ] = None,
    by_ratio: Annotated[
        bool, typer.Option("--by-ratio", help="With f_beta: the best threshold at every ratio (Table 4).")
    ] = False,
    class_name: Annotated[str | None, typer.Option("--class", help="Show this class only, with --by-ratio.")] = None,
    matching: Annotated[str, typer.Option(help="Matching: voc, coco or agnostic.")] = "voc",
    iou: Iou = 0.5,
    json: JsonOut = None,
    allow_extra_images: ExtraImages = False,
    drop_other_classes: OtherClasses = False,
) -> None:
    """Choose per-class thresholds on one data set, freeze them, and apply them to another."""
    from dataclasses import asdict

    from openset.detection.evaluation import matched
    from openset.detection.operating import Thresholds, best_f_beta, choose
    from openset.detection.operating import apply as apply_thresholds
    from openset.detection.split import find_classes
    from openset.detection.tables import f_beta_table, point_table
    from openset.files import write_json

    if (rule is None) == (apply is None):
        raise OpenSetError("Give --rule to choose thresholds, or --apply FILE to apply frozen ones.")
    if by_ratio and (rule is None or not rule.startswith("f_beta=")):
        raise OpenSetError("--by-ratio needs --rule f_beta=B.")
    check_outputs(out, json, inputs=[known_gt, known_dt, wild_gt, wild_dt, dt, apply])
    data = _load(
        known_gt,
        known_dt,
        wild_gt,
        wild_dt,
        dt,
        allow_extra_images=allow_extra_images,
        drop_other_classes=drop_other_classes,
    )
    _, ranked = matched(data, rule=matching, iou=iou)
    if by_ratio and rule is not None:
        names = [data.known.class_names[i] for i in find_classes(data.known, [class_name])] if class_name else None
        table = best_f_beta(data, ranked, beta=_beta(rule))
        table = tuple(row for row in table if names is None or row.class_name in names)
        if json is not None:
            write_json(json, {"schema": 1, "f_beta": [asdict(row) for row in table]})
        _print(f_beta_table(table))
        return
    chosen = Thresholds.read(apply) if apply is not None else choose(data, ranked, str(rule), ratio=ratio)
    rows, total = apply_thresholds(data, ranked, chosen.for_classes(data.known.class_names, str(known_gt)))
    if out is not None:
        chosen.write(out)
    if json is not None:
        write_json(
            json,
            {
                "schema": 1,
                "rule": chosen.rule,
                "classes": {k: asdict(v) for k, v in rows.items()},
                "all": asdict(total),
            },
        )
    _print(f"Rule: {chosen.rule}" + (f", frozen in {apply}" if apply else ""), "", point_table(rows, total))
    if out is not None:
        _print(f"Wrote {out}")


def _beta(rule: str) -> float:
    try:
        return float(rule.partition("=")[2])
    except ValueError:
        raise OpenSetError(f"The rule {rule!r} needs a number, as in 'f_beta=1'.") from None


@app.command(epilog="Example: openset detect split test.json --hide bird,cat,dog --out split --dt results.json")
def split(
    gt: Annotated[Path, typer.Argument(help="Ground truth: COCO json, VOC or YOLO folder.")],
    out: Annotated[Path, typer.Option(help="Folder for known.json and wild.json.")],
    known: Annotated[
        str | None, typer.Option(help="Known classes, separated by commas, or a file with one per line.")
    ] = None,
    hide: Annotated[str | None, typer.Option(help="Classes to hide, instead of naming the known ones.")] = None,
    dt: Annotated[Path | None, typer.Option(help="COCO results to divide in the same way.")] = None,
    drop_mixed: Annotated[
        bool, typer.Option("--drop-mixed", help="Leave out images with known and hidden objects.")
    ] = False,
    json: JsonOut = None,
) -> None:
    """Divide an annotated data set into known images and wild images, and say what was left out."""
    from openset.detection.coco import read_ground_truth
    from openset.detection.split import find_classes, read_names, split_classes, write_split
    from openset.files import write_json

    written = [out / f"{name}.json" for name in ("known", "wild", *(("known_dt", "wild_dt") if dt else ()))]
    names_files = [Path(text) for text in (known, hide) if text]
    check_outputs(*written, json, inputs=[gt, dt, *names_files])
    truth = read_ground_truth(gt)
    if (known is None) == (hide is None):
        raise OpenSetError(f"Give --known or --hide; the classes are: {', '.join(truth.class_names)}.")
    if known is not None:
        names = read_names(known)
    else:
        hidden = set(find_classes(truth, read_names(str(hide))))
        names = [name for i, name in enumerate(truth.class_names) if i not in hidden]
    parts = split_classes(truth, names, drop_mixed=drop_mixed)
    said = write_split(parts, truth, dt, out)
    if json is not None:
        kinds = {
            kind: {"images": part.n_images, "objects": len(part.image), "classes": list(part.class_names)}
            for kind, part in (("known", parts.known), ("wild", parts.wild))
        }
        counts = {name: getattr(parts, name) for name in ("n_empty", "n_mixed", "mixed_dropped", "hidden_on_known")}
        write_json(json, {"schema": 1, **kinds, **counts, "files": [str(file) for file in written]})
    _print(*said)


@app.command(
    epilog="Example: openset detect gallery --known-gt known.json --wild-gt w.json --wild-dt dt.json --images D --out O"
)
def gallery(
    known_gt: KnownGt,
    wild_gt: WildGt,
    wild_dt: Annotated[Path, typer.Option(help="COCO results; those on other than wild images are passed over.")],
    images: Annotated[Path, typer.Option(help="Folder with the wild images.")],
    out: Annotated[Path, typer.Option(help="Folder for the pictures.")],
    n: Annotated[int, typer.Option("--n", "-n", help="How many to draw.")] = 16,
    thresholds: Annotated[Path | None, typer.Option(help="Draw only what these frozen thresholds accept.")] = None,
    json: JsonOut = None,
) -> None:
    """Draw the worst false detections on wild images: red is what the detector claims, green what is really there."""
    from openset.detection.gallery import draw_gallery
    from openset.detection.operating import Thresholds
    from openset.detection.sets import load_wild
    from openset.files import write_json

    check_outputs(json, inputs=[known_gt, wild_gt, wild_dt, thresholds])
    known, wild, found = load_wild(known_gt, wild_gt, wild_dt)
    bars = None if thresholds is None else Thresholds.read(thresholds).for_classes(known.class_names, str(known_gt))
    with _busy("drawing"):
        drawn = draw_gallery(wild, found, known.class_names, images, out, n=n, thresholds=bars)
    if json is not None:
        files = [str(file) for file in drawn.files]
        write_json(json, {"schema": 1, "sheet": str(drawn.sheet), "files": files, "n_missing": drawn.n_missing})
    if drawn.n_missing:
        _print(f"{drawn.n_missing} images are not in {images}; their detections were passed over.")
    _print(f"Drew {len(drawn.files)} false detections. Wrote {drawn.sheet}")


@app.command(epilog="Example: openset detect demo --out detect-demo")
def demo(
    out: Annotated[Path, typer.Option(help="Folder for scenes, detector, results and pictures.")] = Path("detect-demo"),
    steps: Annotated[int, typer.Option(help="Training steps; fewer are faster and worse.", min=1)] = 1500,
    seed: Annotated[int, typer.Option(min=0, help="Seed of scenes, training and bootstrap.")] = 0,
) -> None:
    """Train a small detector on some shapes (about two minutes on 2 cores) and see what it calls the others."""
    from openset.detection.demo import run_demo
    from openset.detection.scenes import KNOWN, UNKNOWN
    from openset.detection.tables import result_tables
    from openset.detection.verdict import verdict

    with _progress() as report:
        done = run_demo(out, steps=steps, seed=seed, report=report)
    _print(
        f"Learnt {', '.join(KNOWN)} from {done.n_train} scenes in {done.seconds_training:.0f} s; "
        f"never shown: {', '.join(UNKNOWN)}.",
        f"Tested on {done.result.n_known} scenes of known shapes and {done.result.n_wild} wild scenes of unknown ones.",
        "",
        *result_tables(done.result),
        f"Verdict: {verdict(done.result)}",
        *([f"Look at {done.gallery.sheet}: the unknown shapes it is surest about."] if done.gallery else []),
        *([f"{len(done.figures)} figures are in {done.figures[0].parent}."] if done.figures else []),
        f"Everything is in {out}. Try: openset detect evaluate --known-gt {out}/known.json "
        f"--known-dt {out}/known_dt.json --wild-gt {out}/wild.json --wild-dt {out}/wild_dt.json "
        f"--images {out}/images --report {out}/report.html",
    )


@app.command(
    epilog="Example: openset detect predict --model torchvision:fasterrcnn_resnet50_fpn --weights mine.safetensors "
    "--known-gt known.json --gt wild.json --images DIR --out wild_dt.json"
)
def predict(
    model: Annotated[str, typer.Option(help="torchvision:NAME, transformers:FOLDER or yolo:FILE.npz.")],
    known_gt: KnownGt,
    images: Annotated[Path, typer.Option(help="Folder with images.")],
    out: Annotated[Path, typer.Option(help="COCO results to write.")],
    gt: Annotated[Path | None, typer.Option(help="Only the images of this COCO file, called by its ids.")] = None,
    weights: Annotated[
        str | None, typer.Option(help="torchvision: a file, or published weights such as DEFAULT.")
    ] = None,
    min_score: Annotated[float, typer.Option(help="Leave out detections below this score.")] = 0.05,
    passes: Annotated[int, typer.Option(help="More than 1: dropout sampling with that many passes (paper: 30).")] = 1,
    batch: Annotated[int, typer.Option(help="Images at a time.", min=1)] = 4,
    device: Annotated[str, typer.Option(help="cpu or cuda.")] = "cpu",
    json: Annotated[Path | None, typer.Option("--json", help="Write what was done as JSON.")] = None,
) -> None:
    """Run a detector over images and write COCO results, with the background score where the model has one."""
    from openset.detection.coco import read_ground_truth
    from openset.detection.detectors import Settings
    from openset.detection.predict import make_detector
    from openset.detection.predict import predict as run
    from openset.files import write_json

    model_files = [Path(text) for text in (weights, model.partition(":")[2]) if text]
    check_outputs(out, json, inputs=[known_gt, gt, *model_files])
    known = read_ground_truth(known_gt)
    with _progress() as report:
        report("loading", 0.0)
        detector = make_detector(model, known, Settings(weights, min_score, passes, device))
        n_images, n_boxes = run(detector, known, images, out, gt=gt, batch=batch, report=report)
    if json is not None:
        write_json(json, {"schema": 1, "out": str(out), "n_images": n_images, "n_detections": n_boxes})
    _print(f"{n_boxes} detections on {n_images} images. Wrote {out}")
