"""All comparisons, found in the modules of this folder that have a list `CASES`, in the order of their questions."""

import importlib
from pathlib import Path

from conformance.card import Case

_MODULES = [path.stem for path in sorted(Path(__file__).parent.glob("*.py")) if not path.stem.startswith("test_")]
CASES: list[Case] = sorted(
    (
        case
        for name in _MODULES
        if name != "cases"
        for case in getattr(importlib.import_module(f"conformance.{name}"), "CASES", ())
    ),
    key=lambda case: case.question.lower(),
)
