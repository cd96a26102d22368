"""A reproduction's report as Markdown, CSV and JSON."""

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from openset._io.atomic import write_text
from openset._io.csv_cells import csv_text
from openset._io.json_files import write_json
from openset.reproduction.findings import Claim, Line, Report, Table, Value
from openset.results.tables import markdown_escape

MISSING = "missing"


def columns(table: Table) -> list[str]:
    """Titles of the columns that have anything to say."""
    first = table.lines[0] if table.lines else Line({}, None)
    if table.words:
        return list(first.labels)
    found = [*first.labels, *first.also, table.heading]
    if any(line.published is not None for line in table.lines):
        found += ["published", "difference"]
    return [*found, "remark"] if any(line.remark for line in table.lines) else found


def cells(table: Table, line: Line) -> list[str]:
    """A line as text, in the order of `columns`."""
    if table.words:
        return list(line.labels.values())
    made = [*line.labels.values(), *(_shown(table, value) for value in line.also.values()), _shown(table, line.ours)]
    if "published" in columns(table):
        gap = line.difference
        made.append("" if line.published is None else _shown(table, line.published))
        made.append("" if gap is None else Value(gap).text(table.factor, table.digits, sign=True))
    return [*made, line.remark] if "remark" in columns(table) else made


def _shown(table: Table, value: Value | None) -> str:
    return MISSING if value is None else value.text(table.factor, table.digits, sign=table.signed)


def markdown_table(table: Table) -> str:
    """One table, with its title in bold."""
    titles = columns(table)
    n_words = len(table.lines[0].labels) if table.lines else 0
    rows = [titles, *(cells(table, line) for line in table.lines)]
    lines = ["| " + " | ".join(markdown_escape(cell) for cell in row) + " |" for row in rows]
    rule = ["---" if place < n_words or title == "remark" else "---:" for place, title in enumerate(titles)]
    lines.insert(1, "|" + "|".join(rule) + "|")
    return "\n".join([f"**{markdown_escape(table.title)}**", "", *lines, ""])


def markdown_claims(claims: Sequence[Claim]) -> str:
    """Claims with their verdicts."""
    lines = ["| the paper says | where | here | figures |", "|---|---|---|---|"]
    for claim in claims:
        row = (claim.text, claim.source, claim.verdict, "; ".join(filter(None, (figures_of(claim), claim.remark))))
        lines.append("| " + " | ".join(markdown_escape(cell) for cell in row) + " |")
    return "\n".join([*lines, ""])


def figures_of(claim: Claim) -> str:
    """The numbers behind a verdict, in short."""
    return ", ".join(
        f"{name} {number:.3g}" if isinstance(number, float) else f"{name} {number}"
        for name, number in claim.numbers.items()
    )


def markdown(report: Report, *, level: int = 1) -> str:
    """The whole report, under a heading of that level."""
    parts = [f"{'#' * level} {report.name}: {report.title}", "", f"Scale: {report.scale}.", ""]
    parts += [markdown_table(table) for table in report.tables]
    if report.claims:
        parts.append(markdown_claims(report.claims))
    parts += [f"- {markdown_escape(note)}" for note in report.notes]
    parts += [f"- Not run: {markdown_escape(failure)}" for failure in report.failures]
    parts += ["", *(f"![{file.stem}]({file.name})" for file in report.figures if file.suffix == ".png")]
    return "\n".join(parts).rstrip() + "\n"


def comma_separated(report: Report) -> str:
    """Every figure, unrounded: one row each."""
    head = ["table", "labels", "figure", "value", "sd", "low", "high", "published", "published_sd", "difference"]
    rows: list[list[Any]] = [[*head, "remark"]]
    for table in report.tables:
        for line in table.lines:
            words = "; ".join(f"{key}={word}" for key, word in line.labels.items())
            told = line.published
            for name, value in ((table.heading, line.ours), *line.also.items()):
                own = name == table.heading
                ours = [None] * 4 if value is None else [value.value, value.sd, value.low, value.high]
                theirs = [told.value, told.sd, line.difference] if own and told else [None] * 3
                rows.append([table.title, words, name, *ours, *theirs, line.remark])
    return csv_text(rows)


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
        "notes": list(report.notes),
        "failures": list(report.failures),
        "figures": [str(file) for file in report.figures],
    }


def _plain(value: Value | None) -> dict[str, float | None] | None:
    return None if value is None else asdict(value)


def write(report: Report, folder: Path) -> list[Path]:
    """Write report.md, report.csv and report.json; returns the files."""
    write_text(folder / "report.md", markdown(report))
    write_text(folder / "report.csv", comma_separated(report))
    write_json(folder / "report.json", as_json(report))
    return [folder / f"report.{suffix}" for suffix in ("md", "csv", "json")]
