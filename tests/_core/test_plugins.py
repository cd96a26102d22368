"""Methods, metrics and scores of one's own: from a file that is named, or from an installed package."""

import sys
from importlib.metadata import EntryPoint

import pytest

from openset._core.plugins import resolve, run_file
from openset._core.registry import Registry
from openset.errors import OpenSetError, OpenSetWarning


def whole_numbers(**options):
    def adopt(name, thing):
        if not isinstance(thing, int):
            raise OpenSetError("this is no whole number.")
        return thing

    return Registry("number", adopt=adopt, **options)


@pytest.fixture
def write(tmp_path, monkeypatch):
    """A file of the user's, in the folder where they are."""
    monkeypatch.chdir(tmp_path)
    before = set(sys.modules)

    def write(text, name="my.py"):
        (tmp_path / name).write_text(text, encoding="utf-8")
        return name

    yield write
    for name in set(sys.modules) - before:
        if name.startswith("openset_plugin_"):
            del sys.modules[name]


def test_what_a_file_defines_is_registered_under_its_name(write):
    numbers = whole_numbers()
    write("seven = 7\neight = 8\n")
    assert resolve("my.py:seven", numbers) == "seven"
    assert resolve("one, my.py:seven(k=3) ,my.py:eight", numbers) == "one,seven(k=3) ,eight"
    assert (numbers["seven"], numbers["eight"]) == (7, 8)


def test_a_file_runs_once_and_only_if_it_is_named(write, tmp_path):
    write("from pathlib import Path\nplace = Path('ran')\nplace.write_text(f'{place.exists()}')\nseven = 7\n")
    resolve("seven", whole_numbers())
    assert not (tmp_path / "ran").exists()
    numbers = whole_numbers()
    for _ in range(2):
        resolve("my.py:seven", numbers)
    assert run_file("my.py") is run_file(tmp_path / "my.py")
    assert (tmp_path / "ran").read_text() == "False"


def test_neighbours_of_a_file_do_not_run(write):
    write("seven = 7\n", "neighbour.py")
    write("from neighbour import seven\n")
    with pytest.raises(OpenSetError, match="my.py, line 1 failed: ModuleNotFoundError: No module named 'neighbour'"):
        resolve("my.py:seven", whole_numbers())


def test_what_registered_itself_keeps_its_name(write):
    numbers = whole_numbers()
    write("import builtins\nbuiltins.numbers.add('lucky', 12345)\nseven = builtins.numbers['lucky']\n")
    import builtins

    builtins.numbers = numbers
    try:
        assert resolve("my.py:seven", numbers) == "lucky"
    finally:
        del builtins.numbers


@pytest.mark.parametrize(
    ("text", "named", "message"),
    [
        ("raise SystemExit(7)", "my.py:seven", "my.py, line 1 failed: SystemExit: 7"),
        ("seven = 7\n", "my.py:sevn", "my.py defines no 'sevn'."),
        ("seven = 'x'\n", "my.py:seven", "my.py:seven: this is no whole number."),
        ("one = 1\n", "my.py:one", "my.py:one: There is a number named 'one' already: choose another name."),
        ("x = 1\n\nx.nothing()\n", "my.py:x", "my.py, line 3 failed: AttributeError: 'int' object has no attribute"),
        ("def :\n", "my.py:x", "my.py, line 1 failed: SyntaxError: "),
        ("", "other.py:x", "There is no file other.py."),
    ],
)
def test_mistakes_are_one_sentence(write, text, named, message):
    numbers = whole_numbers()
    numbers.add("one", 11)
    write(text)
    with pytest.raises(OpenSetError) as caught:
        resolve(named, numbers)
    assert str(caught.value).startswith(message)


def install(monkeypatch, *points):
    made = [EntryPoint(name, value, "openset.numbers") for name, value in points]
    monkeypatch.setattr("importlib.metadata.entry_points", lambda *, group: [p for p in made if p.group == group])


def test_installed_packages_add_theirs_when_asked_for(monkeypatch):
    install(monkeypatch, ("biggest", "sys:maxsize"))
    numbers = whole_numbers(group="openset.numbers")
    numbers.add("one", 1)
    assert numbers["one"] == 1
    assert numbers._group  # not looked for yet
    assert numbers["biggest"] == sys.maxsize
    for ask in (list, len, lambda n: "biggest" in n, lambda n: dict(n.items()), lambda n: list(n.values())):
        fresh = whole_numbers(group="openset.numbers")
        fresh.add("one", 1)
        ask(fresh)
        assert fresh._entries == {"one": 1, "biggest": sys.maxsize}


def test_a_broken_package_is_told_and_left_out(monkeypatch):
    install(monkeypatch, ("broken", "sys:there_is_no_such_thing"), ("text", "sys:platform"), ("biggest", "sys:maxsize"))
    numbers = whole_numbers(group="openset.numbers")
    with pytest.warns(OpenSetWarning) as caught:
        assert list(numbers) == ["biggest"]
    told = sorted(str(one.message) for one in caught)
    assert told[0].startswith("The number 'broken' of an installed package (sys:there_is_no_such_thing) cannot be used")
    assert told[1].endswith("(sys:platform) cannot be used: OpenSetError: this is no whole number.")


def test_a_name_that_is_not_there_says_how_to_add_it():
    numbers = whole_numbers()
    numbers.add("one", 1)
    with pytest.raises(OpenSetError, match=r"named 'x'. Choose from: one. If it is your own, name its file: --plugin"):
        numbers["x"]
    with pytest.raises(OpenSetError, match=r"named 'on'. Did you mean 'one'\?$"):
        numbers["on"]
    with pytest.raises(OpenSetError, match="A fruit cannot be added"):
        Registry("fruit").take("apple", 1)
