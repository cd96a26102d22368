"""The page of a watched stream."""

from openset.operating.watching import Watched
from openset.present.page.html import chart, section, table, text
from openset.present.page.page import render
from openset.results.watch_tables import watch_table, watch_verdict


def watch_page(watched: Watched, *, title: str = "Unknowns over time") -> str:
    """HTML of the page: verdict, the fraction of unknowns and the evidence over windows, the table."""
    made = watch_table(watched)
    places = list(range(len(watched.windows)))
    end = max(1, len(places) - 1)
    rates = [one.unknown for one in watched.windows]
    tops = [rate.interval.high for rate in rates]
    flat = [0, end]
    promised, expected = watched.promise.largest, watched.promise.expected
    charts = {
        "watch-share": {
            "title": "Fraction of unknowns",
            "x": {"label": "window", "min": 0, "max": end},
            "y": {"label": "fraction of unknowns", "min": 0, "max": min(1.0, 1.1 * max(*tops, promised))},
            "lines": [
                {"name": "seen", "x": places, "y": [rate.value for rate in rates], "colour": "c1"},
                {"name": "95 % from", "x": places, "y": [rate.interval.low for rate in rates], "colour": "c4"},
                {"name": "95 % to", "x": places, "y": tops, "colour": "c4"},
                {"name": "expected", "x": flat, "y": [expected] * 2, "colour": "c2"},
                {"name": "most that was promised", "x": flat, "y": [promised] * 2, "colour": "c0"},
            ],
        },
    }
    counted = f"{len(places):,} windows, {sum(rate.n for rate in rates):,} samples"
    parts = [
        f"<header><h1>{text(title)}</h1><p>{counted}</p></header>",
        section("Verdict", f'<p class="lead">{text(watch_verdict(watched))}</p>', *_notes(watched), name="verdict"),
        section(
            "Over time", f'<div class="charts">{chart("watch-share", "Share of unknowns by window")}</div>', name="time"
        ),
        section("Windows", table(made, name="windows", search=len(places) > 20), name="windows", hint=text(made.note)),
    ]
    return render(f"{title} · openset", parts, {"charts": charts})


def _notes(watched: Watched) -> list[str]:
    if not watched.notes:
        return []
    return ['<ul class="notes">' + "".join(f"<li>{text(note)}</li>" for note in watched.notes) + "</ul>"]
