"""`openset detect threshold`: thresholds chosen, frozen and applied."""

from pathlib import Path
from typing import Annotated

import typer

from openset.cli._console import JsonOption, show_table
from openset.cli._outputs import check_outputs
from openset.cli.detect._shared import (
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
    WildDt,
    load_data,
    noted,
    say,
)
from openset.errors import OpenSetError

EXAMPLE = "openset detect threshold --known-gt known.json --known-dt dt.json --rule recall=0.3 --out t.json"


def command(
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
    force: Force = False,
    matching: Matching = "voc",
    iou: Iou = 0.5,
    max_detections: MaxDetections = None,
    json: JsonOption = None,
    classes: Classes = None,
    allow_extra_images: ExtraImages = False,
    drop_other_classes: OtherClasses = False,
) -> None:
    """Choose per-class thresholds on one data set, freeze them, and apply them to another."""
    from dataclasses import asdict

    from openset._io.json_files import write_json
    from openset.detection.choosing import best_f_beta, choose, parse_rule
    from openset.detection.measure.operating import operate
    from openset.detection.measure.ranking import matched
    from openset.detection.measure.sets import limited
    from openset.detection.split import find_classes
    from openset.detection.tables import class_table, f_beta_table
    from openset.detection.thresholds import Thresholds, frozen_for

    if (rule is None) == (apply is None):
        raise OpenSetError("Give --rule to choose thresholds, or --apply FILE to apply frozen ones.")
    name, beta = (None, 0.0) if rule is None else parse_rule(rule)
    if by_ratio and name != "f_beta":
        raise OpenSetError("--by-ratio needs --rule f_beta=B.")
    if by_ratio and (out is not None or ratio):
        raise OpenSetError("--by-ratio shows a table of many thresholds: leave out --out and --ratio, or --by-ratio.")
    if class_name is not None and not by_ratio:
        raise OpenSetError("--class is for the table of --by-ratio: give both or leave it out.")
    if ratio and apply is not None:
        raise OpenSetError("--ratio is for choosing thresholds; frozen ones do not depend on it: leave it out.")
    check_outputs(out, json, inputs=[known_gt, known_dt, wild_gt, wild_dt, dt, apply, classes])
    data = load_data(
        known_gt,
        known_dt,
        wild_gt,
        wild_dt,
        dt,
        allow_extra_images=allow_extra_images,
        drop_other_classes=drop_other_classes,
        classes=classes,
    )
    data = limited(data, max_detections)
    _, ranked = matched(data, matching=matching, iou=iou)
    if by_ratio:
        names = [data.known.class_names[i] for i in find_classes(data.known, [class_name])] if class_name else None
        table = best_f_beta(data, ranked, beta=beta)
        table = tuple(row for row in table if names is None or row.class_name in names)
        if json is not None:
            write_json(json, {"schema": 2, "f_beta": [asdict(row) for row in table]})
        say(*noted(data))
        show_table(f_beta_table(table))
        return
    if apply is not None:
        chosen = Thresholds.read(apply)
    else:
        chosen = choose(data, ranked, str(rule), ratio=ratio, matching=matching, iou=iou, max_detections=max_detections)
    frozen = frozen_for(data, chosen, matching=matching, iou=iou, max_detections=max_detections, force=force)
    point = operate(data, ranked, frozen)
    if out is not None:
        chosen.write(out)
    if json is not None:
        write_json(json, {"schema": 2, "rule": chosen.rule, **point.as_json()})
    say(*noted(data), f"Rule: {chosen.rule}" + (f", frozen in {apply}" if apply else ""))
    show_table(class_table(point))
    if out is not None:
        say(f"Wrote {out}")
