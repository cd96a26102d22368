"""What importing costs, and what the package promises as a whole."""

import ast
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

import openset


def loaded_after(statement):
    code = f"import sys; {statement}; print(' '.join(sorted(sys.modules)))"
    return set(subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split())


def test_importing_is_light():
    heavy = {"torch", "pandas", "sklearn", "matplotlib", "plotly", "scipy", "polars", "typer", "rich"}
    assert not heavy & loaded_after("import openset")
    assert not heavy & loaded_after("from openset import Scores; from openset.metrics import open_auc")
    assert not heavy & loaded_after("from openset import evaluate, compare, choose")
    assert not {"torch", "pandas", "sklearn", "matplotlib", "scipy", "polars"} & loaded_after("import openset.cli")


def test_the_promised_names_are_there():
    for name in openset.__all__:
        assert getattr(openset, name) is not None
    assert set(openset.__all__) <= set(dir(openset))


def test_a_wrong_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no attribute 'Score'"):
        openset.Score  # noqa: B018


ROOT = Path(openset.__file__).parent


def exports(path):
    """Public names of the `__init__` of a package: bound, used by itself, and taken from openset `as` themselves."""
    tree, bound, reexported = ast.parse(path.read_text(encoding="utf-8")), set(), set()
    for node in tree.body:
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("openset"):
            bound |= {alias.asname or alias.name for alias in node.names}
            reexported |= {alias.name for alias in node.names if alias.asname == alias.name}
        elif isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            bound.add(node.name)
        elif isinstance(node, (ast.Assign, ast.AnnAssign)):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            bound |= {target.id for target in targets if isinstance(target, ast.Name)}
    used = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)}
    return {name for name in bound if not name.startswith("_")}, used, reexported


PACKAGES = {
    ".".join(["openset", *file.parent.relative_to(ROOT).parts]): exports(file)
    for file in sorted(ROOT.rglob("__init__.py"))
    if not any(part.startswith("_") or part == "cli" for part in file.parent.relative_to(ROOT).parts)
}
FOR_THEIR_CARDS = {"openset.metrics": {"ranking", "decisions", "probabilities"}}


@pytest.mark.parametrize("name", [name for name, (bound, *_) in PACKAGES.items() if bound and name != "openset"])
def test_every_public_name_of_a_package_is_listed_and_importable(name):
    """In `__all__`, or, where there is none, by `import X as X`, which says the same to type checkers."""
    package = import_module(name)
    bound, used, reexported = PACKAGES[name]
    listed = getattr(package, "__all__", None)
    promised = reexported | {one for one in bound if one in used} if listed is None else set(listed)
    assert listed is None or len(listed) == len(promised)
    assert promised <= bound
    assert bound - promised <= used | FOR_THEIR_CARDS.get(name, set())
    for one in promised:
        assert getattr(package, one) is not None


def test_the_names_of_the_package_are_those_that_type_checkers_see():
    tree = ast.parse((ROOT / "__init__.py").read_text(encoding="utf-8"))
    checking = next(node for node in tree.body if isinstance(node, ast.If))
    seen = {alias.asname for node in checking.body for alias in node.names}
    assert {"__version__", *seen} == set(openset.__all__)
    assert {"Comparison", "Document", "Evaluation", "Interval"} <= seen
    for name in seen:
        assert getattr(openset, name).__name__ == name
