"""Exchanging loaded functions for those of a mutant, in place: whoever holds a function then calls the mutant's."""

import gc
from collections import Counter
from collections.abc import Iterator
from inspect import CO_OPTIMIZED
from pathlib import Path
from types import CodeType, FunctionType

from mutation.mutants import Mutant

PACKAGE = Path(__file__).parents[2] / "src" / "openset"


def function_of(mutant: Mutant) -> str | None:
    """`file:name` of the innermost function that a mutant changes; None if it changes something else."""
    original = _codes(compile(mutant.file.read_text(encoding="utf-8"), str(mutant.file), "exec"))
    changed = _changed(original, mutant)
    if not changed:
        return None
    name, line = max(changed, key=lambda key: (key[1], len(key[0])))
    is_function = bool(changed[name, line].co_flags & CO_OPTIMIZED)
    return f"{mutant.file.relative_to(PACKAGE)}:{name}" if is_function else None


def put_in_place(mutant: Mutant) -> bool:
    """Exchange every loaded function that the mutant changes; False if none is loaded."""
    original = _codes(compile(mutant.file.read_text(encoding="utf-8"), str(mutant.file), "exec"))
    changed = _changed(original, mutant)
    found = False
    for one in gc.get_objects():
        if type(one) is FunctionType and one.__code__.co_filename == str(mutant.file):
            code = changed.get((one.__code__.co_qualname, one.__code__.co_firstlineno))
            if code is not None and code.co_freevars == one.__code__.co_freevars:
                one.__code__ = code
                found = True
    return found


def _changed(original: dict[tuple[str, int], CodeType], mutant: Mutant) -> dict[tuple[str, int], CodeType]:
    made = _codes(compile(mutant.tree, str(mutant.file), "exec"))
    return {key: code for key, code in made.items() if key in original and code != original[key]}


def _codes(code: CodeType) -> dict[tuple[str, int], CodeType]:
    """The code of a module and of everything in it, by name and first line; not what shares these with another."""
    found = [((one.co_qualname, one.co_firstlineno), one) for one in _walk(code)]
    times = Counter(key for key, _ in found)
    return {key: one for key, one in found if times[key] == 1}


def _walk(code: CodeType) -> Iterator[CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _walk(constant)
