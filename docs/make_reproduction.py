"""Write the tables of docs/reproduction.md from results/: python docs/make_reproduction.py."""

from collections.abc import Sequence
from pathlib import Path

from openset._io.atomic import write_text
from openset.reproduction import Options, reproduce
from openset.reproduction.writing import markdown

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "reproduction.md"


def table_2() -> str:
    """What `openset reproduce openauc/table2 --scale cpu --show` prints in the checkout."""
    return _shown("openauc/table2")


def tables_4_and_5() -> str:
    """What `openset reproduce openauc/table4 --scale cpu --show` prints, and `openauc/table5`."""
    return f"{_shown('openauc/table4')}\n{_shown('openauc/table5')}"


def when() -> str:
    """What `openset reproduce openauc/when --scale cpu --show` prints in the checkout."""
    return _shown("openauc/when")


def families() -> str:
    """What `openset reproduce elephant/families --scale cpu --seeds 5-9 --show` prints in the checkout."""
    return _shown("elephant/families", seeds=range(5, 10))


PARTS = {"table 2": table_2, "tables 4 and 5": tables_4_and_5, "gains of the loss": when, "families": families}
"""What stands between `<!-- NAME from results/ -->` and `<!-- end of NAME -->`."""


def _shown(name: str, seeds: Sequence[int] = (0,)) -> str:
    options = Options(scale="cpu", results=ROOT / "results", show=True, seeds=seeds)
    return markdown(reproduce(name, options), level=3)


if __name__ == "__main__":
    page = PAGE.read_text(encoding="utf-8")
    for name, make in PARTS.items():
        begin, end = f"<!-- {name} from results/ -->", f"<!-- end of {name} -->"
        before, _, rest = page.partition(begin)
        page = f"{before}{begin}\n\n{make()}\n{end}{rest.partition(end)[2]}"
    write_text(PAGE, page)
