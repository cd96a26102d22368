"""`openset detect compare`: two detectors on the same images."""

from pathlib import Path
from typing import Annotated, Any

import typer

from openset.cli._console import JsonOption, progress, show_table
from openset.cli._outputs import CsvOption, LatexOption, MarkdownOption, check_outputs, write_tables
from openset.cli.detect._shared import (
    Bootstrap,
    Classes,
    ExtraImages,
    Iou,
    KnownGt,
    Matching,
    MaxDetections,
    OtherClasses,
    Recall,
    Seed,
    WildGt,
    load_data,
    noted,
    say,
)
from openset.errors import OpenSetError

EXAMPLE = "openset detect compare --known-gt known.json --wild-gt wild.json --dt a.json --dt b.json"


def command(
    known_gt: KnownGt,
    wild_gt: WildGt,
    known_dt: Annotated[list[Path] | None, typer.Option(help="Results on the known images; give it twice.")] = None,
    wild_dt: Annotated[list[Path] | None, typer.Option(help="Results on the wild images; give it twice.")] = None,
    dt: Annotated[list[Path] | None, typer.Option(help="Results on both kinds of image; give it twice.")] = None,
    recall: Recall = None,
    variant: Annotated[str, typer.Option(help="paper, macro or official.")] = "paper",
    matching: Matching = "voc",
    iou: Iou = 0.5,
    max_detections: MaxDetections = None,
    bootstrap: Bootstrap = 1000,
    seed: Seed = 0,
    json: JsonOption = None,
    latex: LatexOption = None,
    markdown: MarkdownOption = None,
    csv: CsvOption = None,
    classes: Classes = None,
    allow_extra_images: ExtraImages = False,
    drop_other_classes: OtherClasses = False,
) -> None:
    """Two detectors on the same images: differences with paired intervals, over the classes that both reach."""
    from dataclasses import asdict, astuple, fields

    from openset._io.json_files import write_json
    from openset.detection.comparison import Difference
    from openset.detection.comparison import compare as compare_detectors
    from openset.detection.measure.evaluation import RECALLS
    from openset.detection.tables import difference_table
    from openset.results.table import Table

    check_outputs(
        json, latex, markdown, csv, inputs=[known_gt, wild_gt, *(known_dt or ()), *(wild_dt or ()), *(dt or ())]
    )
    lenient: dict[str, Any] = {
        "allow_extra_images": allow_extra_images,
        "drop_other_classes": drop_other_classes,
        "classes": classes,
    }
    if dt and len(dt) == 2 and not known_dt and not wild_dt:
        inputs: list[tuple[Path | None, Path | None, Path | None]] = [(None, None, file) for file in dt]
    elif known_dt and wild_dt and len(known_dt) == len(wild_dt) == 2 and not dt:
        inputs = [(one, other, None) for one, other in zip(known_dt, wild_dt, strict=True)]
    else:
        raise OpenSetError("Give two detectors: --dt twice, or --known-dt twice and --wild-dt twice.")
    with progress("Comparing", 1):
        first, second = (load_data(known_gt, one, wild_gt, other, both, **lenient) for one, other, both in inputs)
        found = compare_detectors(
            first,
            second,
            recalls=recall or RECALLS,
            variant=variant,
            matching=matching,
            iou=iou,
            max_detections=max_detections,
            bootstrap=bootstrap,
            seed=seed,
        )
    names = [file.name.partition(".")[0] for one, _, both in inputs if (file := one or both)]
    if names[0] == names[1]:
        names = ["first", "second"]
    conclusion = found.conclusion(names)
    if json is not None:
        content = {
            "schema": 2,
            "names": names,
            "conclusion": conclusion,
            "better": found.better,
            "differences": [{**asdict(row), "better": row.better} for row in found.differences],
            "classes": [asdict(row) for row in found.classes],
        }
        write_json(json, content)
    made = difference_table(found.differences, names)
    lines = Table([field.name for field in fields(Difference)], [list(astuple(row)) for row in found.differences])
    write_tables(latex, markdown, csv, [made], lines)
    say(*noted(first, second))
    show_table(made)
    for row in found.classes:
        left_out = [
            *((f"only {names[0]} reaches", row.only_first), (f"only {names[1]} reaches", row.only_second)),
            ("neither reaches", row.neither),
        ]
        for wording, lost in left_out:
            if lost:
                say(f"Left out at recall {row.recall:g}, which {wording}: {', '.join(lost)}.")
    say(conclusion)
