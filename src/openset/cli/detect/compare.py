"""`openset detect compare`: two detectors on the same images."""

from pathlib import Path
from typing import Annotated

import typer

from openset.cli._outputs import CsvOption, LatexOption, MarkdownOption, check_outputs, write_tables
from openset.cli.detect._shared import (
    Bootstrap,
    ExtraImages,
    Iou,
    JsonOut,
    KnownGt,
    OtherClasses,
    Recall,
    Rule,
    Seed,
    WildGt,
    busy,
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

    from openset._io.json_files import write_json
    from openset.detection.comparison import Difference
    from openset.detection.comparison import compare as compare_detectors
    from openset.detection.measure.evaluation import RECALLS
    from openset.detection.tables import difference_table, for_terminal
    from openset.results.table import Table

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
    with busy("comparing"):
        first, second = (load_data(known_gt, one, wild_gt, other, both, **lenient) for one, other, both in inputs)
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
    lines = Table([field.name for field in fields(Difference)], list(map(astuple, rows)))
    write_tables(latex, markdown, csv, [made], lines)
    say(*noted(first, second), for_terminal(made))
