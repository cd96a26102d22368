"""Small pieces of HTML. Every text from outside passes through `text`, so that a name is always shown as a name."""

from collections.abc import Mapping, Sequence
from html import escape

from openset.results.table import Cell, Content, Table, text_of


def text(words: object) -> str:
    """Text as HTML.

    >>> text("<b> & 'co'")
    '&lt;b&gt; &amp; &#x27;co&#x27;'
    """
    return escape(str(words), quote=True)


def section(title: str, *content: str, name: str, hint: str = "") -> str:
    """A part of the page with a heading that screen readers and links can reach."""
    note = f'<p class="hint">{hint}</p>' if hint else ""
    heading = f'<h2 id="{name}-title">{text(title)}</h2>'
    return f'<section id="{name}" aria-labelledby="{name}-title">{heading}{note}{"".join(content)}</section>'


def table(content: Table, *, name: str, search: bool = False) -> str:
    """A table that the page's script makes sortable, searchable and downloadable; whole and readable without it."""
    head = "".join(f'<th scope="col">{text(column)}</th>' for column in content.head)
    body = "".join(f"<tr>{_row(row)}</tr>" for row in (*content.rows, *content.below))
    caption = content.title
    return (
        f'<div class="table" data-table="{text(name)}"{" data-search" if search else ""}>'
        f'<div class="scroll" tabindex="0" role="region" aria-label="{text(caption)}">'
        f"<table><caption>{text(caption)}</caption><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div></div>"
    )


def _row(cells: Sequence[Content]) -> str:
    made = []
    for place, cell in enumerate(cells):
        number = cell.value if isinstance(cell, Cell) else cell
        value = f' data-value="{number:.9g}"' if isinstance(number, (int, float)) else ""
        shown = text(text_of(cell))
        shown = f"<strong>{shown}</strong>" if isinstance(cell, Cell) and cell.best else shown
        tag = 'th scope="row"' if place == 0 else "td"
        made.append(f"<{tag}{value}>{shown}</{tag[:2]}>")
    return "".join(made)


def chart(name: str, title: str) -> str:
    """An empty figure that the page's script draws into."""
    return f'<figure class="chart" id="chart-{name}" data-name="{name}"><figcaption>{text(title)}</figcaption></figure>'


def choice(name: str, label: str, options: Mapping[str, str], *, selected: str | None = None) -> str:
    """A labelled list to choose from; left out where there is nothing to choose."""
    made = "".join(
        f'<option value="{text(value)}"{" selected" if value == selected else ""}>{text(shown)}</option>'
        for value, shown in options.items()
    )
    hidden = " hidden" if len(options) < 2 else ""
    return f'<label class="choice"{hidden}>{text(label)} <select id="{name}">{made}</select></label>'


def definitions(pairs: Mapping[str, object]) -> str:
    """Terms with what they are."""
    return (
        "<dl>" + "".join(f"<dt>{text(term)}</dt><dd>{text(wording)}</dd>" for term, wording in pairs.items()) + "</dl>"
    )
