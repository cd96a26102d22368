"""Write docs/conformance.md from the cases of tests/conformance: python docs/make_conformance.py."""

import sys
from pathlib import Path
from typing import Any

from openset._io.atomic import write_text

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "conformance.md"

INTRODUCTION = """<!-- Made by docs/make_conformance.py from tests/conformance: change the cases there, not here. -->

# How our numbers compare

Two programs that answer the same question should give the same number. Here the same data go through openset and
through {n_peers} other packages, papers and published programs. On {n_agree} questions they agree; on {n_wrong} a peer
is wrong; on {n_convention} both are correct by different conventions. "Ours" and "theirs" are the values of the
smallest case that shows it, written out so that you can check it by hand.

Every row is a test. `tests/conformance/` runs the case with the versions named here. Where both agree, always or under
the condition in italics, they must also agree to rounding on random data sets, up to 100 of them, with equal scores,
wrong predictions and few samples. Peers without a version are evaluation programs that are not packages:
`tests/conformance/programs.py` has the few lines of each that matter, rewritten from what the program does.

Labels: 0, 1, ... are known classes, -2 is unknown. A higher `unknown_score` means more unknown.
"""

SECTIONS = {
    "theirs is wrong": (
        "Where a peer is wrong",
        "If you compare your results with numbers from these programs, expect differences of this kind.",
    ),
    "another convention": (
        "Where conventions differ",
        "Neither is wrong. Say which one you report, and compare only numbers of the same kind.",
    ),
    "agree": ("Where they agree", "Both values are the same to rounding, for the case shown and for random data."),
}


def cases() -> list[Any]:
    """The cases of the tests."""
    if str(ROOT / "tests") not in sys.path:
        sys.path.insert(0, str(ROOT / "tests"))
    from conformance.cases import CASES

    return CASES


def _number(value: float | None) -> str:
    return "none" if value is None else f"{value:.4g}"


def _row(case: Any) -> list[str]:
    function = case.theirs.name.replace("conformance.programs.", "")
    why = case.why + (f" *Both agree if {case.same_if}.*" if case.same_if else "")
    ours, theirs = (_number(value) for value in case.expected)
    return [
        case.question,
        f"{case.peer.title}: `{function}`",
        f"`{case.ours.name}`",
        *([ours] if case.verdict == "agree" else [ours, theirs]),
        why,
        f"`{case.example}`",
    ]


def page() -> str:
    """The whole page."""
    every = cases()
    count = {verdict: sum(case.verdict == verdict for case in every) for verdict in SECTIONS}
    parts = [
        INTRODUCTION.format(
            n_peers=len({case.peer.name for case in every}),
            n_agree=count["agree"],
            n_wrong=count["theirs is wrong"],
            n_convention=count["another convention"],
        )
    ]
    for verdict, (title, lead) in SECTIONS.items():
        values = ["value"] if verdict == "agree" else ["ours", "theirs"]
        why = "what is equal" if verdict == "agree" else "who is correct, and why"
        header = ["question", "peer", "our function", *values, why, "the case"]
        rows = [header, ["---"] * len(header), *(_row(case) for case in every if case.verdict == verdict)]
        parts.append(f"## {title}\n\n{lead}\n\n" + "\n".join(f"| {' | '.join(row)} |" for row in rows) + "\n")
    return "\n".join(parts)


if __name__ == "__main__":
    write_text(PAGE, page())
