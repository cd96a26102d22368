"""A hierarchy of classes: which class is a kind of which, from a CSV of one's own or from WordNet."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from openset._io.paths import existing, is_folder, reason
from openset._io.tables import read_table
from openset.errors import OpenSetError, did_you_mean

_NOUNS = "data.noun"
_KIND_OF = ("@", "@i")
"""WordNet's signs for "is a kind of" and "is an instance of"."""


@dataclass(frozen=True)
class Hierarchy:
    """Parents of each node, and what people call the nodes."""

    parents: Mapping[str, Sequence[str]]
    names: Mapping[str, Sequence[str]]
    source: str

    def find(self, word: str, *, among: Collection[str] = ()) -> str:
        """The node with this id or name; where several have the name, the only one `among` some.

        >>> tree = Hierarchy({"n2": ["n1"], "n1": []}, {"n1": ["animal"], "n2": ["dog"]}, "tree.csv")
        >>> tree.find("animal")
        'n1'
        """
        if word in self.parents:
            return word
        plain = _plain(word)
        found = [node for node, names in self.names.items() if plain in map(_plain, names)]
        if not found:
            known = [*self.parents, *(name for names in self.names.values() for name in names)]
            raise OpenSetError(f"{self.source} has no class or parent '{word}'. {did_you_mean(word, known)}")
        if len(found) > 1:
            found = [node for node in found if node in among] or found
        if len(found) > 1:
            raise OpenSetError(f"{self.source}: '{word}' may be {', '.join(found)}; give one of these instead.")
        return found[0]

    def distances(self, node: str) -> dict[str, int]:
        """Every ancestor of a class, and the class itself, with the smallest number of steps up to it.

        >>> Hierarchy({"dog": ["animal"], "animal": []}, {}, "tree.csv").distances("dog")
        {'dog': 0, 'animal': 1}
        """
        found, level, steps = {node: 0}, [node], 0
        while level:
            steps += 1
            above = dict.fromkeys(parent for one in level for parent in self.parents.get(one, ()))
            level = [parent for parent in above if parent not in found]
            found |= dict.fromkeys(level, steps)
        return found

    @property
    def leaves(self) -> tuple[str, ...]:
        """Classes that are nobody's parent."""
        inner = {parent for parents in self.parents.values() for parent in parents}
        return tuple(node for node in self.parents if node not in inner)

    def title(self, node: str) -> str:
        """What people call a node."""
        return next(iter(self.names.get(node, ())), node)


def read_hierarchy(path: str | Path) -> Hierarchy:
    """A CSV or Parquet file with columns `class`, `parent` and perhaps `name`, or WordNet's folder of `data.noun`.

    A class with several parents has several rows; the top has none, or an empty parent.
    """
    place = Path(path)
    if is_folder(place):
        return _from_wordnet(place / _NOUNS)
    if place.name == _NOUNS:
        return _from_wordnet(place)
    table = read_table(place, names=("class", "parent", "name"))
    missing = [name for name in ("class", "parent") if name not in table.columns]
    if missing:
        raise OpenSetError(f"{place} has no column '{missing[0]}': a hierarchy needs the columns class and parent.")
    columns = [("" if cell is None else str(cell).strip() for cell in table[name]) for name in ("class", "parent")]
    parents: dict[str, list[str]] = {}
    for row, (node, parent) in enumerate(zip(*columns, strict=True), start=1):
        if not node:
            raise OpenSetError(f"{place}, row {row}: the class is empty.")
        above = parents.setdefault(node, [])
        if parent:
            parents.setdefault(parent, [])
            above.append(parent)
    names: dict[str, list[str]] = {}
    if "name" in table.columns:
        for node, name in zip(table["class"], table["name"], strict=True):
            if name:
                names.setdefault(str(node).strip(), []).append(str(name))
    _check_no_circle(parents, str(place))
    return Hierarchy(parents, names, str(place))


def _from_wordnet(file: Path) -> Hierarchy:
    """Nouns of WordNet 3.0, whose places in the file are the numbers in ImageNet's ids."""
    parents: dict[str, list[str]] = {}
    names: dict[str, list[str]] = {}
    try:
        lines = existing(file).read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError as error:
        raise OpenSetError(f"Cannot read {file}: {reason(error)}.") from error
    for row, line in enumerate(lines, start=1):
        if line.startswith("  ") or not line.strip():  # the licence comes first
            continue
        try:
            fields = line.partition(" | ")[0].split(" ")
            n_words = int(fields[3], 16)
            start = 4 + 2 * n_words
            pointers = [fields[start + 1 + 4 * i : start + 5 + 4 * i] for i in range(int(fields[start]))]
            node = f"n{int(fields[0]):08d}"
            names[node] = [word.replace("_", " ") for word in fields[4:start:2]]
            parents[node] = [f"n{place}" for sign, place, kind, _ in pointers if sign in _KIND_OF and kind == "n"]
        except (IndexError, ValueError) as error:
            raise OpenSetError(f"{file}, line {row}: not a line of WordNet's {_NOUNS}.") from error
    if not parents:
        raise OpenSetError(f"{file} has no nouns: expected WordNet's {_NOUNS}.")
    _check_no_circle(parents, str(file))
    return Hierarchy(parents, names, str(file))


def _check_no_circle(parents: Mapping[str, Sequence[str]], source: str) -> None:
    from graphlib import CycleError, TopologicalSorter

    try:
        TopologicalSorter(parents).prepare()
    except CycleError as error:
        circle: Iterable[str] = error.args[1]
        raise OpenSetError(f"{source}: a class is its own ancestor: {' -> '.join(circle)}.") from error


def _plain(word: str) -> str:
    return word.replace("_", " ").casefold().strip()
