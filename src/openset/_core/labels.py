"""What labels say: numbers or names of known classes, and words for samples that belong to none of them."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from openset._core import checks
from openset._core.lookalikes import find_twins, how_they_differ, meant_word, visible
from openset._core.text import shortened
from openset.errors import OpenSetError

OPEN_WORDS = {"negative": checks.NEGATIVE, "unknown": checks.UNKNOWN}
MISSING = ("", "nan", "na", "n/a", "null", "none")
_NUMBER = re.compile(r"[-+]?\.?\d+(\.\d*)?([eE][-+]?\d+)?$")
Where = Callable[[int], str]


@dataclass(frozen=True)
class LabelWords:
    """What a user says of his labels, beside the words `negative` and `unknown`, which always mean -1 and -2."""

    unknown: tuple[str, ...] = ()
    negative: tuple[str, ...] = ()
    known: tuple[str, ...] = ()
    """Names that are classes although they look like those words, or like another class's name."""

    @classmethod
    def of(cls, unknown: Any = None, negative: Any = None, known: Any = None) -> "LabelWords":
        """From one label (text or number), several, or none for each kind.

        >>> LabelWords.of("oos", negative=10)
        LabelWords(unknown=('oos',), negative=('10',), known=())
        """
        made = cls(*(_words(given) for given in (unknown, negative, known)))
        kinds = {"unknown": made.unknown, "negative": made.negative, "a known class": made.known}
        for one, two in (("unknown", "negative"), ("unknown", "a known class"), ("negative", "a known class")):
            both = {_key(word) for word in kinds[one]} & {_key(word) for word in kinds[two]}
            if both:
                raise OpenSetError(f"The label '{min(both)}' cannot be both {one} and {two}.")
        return made

    def meaning(self, word: str) -> int | None:
        """-1 or -2 for a word that marks open-set samples, else None."""
        if word in self.known:
            return None
        key = _key(word)
        for words, label in ((self.unknown, checks.UNKNOWN), (self.negative, checks.NEGATIVE)):
            if any(key == _key(one) or (one.isascii() and whole(one) == whole(word) is not None) for one in words):
                return label
        return OPEN_WORDS.get(key)

    def relabelled(self, labels: checks.Ints) -> checks.Ints:
        """Numbers that the user gave as labels of open-set samples, replaced by -1 and -2."""
        made = labels
        for words, label in ((self.unknown, checks.UNKNOWN), (self.negative, checks.NEGATIVE)):
            for number in filter(lambda one: one is not None, map(whole, words)):
                made = np.where(labels == number, label, made)
        return made


def _words(given: Any) -> tuple[str, ...]:
    if given is None:
        return ()
    several = [given] if isinstance(given, str | int | float | np.generic) else list(given)
    return tuple(dict.fromkeys(str(word).strip() for word in several))


def _key(word: str) -> str:
    """Capitals, blanks around a word and invisible characters in it do not change what it means."""
    return visible(word).casefold()


@dataclass(frozen=True)
class TextColumn:
    """A column of texts: the different ones in order, and which of them each row holds."""

    texts: tuple[str, ...]
    rows: NDArray[np.integer[Any]]

    def first(self, text: str) -> int:
        """The first row that holds a text."""
        return int(np.argmax(self.rows == self.texts.index(text)))

    def earliest(self, texts: Iterable[str]) -> tuple[int, str] | None:
        """Of some texts the one that comes first, with its row; None if there are no texts."""
        wanted = set(texts)
        if not wanted:
            return None
        row = int(np.argmax(np.array([text in wanted for text in self.texts])[self.rows]))
        return row, self.texts[self.rows[row]]


Column = checks.Ints | TextColumn


def as_column(name: str, values: ArrayLike) -> Column:
    """Labels or predictions of any array: whole numbers where there is nothing else, otherwise texts."""
    array = checks.as_array(name, values)
    if array.dtype.kind not in "USO" or array.ndim != 1 or not array.size:
        return checks.as_ints(name, array)
    if array.dtype.kind == "O":
        array = np.array(["" if one is None or one != one else str(one) for one in array.tolist()])  # noqa: PLR0124
    texts, rows = np.unique(np.char.strip(checks.as_text(name, array)), return_inverse=True)
    return as_numbers(TextColumn(tuple(texts.tolist()), rows))


def as_numbers(column: TextColumn) -> Column:
    """The numbers of a column in which every text is one, however it is written; else the column as it is."""
    numbers = [_integer(text) for text in column.texts]
    known = [number for number in numbers if number is not None and abs(number) < 2**62]
    return np.array(known, dtype=np.int64)[column.rows] if len(known) == len(numbers) else column


def _integer(text: str) -> int | None:
    return int(text) if re.fullmatch(r"[-+]?[0-9]{1,19}", text) else None


def whole(word: str) -> int | None:
    """The whole number a cell holds, also as a spreadsheet may write it (3.0)."""
    try:
        return int(word)
    except ValueError:
        try:
            value = float(word)
        except ValueError:
            return None
        return int(value) if value.is_integer() else None


@dataclass(frozen=True)
class Labels:
    """Labels and predictions by number, and the names of the classes if they have any."""

    labels: checks.Ints | None
    predictions: checks.Ints | None
    class_names: tuple[str, ...] | None


def read_labels(
    labels: Column | None,
    predictions: Column | None,
    class_names: Sequence[str] | None,
    *,
    words: LabelWords,
    where: Where = checks.name_row,
    nameless: str = "",
) -> Labels:
    """Numbers for whatever stands in the columns `label` and `prediction`.

    Without `class_names` the names that occur are the classes, in alphabetical order; `nameless` then says what to do
    where there are probabilities or logits too, whose columns have no names to be matched by.
    """
    columns = {"label": labels, "prediction": predictions}
    named = None if class_names is None else tuple(class_names)
    if named is None:
        named = _infer_names(columns, words, where)
        if named is not None and nameless:
            raise OpenSetError(f"labels are names ('{named[0]}') but {nameless.format(named[0])}")
        if named is not None:
            refuse_numbers(columns, named, where)
    elif twins := find_twins(named, capitals=False):
        raise OpenSetError(f"Of the known classes {how_they_differ(*twins)}: give them names that can be told apart.")
    return Labels(
        _numbered(labels, "label", named, words, where, open_words=True),
        _numbered(predictions, "prediction", named, words, where, open_words=False),
        named,
    )


def _infer_names(columns: Mapping[str, Column | None], words: LabelWords, where: Where) -> tuple[str, ...] | None:
    texts = {name: set(column.texts if isinstance(column, TextColumn) else ()) for name, column in columns.items()}
    classes = sorted(
        word
        for word in texts["label"] | texts["prediction"]
        if word in words.known
        or not (_NUMBER.match(word) or word.lower() in MISSING or words.meaning(word) is not None)
    )
    _ask_about_words([one for one in classes if one not in texts["prediction"]], columns["label"], words, where)
    if twins := find_twins([name for name in classes if name not in words.known], capitals=True):
        keep = " ".join(f"--known-class '{name}'" for name in twins)
        raise OpenSetError(
            f"The classes {how_they_differ(*twins)}, in {_places(twins, columns, where)}: make them one in the file, "
            f"or keep both with {keep} (known_classes in Python)."
        )
    return tuple(classes) or None


def _places(names: Sequence[str], columns: Mapping[str, Column | None], where: Where) -> str:
    """Where each name stands first."""
    found = (
        where(next(one.first(name) for one in columns.values() if isinstance(one, TextColumn) and name in one.texts))
        for name in names
    )
    return " and ".join(found)


def _ask_about_words(names: Sequence[str], column: Column | None, words: LabelWords, where: Where) -> None:
    """A class that is never predicted and is called almost 'unknown' is most likely no class."""
    for name in names:
        meant = None if name in words.known else meant_word(name)
        if meant is not None and isinstance(column, TextColumn):
            place = where(column.first(name))
            count = int((column.rows == column.texts.index(name)).sum())
            rows = "1 row" if count == 1 else f"{count:,} rows"
            raise OpenSetError(
                f"label is '{shortened(name)}' in {place} ({rows}) and is never predicted: did you mean {meant}? "
                f"--{meant}-label '{name}' reads it so, --known-class '{name}' keeps it as a class "
                f"({meant}_label and known_classes in Python)."
            )


def refuse_numbers(columns: Mapping[str, Column | None], named: Sequence[str], where: Where) -> None:
    """Where classes have names, a number of a class cannot be told from a mistake."""
    names = set(named)
    for name, column in columns.items():
        if column is None:
            continue
        if isinstance(column, TextColumn):
            texts = [word for word in column.texts if word not in names and (whole(word) or 0) >= 0]
            found = column.earliest(word for word in texts if whole(word) is not None)
        else:
            known = column >= 0
            found = (int(np.argmax(known)), str(column[np.argmax(known)])) if known.any() else None
        if found is not None:
            raise OpenSetError(
                f"{name} is {shortened(found[1])} in {where(found[0])}, but classes have names here "
                f"('{shortened(named[0])}'): use either."
            )


def _numbered(
    column: Column | None,
    name: str,
    named: Sequence[str] | None,
    words: LabelWords,
    where: Where,
    *,
    open_words: bool,
) -> checks.Ints | None:
    if column is None or not isinstance(column, TextColumn):
        return words.relabelled(column) if open_words and column is not None else column
    position = {word: number for number, word in enumerate(named or ())}

    def number(word: str) -> int | None:
        meaning = words.meaning(word) if open_words else None
        return position.get(word, meaning if meaning is not None else whole(word))

    numbers = {word: number(word) for word in column.texts}
    if bad := column.earliest(word for word, found in numbers.items() if found is None):
        raise OpenSetError(_bad_word(bad[1], name, named, words, where(bad[0])))
    if far := column.earliest(word for word, found in numbers.items() if abs(found or 0) >= checks.MOST_CLASSES):
        raise OpenSetError(
            f"{name} is '{shortened(far[1])}' in {where(far[0])}, which is too large for the number of a class."
        )
    return np.array(list(numbers.values()), dtype=np.int64)[column.rows]


def _bad_word(word: str, column: str, named: Sequence[str] | None, words: LabelWords, place: str) -> str:
    if word.lower() in MISSING:
        return f"{column} is missing in {place}."
    if words.meaning(word) is not None:
        return (
            f"prediction is '{word}' in {place}; a prediction is the best known class, "
            "and whether the sample is rejected follows from unknown_score."
        )
    near = next((name for name in named or () if visible(name).casefold() == visible(word).casefold()), None)
    hint = f" Did you mean '{near}'?" if near is not None else ""
    if near is not None and visible(near) == visible(word):
        hint = f" {how_they_differ(word, near)}."
    elif near is None and column == "label" and (meant := meant_word(word)):
        hint = f" Did you mean {meant}? Then add --{meant}-label '{word}' ({meant}_label in Python)."
    return f"{column} is '{shortened(word)}' in {place}, which is neither a number nor a class name.{hint}"
