"""One result document: metric values, paired tests, spreads over splits, notes, gate, provenance, verdicts."""

from openset.results.document import Document as Document
from openset.results.gate import Bar as Bar
from openset.results.gate import Candidate as Candidate
from openset.results.gate import GateResult as GateResult
from openset.results.gate import check_bar as check_bar
from openset.results.gate import parse_bar as parse_bar
from openset.results.paired import Paired as Paired
from openset.results.provenance import provenance as provenance
from openset.results.spread import Spread as Spread
from openset.results.spread import spread_of as spread_of
from openset.results.table import Cell as Cell
from openset.results.table import Table as Table

__all__ = [
    "Bar", "Candidate", "Cell", "Document", "GateResult", "Paired", "Spread", "Table", "check_bar", "parse_bar",
    "provenance", "spread_of",
]  # fmt: skip
