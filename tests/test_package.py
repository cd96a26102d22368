"""What importing costs, and what the package promises as a whole."""

import ast
import re
import subprocess
import sys
import tomllib
from importlib import import_module
from importlib.resources import files
from pathlib import Path

import pytest

import openset
from openset.errors import _EXTRAS


def loaded_after(statement):
    code = f"import sys; {statement}; print(' '.join(sorted(sys.modules)))"
    return set(subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split())


def test_importing_is_light():
    heavy = {"torch", "pandas", "sklearn", "matplotlib", "plotly", "scipy", "polars", "typer", "rich"}
    heavy |= {"ray", "pyarrow", "submitit"}
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


PROJECT = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text(encoding="utf-8"))["project"]
CALLED = {"sklearn": "scikit-learn", "PIL": "pillow", "yaml": "pyyaml", "lightning_fabric": "lightning-fabric"}
ONE_BY_ONE = {"torchvision", "timm", "ray", "submitit"}
"""Packages that must be of the same build as torch, so `all` does not have them."""
NOT_OFFERED = {"pytorch_ood"}
"""Read only where a user has it already."""


def imported_packages():
    source = Path(openset.__file__).parent
    for file in source.rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            names = [node.module] if isinstance(node, ast.ImportFrom) and not node.level else []
            names += [one.name for one in node.names] if isinstance(node, ast.Import) else []
            yield from (name.partition(".")[0] for name in names)


def required(extra=None):
    """Packages that an extra brings, or the plain install."""
    lines = PROJECT["dependencies"] if extra is None else PROJECT["optional-dependencies"][extra]
    found = set()
    for line in lines:
        name, inner = re.match(r"([\w-]+)(?:\[([\w,]+)\])?", line).groups()
        found |= {name} if name != "openset" else set().union(*(required(one) for one in inner.split(",")))
    return found


def test_every_package_that_is_imported_is_declared():
    used = set(imported_packages()) - set(sys.stdlib_module_names) - {"openset"} - NOT_OFFERED
    named = {CALLED.get(name, name) for name in used}
    offered = set().union(*map(required, PROJECT["optional-dependencies"].keys() - {"dev", "docs"}))
    assert named == required() | offered
    assert required() <= named
    optional = named - required()
    assert optional - required("all") == ONE_BY_ONE
    assert {CALLED.get(name, name) for name in _EXTRAS} == optional
    for module, (_, extra) in _EXTRAS.items():
        assert CALLED.get(module, module) in required(extra)


def test_clusters_cost_the_plain_install_nothing():
    assert (required("ray"), required("slurm")) == ({"ray"}, {"submitit"})
    assert not required() & {"ray", "pyarrow", "pandas", "submitit"}


def test_recipes_and_protocols_come_with_the_package():
    for folder, ending in (("recipes/fast", ".yaml"), ("protocols/lists", ".json")):
        names = [file.name for file in files("openset").joinpath(folder).iterdir()]
        assert len([name for name in names if name.endswith(ending)]) > 5


POSIX_ONLY = {"fcntl", "grp", "pty", "pwd", "resource", "termios"}


def test_no_module_needs_what_only_posix_has():
    """Such modules are imported where they are used, inside of a `try` or an `if` that other systems pass by."""
    found = []
    for file in sorted(ROOT.rglob("*.py")):
        for node in ast.parse(file.read_text(encoding="utf-8")).body:
            names = [one.name for one in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            found += [f"{file}: {name}" for name in names if name.partition(".")[0] in POSIX_ONLY]
    assert not found
