"""`openset protocols`: which classes are known, negative and unknown; on which data; and lists for other programs."""

from pathlib import Path
from typing import Annotated, Any

import typer

app = typer.Typer(
    help="Known, negative and unknown classes: list, show and export the shipped protocols or your own.",
    no_args_is_help=True,
    rich_markup_mode="rich",
)

DataRoot = Annotated[
    Path | None,
    typer.Option(help="Folder of local data sets, such as DIR/cifar10/train.parquet. Default: OPENSET_DATA."),
]
Name = Annotated[
    str,
    typer.Argument(
        metavar="NAME", help="A protocol, a YAML file, or a folder with known/ and unknown/ inside."
    ),
]
Split = Annotated[int, typer.Option(help="Which of the protocol's splits.")]
Lists = Annotated[
    Path | None, typer.Option(help="Take the samples from the CSV lists in this folder instead.")
]
SkipCorrupt = Annotated[bool, typer.Option("--skip-corrupt", help="Leave out images that cannot be decoded.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON for machines.")]


@app.command("list")
def list_command(data_root: DataRoot = None, as_json: AsJson = False) -> None:
    """The shipped protocols, and whether their data is on this machine.

    Example: openset protocols list --data-root ~/data
    """
    from openset.protocols import overview

    table = overview.rows(data_root)
    if as_json:
        _print_json(table)
        return
    from rich.console import Console

    grid = _grid(
        "protocol",
        "known",
        "negative",
        "unknown",
        "splits",
        "data",
        "here",
        left={"protocol", "data", "here"},
    )
    for row in table:
        partly = [name for name in row["missing"] if name not in row["data"]] or row["missing"] != row["data"]
        here = "[green]yes[/]" if row["here"] else f"no: {', '.join(row['missing'])}" if partly else "no"
        numbers = [str(row[key]) if row[key] else "-" for key in ("known", "negative", "unknown", "splits")]
        grid.add_row(row["name"], *numbers, ", ".join(row["data"]), here)
    Console().print(grid)
    typer.echo("Your own: openset protocols show FILE.yaml, or a folder with known/ and unknown/ inside.")


@app.command()
def show(
    name: Name,
    split: Split = 0,
    data_root: DataRoot = None,
    lists: Lists = None,
    figure: Annotated[
        Path | None, typer.Option(help="Write a contact sheet of samples, such as sheet.png.")
    ] = None,
    skip_corrupt: SkipCorrupt = False,
    as_json: AsJson = False,
) -> None:
    """The classes, numbers of samples and fingerprint of one protocol.

    Example: openset protocols show cifar10 --split 2 --figure sheet.png
    """
    from openset.protocols import PROTOCOLS, find, overview

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
    if as_json:
        _print_json(content)
    else:
        _print(content)
        if figure is not None:
            typer.echo(f"Contact sheet: {figure}")


@app.command()
def export(
    name: Name,
    out: Annotated[Path, typer.Option(help="Folder for train.csv, val.csv, test.csv and protocol.json.")],
    split: Split = 0,
    data_root: DataRoot = None,
    lists: Lists = None,
    images: Annotated[
        bool, typer.Option("--images", help="Write images that are not files as PNG, too.")
    ] = False,
    skip_corrupt: SkipCorrupt = False,
    as_json: AsJson = False,
) -> None:
    """CSV lists `path,label` for other programs: labels from 0 up, -1 negative, -2 unknown.

    Example: openset protocols export imagenet-p1 --data-root ~/data --out lists/p1
    """
    from openset.protocols.export import export as write_lists

    protocol = _load(name, split, data_root, lists, skip_corrupt)
    content = write_lists(protocol, out, images=images)
    if as_json:
        _print_json(content)
        return
    for part, counts in content["samples"].items():
        known, negative, unknown = counts.values()
        typer.echo(f"{out / f'{part}.csv'}: {known} known, {negative} negative, {unknown} unknown")
    if content["paths"] == "files":
        typer.echo(f"Paths are relative to {content['root']}; fingerprint {protocol.fingerprint}.")
    else:
        typer.echo(
            f"Samples are named data set/part/row; add --images for files. Fingerprint {protocol.fingerprint}."
        )
    for note in protocol.notes:
        typer.echo(f"Note: {note}")


def _has_definition(name: str) -> bool:
    """A folder of CSV lists is a protocol without one."""
    from openset.protocols import PROTOCOLS, find_lists

    return name in PROTOCOLS or not (Path(name).is_dir() and find_lists(Path(name)))


def _load(name: str, split: int, data_root: Path | None, lists: Path | None, skip_corrupt: bool) -> Any:
    import warnings

    from openset.errors import OpenSetWarning
    from openset.protocols import load

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", OpenSetWarning)  # the notes say the same
        on_corrupt = "skip" if skip_corrupt else "stop"
        return load(name, split=split, data_root=data_root, lists=lists, on_corrupt=on_corrupt)


def _print_json(content: Any) -> None:
    import json

    typer.echo(json.dumps(content, indent=2, ensure_ascii=False))


def _grid(*columns: str, left: set[str]) -> Any:
    from rich.table import Table

    grid = Table(
        box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold", title=" ", title_justify="left"
    )
    for header in columns:
        last = header == columns[-1]
        grid.add_column(
            header, justify="left" if header in left else "right", no_wrap=not last, overflow="fold"
        )
    return grid


def _print(content: dict[str, Any]) -> None:
    from rich.console import Console
    from rich.markup import escape

    console = Console(highlight=False)
    of = f", split {content['split']} of {content['splits']}" if content["splits"] > 1 else ""
    title = f": {escape(content['title'])}" if content["title"] != content["name"] else ""
    console.print(f"[bold]{escape(content['name'])}[/]{of}{title}")
    if content["paper"]:
        console.print(f"Paper: {escape(content['paper'])}")
    grouped = {name: group for group, names in content["groups"].items() for name in names}
    for role, names in content["classes"].items():
        if names:
            console.print(f"\n[bold]{role}[/] ({len(names)})")
            by_group: dict[str, list[str]] = {}
            for name in names:
                by_group.setdefault(grouped.get(name, "") if role != "known" else "", []).append(name)
            for group, members in by_group.items():
                words = ", ".join(content["titles"].get(name, name) for name in members)
                console.print(
                    f"  [italic]{escape(group)}[/]: {escape(words)}" if group else f"  {escape(words)}"
                )
    if content["superclasses"]:
        grid = _grid("superclass", "known", "negative", "unknown", left={"superclass"})
        for name, counts in content["superclasses"].items():
            grid.add_row(name, *(str(count) if count else "-" for count in counts.values()))
        console.print(grid)
    if content["samples"]:
        grid = _grid("samples", "known", "negative", "unknown", left={"samples"})
        for part, counts in content["samples"].items():
            grid.add_row(part, *(f"{count:,}" if count else "-" for count in counts.values()))
        console.print(grid)
    if content["missing"]:
        published = " The numbers of samples are those of the paper." if content["samples"] else ""
        console.print(f"Data not on this machine: {', '.join(content['missing'])}.{published}")
        console.print(f"Fingerprint of the class lists: {content['lists_fingerprint']}")
    else:
        console.print(f"Fingerprint: {content['fingerprint']}")
    for note in content["notes"]:
        console.print(f"Note: {escape(note)}")
