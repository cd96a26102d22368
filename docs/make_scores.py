"""Write the table of docs/scores.md from the cards of the scores: python docs/make_scores.py."""

from pathlib import Path

from openset._io.atomic import write_text
from openset.posthoc import by_need

PAGE = Path(__file__).parent / "scores.md"
BEGIN, END = "<!-- made by docs/make_scores.py -->", "<!-- end -->"


def table() -> str:
    """One row per score, those that need least first."""
    rows = ["| score | what it is | needs | parameters | from |", "|---|---|---|---|---|"]
    for card in by_need():
        parameters = ", ".join(f"`{one.name}` = {one.default} ({one.meaning})" for one in card.parameters)
        rows.append(f"| `{card.name}` | {card.summary} | {', '.join(card.needs)} | {parameters} | {card.paper} |")
    return "\n".join(rows)


def page(text: str) -> str:
    """The page with the table as it is now."""
    before, _, rest = text.partition(BEGIN)
    _, _, after = rest.partition(END)
    return f"{before}{BEGIN}\n\n{table()}\n\n{END}{after}"


if __name__ == "__main__":
    write_text(PAGE, page(PAGE.read_text(encoding="utf-8")))
