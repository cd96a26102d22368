"""The release gate at the end of a command."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import typer

from openset.cli._console import console, say

if TYPE_CHECKING:
    from openset.results.gate import GateResult


def pass_gate(gate: "Sequence[GateResult]", remarks: Sequence[str] = ()) -> None:
    """Say which bars are missed, and end with exit code 1 if one is; `remarks` are on what it does not tell."""
    from openset.results.gate import gate_summary

    missed = [one for one in gate if not one.reached]
    for sentence in [*(f"Bar missed: {one.sentence}" for one in missed), *remarks]:
        say(sentence, err=True)
    if missed:
        raise typer.Exit(1)
    if gate:
        console().print(f"[green]{gate_summary(gate)}[/green]")
