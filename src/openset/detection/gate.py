"""Bars that a detector must pass, such as `awi<=0.05`: a release gate."""

import re
from dataclasses import dataclass

from openset.detection.measure.evaluation import OpenSetEvaluation
from openset.errors import OpenSetError, check_choice

_NAMES = ("awi", "slope", "fp_per_1000", "map", "map_wild")


@dataclass(frozen=True)
class Bar:
    """A figure and its bound."""

    name: str
    at_most: bool
    value: float


def parse_bar(text: str) -> Bar:
    """`awi<=0.05` as a bar.

    >>> parse_bar("map >= 0.7")
    Bar(name='map', at_most=False, value=0.7)
    """
    found = re.fullmatch(r"\s*(\w+)\s*(<=|>=)\s*([-+.\deE]+)\s*", text)
    try:
        name, sign, number = found.groups() if found else ("", "", "")
        value = float(number)
    except ValueError:
        raise OpenSetError(f"Cannot read the bar {text!r}: write it like 'awi<=0.05'.") from None
    return Bar(check_choice("--require", "figure", name, _NAMES), sign == "<=", value)


def check_bars(result: OpenSetEvaluation, bars: list[Bar]) -> list[str]:
    """A sentence for each bar that is missed; wilderness bars hold at every recall and variant."""
    missed = []
    for bar in bars:
        means = result.mean_average_precision
        if bar.name in ("map", "map_wild"):
            values = {"11-point": (means.known if bar.name == "map" else means.wild)["voc_11_point"]}
        else:
            values = {f"recall {row.recall:g}, {row.variant}": getattr(row, bar.name) for row in result.wilderness}
        for where, value in values.items():
            if (value > bar.value) if bar.at_most else (value < bar.value):
                sign = "<=" if bar.at_most else ">="
                missed.append(f"Missed: {bar.name} is {value:.4g} ({where}), required {sign} {bar.value:g}.")
    return missed
