"""Write the tables of docs/reproduction.md from results/: python docs/make_reproduction.py."""

from pathlib import Path

from openset._io.atomic import write_text
from openset.reproduction import Options, reproduce
from openset.reproduction.writing import markdown

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "reproduction.md"
BEGIN, END = "<!-- table 2 from results/ -->", "<!-- end of table 2 -->"


def table() -> str:
    """What `openset reproduce openauc/table2 --scale cpu --show` prints in the checkout."""
    options = Options(scale="cpu", results=ROOT / "results", show=True)
    return markdown(reproduce("openauc/table2", options), level=3)


if __name__ == "__main__":
    before, _, rest = PAGE.read_text(encoding="utf-8").partition(BEGIN)
    _, _, after = rest.partition(END)
    write_text(PAGE, f"{before}{BEGIN}\n\n{table()}\n{END}{after}")
