"""A result document as Markdown, LaTeX, CSV and HTML."""

from openset.present.csv_text import csv_table
from openset.present.latex import latex_table
from openset.present.markdown import markdown_escape, markdown_table
from openset.present.page.evaluation import evaluation_page
from openset.results.document import RENDERERS, Document
from openset.results.tables import gate_table, headline_table, metrics_table, model_table, tests_table


@RENDERERS.register("markdown")
def document_markdown(document: Document) -> str:
    """Verdict, tables and notes."""
    several = len(document.names) > 1
    tables = [headline_table(document)] if several else [model_table(document.names[0], document.evaluations[0])]
    tables += [tests_table(document)] if document.tests else []
    tables += [gate_table(document.gate)] if document.gate else []
    notes = [f"{name}: {note}" if several else note for name, note in document.notes]
    parts = [*map(markdown_escape, document.verdict), *map(markdown_table, tables)]
    return "\n\n".join(part.rstrip() for part in [*parts, *(f"- {markdown_escape(note)}" for note in notes)]) + "\n"


@RENDERERS.register("latex")
def document_latex(document: Document) -> str:
    """The headline metrics, as a table for a paper."""
    return latex_table(headline_table(document))


@RENDERERS.register("csv")
def document_csv(document: Document) -> str:
    """Every metric in one line each."""
    return csv_table(metrics_table(document))


RENDERERS.add("html", evaluation_page)
