"""A reproduction's report as tables, Markdown, CSV and JSON."""

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from openset._io.atomic import write_text
from openset._io.json_files import write_json
from openset.present.csv_text import csv_table
from openset.present.markdown import markdown_escape, markdown_table
from openset.reproduction.findings import Claim, Line, Report, Table, Value
from openset.results.table import Content
from openset.results.table import Table as Sheet

MISSING = "missing"


def sheet(table: Table) -> Sheet:
    """A table as it is shown: the columns that have anything to say."""
    first = table.lines[0] if table.lines else Line({}, None)
    words = len(first.labels)
    if table.words:
        rows = [list(line.labels.values()) for line in table.lines]
        return Sheet(list(first.labels), rows, title=table.title, align="l" * words)
    published = any(line.published is not None for line in table.lines)
    remarks = any(line.remark for line in table.lines)
    head = [*first.labels, *first.also, table.heading] + ["published", "difference"] * published + ["remark"] * remarks
    rows = [
        [
            *line.labels.values(),
            *(_shown(table, value) for value in (*line.also.values(), line.ours)),
            *(_beside(table, line) if published else ()),
            *([line.remark] if remarks else ()),
        ]
        for line in table.lines
    ]
    align = "l" * words + "r" * (len(head) - words - remarks) + "l" * remarks
    return Sheet(head, rows, title=table.title, align=align)


def _beside(table: Table, line: Line) -> tuple[str, str]:
    """The published value and the difference, where there are such."""
    gap = line.difference
    return (
        "" if line.published is None else _shown(table, line.published),
        "" if gap is None else Value(gap).text(table.factor, table.digits, sign=True),
    )


def _shown(table: Table, value: Value | None) -> str:
    return MISSING if value is None else value.text(table.factor, table.digits, sign=table.signed)


def claims_sheet(claims: Sequence[Claim]) -> Sheet:
    """Claims with their verdicts."""
    return Sheet(
        ["the paper says", "where", "here", "numbers"],
        [[claim.text, claim.source, claim.verdict, findings_text(claim)] for claim in claims],
        align="llll",
    )


def findings_text(claim: Claim) -> str:
    """The numbers behind a verdict, in short, and remarks."""
    numbers = ", ".join(
        f"{name} {number:.3g}" if isinstance(number, float) else f"{name} {number}"
        for name, number in claim.numbers.items()
    )
    return "; ".join(filter(None, (numbers, claim.remark)))


def markdown(report: Report, *, level: int = 1) -> str:
    """The whole report, under a heading of that level."""
    parts = [f"{'#' * level} {report.name}: {report.title}", "", f"Scale: {report.scale}.", ""]
    if report.before:
        parts += [*(f"- {markdown_escape(limit)}" for limit in report.before), ""]
    parts += [markdown_table(sheet(table)) for table in report.tables]
    if report.claims:
        parts.append(markdown_table(claims_sheet(report.claims)))
    parts += [f"- {markdown_escape(note)}" for note in report.notes]
    parts += [f"- Not run: {markdown_escape(failure)}" for failure in report.failures]
    parts += ["", *(f"![{file.stem}]({file.name})" for file in report.figures if file.suffix == ".png")]
    return "\n".join(parts).rstrip() + "\n"


def lines(report: Report) -> Sheet:
    """Every value in a row of its own, for CSV."""
    rows: list[list[Content]] = []
    for table in report.tables:
        for line in table.lines:
            words = "; ".join(f"{key}={word}" for key, word in line.labels.items())
            for name, value in ((table.heading, line.ours), *line.also.items()):
                own = [None] * 4 if value is None else [value.value, value.sd, value.low, value.high]
                beside_value = line.published if name == table.heading else None
                beside = [None] * 3 if beside_value is None else [beside_value.value, beside_value.sd, line.difference]
                rows.append([table.title, words, name, *own, *beside, line.remark])
    head = ["table", "labels", "metric", "value", "sd", "low", "high", "published", "published_sd", "difference"]
    return Sheet([*head, "remark"], rows)


def as_json(report: Report) -> dict[str, Any]:
    """Everything, unrounded."""
    return {
        "schema": 1,
        "name": report.name,
        "title": report.title,
        "scale": report.scale,
        "tables": [
            {
                "title": table.title,
                "lines": [
                    {
                        "labels": dict(line.labels),
                        "ours": _plain(line.ours),
                        "published": _plain(line.published),
                        "difference": line.difference,
                        "also": {name: _plain(value) for name, value in line.also.items()},
                        "remark": line.remark,
                    }
                    for line in table.lines
                ],
            }
            for table in report.tables
        ],
        "claims": [{**asdict(claim), "numbers": dict(claim.numbers)} for claim in report.claims],
        "before": list(report.before),
        "notes": list(report.notes),
        "failures": list(report.failures),
        "figures": [str(file) for file in report.figures],
    }


def _plain(value: Value | None) -> dict[str, float | None] | None:
    return None if value is None else asdict(value)


def write(report: Report, folder: Path) -> list[Path]:
    """Write report.md, report.csv and report.json; returns the files."""
    write_text(folder / "report.md", markdown(report))
    write_text(folder / "report.csv", csv_table(lines(report)))
    write_json(folder / "report.json", as_json(report))
    return [folder / f"report.{suffix}" for suffix in ("md", "csv", "json")]
