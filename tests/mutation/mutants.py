"""Small mistakes that a program could have: each is one place of a module's syntax tree, changed."""

import ast
import copy
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

_COMPARED: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
}
_COMPUTED: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Div,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
}
_WORDS = {"left": "right", "right": "left", "half": "correct", "macro": "micro"}


@dataclass(frozen=True)
class Mutant:
    """One changed place."""

    file: Path
    line: int
    change: str
    tree: ast.Module


def count_places(file: Path) -> int:
    """How many mutants a module has; annotations, docstrings and the texts of errors are left alone."""
    return sum(1 for _ in _places(ast.parse(file.read_text(encoding="utf-8"))))


def mutant_of(file: Path, number: int) -> Mutant:
    """One of the mutants of a module."""
    tree = ast.parse(file.read_text(encoding="utf-8"))
    node, change = next(islice(_places(tree), number, None))
    line = node.lineno
    _apply(node)
    return Mutant(file, line, change, ast.fix_missing_locations(tree))


def _places(tree: ast.AST) -> Iterator[tuple[ast.expr | ast.stmt, str]]:
    for node in _walk(tree):
        if isinstance(node, ast.Compare) and type(node.ops[0]) in _COMPARED:
            other = _COMPARED[type(node.ops[0])].__name__
            yield node, f"{ast.unparse(node)[:60]}: {type(node.ops[0]).__name__} as {other}"
        elif isinstance(node, ast.BinOp) and type(node.op) in _COMPUTED:
            yield node, f"{ast.unparse(node)[:60]}: {type(node.op).__name__} as {_COMPUTED[type(node.op)].__name__}"
        elif isinstance(node, ast.BoolOp):
            yield node, f"{ast.unparse(node)[:60]}: and, or exchanged"
        elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not | ast.USub | ast.Invert):
            yield node, f"{ast.unparse(node)[:60]}: without its sign"
        elif isinstance(node, ast.Constant) and _is_changed(node.value):
            yield node, f"{node.value!r} as {_changed(node.value)!r}"


def _walk(node: ast.AST) -> Iterator[ast.AST]:
    if isinstance(node, ast.Raise | ast.Assert | ast.JoinedStr | ast.Import | ast.ImportFrom):
        return
    yield node
    for field, value in ast.iter_fields(node):
        if field in {"annotation", "returns", "decorator_list", "type_params"}:
            continue
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST):
                yield from _walk(child)


def _is_changed(value: object) -> bool:
    return isinstance(value, bool | int | float) or (isinstance(value, str) and value in _WORDS)


def _changed(value: object) -> object:
    if isinstance(value, bool):
        return not value
    if isinstance(value, int | float):
        return value + 1 if isinstance(value, int) else value * 1.5 + 0.1
    return _WORDS[str(value)]


def _apply(node: ast.AST) -> None:
    if isinstance(node, ast.Compare):
        node.ops[0] = _COMPARED[type(node.ops[0])]()
    elif isinstance(node, ast.BinOp):
        node.op = _COMPUTED[type(node.op)]()
    elif isinstance(node, ast.BoolOp):
        node.op = ast.Or() if isinstance(node.op, ast.And) else ast.And()
    elif isinstance(node, ast.UnaryOp):
        if isinstance(node.op, ast.USub):
            node.op = ast.UAdd()
        else:  # twice is as good as not at all
            node.operand = ast.UnaryOp(copy.copy(node.op), node.operand)
    elif isinstance(node, ast.Constant):
        node.value = _changed(node.value)
