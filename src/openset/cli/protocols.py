"""`openset protocols`: which classes are known, negative and unknown: list, show, export, make."""

from pathlib import Path
from typing import Annotated, Any

import typer

from openset.cli._console import JsonOption, SkipCorruptOption, console, say, table
from openset.cli._outputs import check_outputs

app = typer.Typer(
    help="Known, negative and unknown classes: list, show and export the bundled protocols or your own.",
    no_args_is_help=True,
    rich_markup_mode="rich",
)

DataRoot = Annotated[
    Path | None,
    typer.Option(help="Folder of local data sets, such as DIR/cifar10/train.parquet. Default: OPENSET_DATA."),
]
Name = Annotated[
    str,
    typer.Argument(metavar="NAME", help="A protocol, a YAML file, or a folder with known/ and unknown/ inside."),
]
Split = Annotated[int, typer.Option(help="Which of the protocol's splits.")]
Lists = Annotated[Path | None, typer.Option(help="Take the samples from the CSV lists in this folder instead.")]


@app.command("list")
def list_command(data_root: DataRoot = None, json: JsonOption = None) -> None:
    """The bundled protocols, and whether their data is on this machine.

    Example: openset protocols list --data-root ~/data
    """
    from openset.protocols import overview

    rows = overview.rows(data_root)
    _write_json(json, {"protocols": rows})
    made = table("protocol", "known", "negative", "unknown", "splits", "data", "here")
    made.padding = (0, 1, 0, 0)  # it fits into 80 columns
    for column in made.columns:
        column.no_wrap = column.header != "here"
        column.justify = "left" if column.header in {"protocol", "data", "here"} else "right"
    for row in rows:
        numbers = [str(row[key]) if row[key] else "-" for key in ("known", "negative", "unknown", "splits")]
        made.add_row(row["name"], *numbers, ", ".join(row["data"]), _here(row))
    console().print(made)
    say("Your own: openset protocols show FILE.yaml, or a folder with known/ and unknown/ inside.")


@app.command()
def show(
    name: Name,
    split: Split = 0,
    data_root: DataRoot = None,
    lists: Lists = None,
    figure: Annotated[Path | None, typer.Option(help="Write a contact sheet of samples, such as sheet.png.")] = None,
    skip_corrupt: SkipCorruptOption = False,
    json: JsonOption = None,
) -> None:
    """The classes, numbers of samples and fingerprint of one protocol.

    Example: openset protocols show cifar10 --split 2 --figure sheet.png
    """
    from openset.protocols import PROTOCOLS, find, overview

    check_outputs(figure, json, inputs=_read_by(name, lists))
    content: dict[str, Any]
    shipped = name in PROTOCOLS
    missing = overview.missing_data(PROTOCOLS[name], data_root) if shipped and lists is None else []
    if missing and figure is None:  # showing a list is no reason to download anything
        content = {**overview.outline(PROTOCOLS[name], split, data_root), "missing": missing}
    else:
        protocol = _load(name, split, data_root, lists, skip_corrupt)
        content = {
            **overview.outline_of(protocol, find(name) if _has_definition(name) else None),
            "missing": [],
        }
        if figure is not None:
            from openset.protocols.sheet import contact_sheet

            contact_sheet(protocol, figure)
    _write_json(json, content)
    _print(content)
    if figure is not None:
        say(f"Contact sheet: {figure}")


@app.command()
def export(
    name: Name,
    out: Annotated[Path, typer.Option(help="Folder for train.csv, val.csv, test.csv and protocol.json.")],
    split: Split = 0,
    data_root: DataRoot = None,
    lists: Lists = None,
    images: Annotated[bool, typer.Option("--images", help="Write images that are not files as PNG, too.")] = False,
    skip_corrupt: SkipCorruptOption = False,
    json: JsonOption = None,
) -> None:
    """CSV lists `path,label` for other programs: labels from 0 up, -1 negative, -2 unknown.

    Example: openset protocols export imagenet-p1 --data-root ~/data --out lists/p1
    """
    from openset.protocols.export import export as write_lists

    check_outputs(json, *(out / f"{part}.csv" for part in ("train", "val", "test")), inputs=_read_by(name, lists))
    protocol = _load(name, split, data_root, lists, skip_corrupt)
    content = write_lists(protocol, out, images=images)
    _write_json(json, content)
    for part, counts in content["samples"].items():
        known, negative, unknown = counts.values()
        say(f"{out / f'{part}.csv'}: {known} known, {negative} negative, {unknown} unknown")
    if content["paths"] == "files":
        say(f"Paths are relative to {content['root']}; fingerprint {protocol.fingerprint}.")
    else:
        say(f"Samples are named data set/part/row; add --images for files. Fingerprint {protocol.fingerprint}.")
    for note in protocol.notes:
        say(f"Note: {note}")


@app.command()
def make(
    out: Annotated[Path, typer.Argument(metavar="OUT", help="The protocol to write, .yaml or .json.")],
    data: Annotated[
        str, typer.Option(help="Data set of the classes: one of openset's, or a path that the protocol will name.")
    ],
    hierarchy: Annotated[
        Path, typer.Option(help="CSV with columns class,parent[,name], or WordNet's folder (for ImageNet ids).")
    ],
    known: Annotated[list[str] | None, typer.Option(help="Parent whose classes are known; may be repeated.")] = None,
    negative: Annotated[list[str] | None, typer.Option(help="Parent whose classes are negative.")] = None,
    unknown: Annotated[list[str] | None, typer.Option(help="Parent whose classes are unknown.")] = None,
    divide: Annotated[
        list[str] | None,
        typer.Option(
            help="Parent whose classes are shared out: 'hunting dog=known,negative', 'food=known:2,unknown:1'."
        ),
    ] = None,
    classes: Annotated[
        Path | None,
        typer.Option(
            help="Classes of the data, one per line; else the data set's own, else the leaves of the hierarchy."
        ),
    ] = None,
    trained: Annotated[
        Path | None, typer.Option(help="Classes that have training images, one per line: others can only be unknown.")
    ] = None,
    title: Annotated[str, typer.Option(help="What the protocol is called in tables.")] = "",
    json: JsonOption = None,
) -> None:
    """Known, negative and unknown classes from a hierarchy and named parents, as the ImageNet protocols were made.

    A class takes the role of its nearest named ancestor; classes below none of them take no part.

    Example: openset protocols make p1.yaml --data imagenet --hierarchy /usr/share/wordnet --known dog --negative feline
    --unknown 'motor vehicle'
    """
    from openset._io.text_files import text_lines
    from openset.protocols.from_hierarchy import make_protocol, parse_division, write_protocol
    from openset.protocols.hierarchy import read_hierarchy

    inputs = [file for file in (hierarchy, classes, trained) if file is not None]
    check_outputs(out, json, inputs=inputs)
    divisions = [parse_division(text) for text in divide or ()]
    tree = read_hierarchy(hierarchy)
    lists = {file: [line.strip() for line in text_lines(file) if line.strip()] for file in (classes, trained) if file}
    made = make_protocol(
        lists[classes] if classes else _classes_of(data) or tree.leaves,
        tree,
        parents={"known": known or (), "negative": negative or (), "unknown": unknown or ()},
        divisions=divisions,
        trained=set(lists[trained]) if trained else None,
    )
    write_protocol(out, made.content(data, title or out.stem))
    _write_json(json, made.content(data, title or out.stem))
    counts = ", ".join(f"{len(names)} {role}" for role, names in made.classes.items())
    say(f"{out}: {counts} classes.")
    for note in made.notes:
        say(f"Note: {note}")
    say(f"See it with: openset protocols show {out}")


def _classes_of(data: str) -> tuple[str, ...]:
    from openset.data.catalog import CATALOG

    return CATALOG[data].class_names if data in CATALOG else ()


def _read_by(name: str, lists: Path | None) -> list[Path]:
    """The files that say what is in a protocol: its definition, or its lists."""
    from openset._io.paths import is_folder

    folders = [folder for folder in (Path(name), lists) if folder is not None and is_folder(folder)]
    return [Path(name), *(file for folder in folders for file in folder.glob("*.csv"))]


def _has_definition(name: str) -> bool:
    """A folder of CSV lists is a protocol without one, and so is a stand-in."""
    from openset._io.paths import is_folder
    from openset.protocols import PROTOCOLS, parse_stand_in
    from openset.protocols.from_lists import find_lists

    if parse_stand_in(name) is not None:
        return False
    return name in PROTOCOLS or not (is_folder(name) and find_lists(Path(name)))


def _load(name: str, split: int, data_root: Path | None, lists: Path | None, skip_corrupt: bool) -> Any:
    import warnings

    from openset.errors import OpenSetWarning
    from openset.protocols import load

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", OpenSetWarning)  # the notes say the same
        on_corrupt = "skip" if skip_corrupt else "stop"
        return load(name, split=split, data_root=data_root, lists=lists, on_corrupt=on_corrupt)


def _write_json(path: Path | None, content: dict[str, Any]) -> None:
    from openset._io.json_files import write_json

    if path is not None:
        write_json(path, {"schema": 1, **content})


def _here(row: dict[str, Any]) -> str:
    """Yes or no; where only some of the data is missing, which."""
    if row["here"]:
        return "[green]yes[/green]"
    return "no" if row["missing"] == row["data"] else f"no: {', '.join(row['missing'])}"


def _print(content: dict[str, Any]) -> None:
    from rich.markup import escape

    out = console()
    of = f", split {content['split']} of {content['splits']}" if content["splits"] > 1 else ""
    title = f": {escape(content['title'])}" if content["title"] != content["name"] else ""
    out.print(f"[bold]{escape(content['name'])}[/]{of}{title}")
    if content["paper"]:
        out.print(f"Paper: {escape(content['paper'])}")
    grouped = {name: group for group, names in content["groups"].items() for name in names}
    for role, names in content["classes"].items():
        if names:
            out.print(f"\n[bold]{role}[/] ({len(names)})")
            by_group: dict[str, list[str]] = {}
            for name in names:
                by_group.setdefault(grouped.get(name, "") if role != "known" else "", []).append(name)
            for group, members in by_group.items():
                words = ", ".join(content["titles"].get(name, name) for name in members)
                out.print(f"  [italic]{escape(group)}[/]: {escape(words)}" if group else f"  {escape(words)}")
    if content["superclasses"]:
        made = table("superclass", "known", "negative", "unknown")
        for name, counts in content["superclasses"].items():
            made.add_row(name, *(str(count) if count else "-" for count in counts.values()))
        out.print(made)
    if content["samples"]:
        made = table("samples", "known", "negative", "unknown")
        for part, counts in content["samples"].items():
            made.add_row(part, *(f"{count:,}" if count else "-" for count in counts.values()))
        out.print(made)
    if content["missing"]:
        published = " The numbers of samples are those of the paper." if content["samples"] else ""
        out.print(f"Data not on this machine: {', '.join(content['missing'])}.{published}")
        out.print(f"Fingerprint of the class lists: {content['lists_fingerprint']}")
    else:
        out.print(f"Fingerprint: {content['fingerprint']}")
    for note in content["notes"]:
        out.print(f"Note: {escape(note)}")
