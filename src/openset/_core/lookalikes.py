"""Names that are probably meant to be one: capitals, invisible characters, misspelt words for open-set samples."""

import unicodedata
from collections.abc import Iterable
from itertools import pairwise

_MEANT = {
    "unknown": {
        *("unk", "unkn", "unknowns", "unknownclass", "unknownunknown", "unknownunknowns", "uuc"),
        *("ood", "outofdistribution", "oos", "outofscope", "oodomain", "outofdomain", "oov", "outofvocabulary"),
        *("open", "openset", "openworld", "novel", "novelty", "novelclass", "unseen", "outlier", "anomaly"),
        *("reject", "rejected", "other", "others", "noneoftheabove", "idk", "dontknow", "idontknow"),
    },
    "negative": {"neg", "negatives", "negativeclass", "knownunknown", "knownunknowns", "kuc", "garbage"},
}
"""Words that data sets and papers use for open-set samples, without blanks, hyphens and capitals."""
_FARTHEST = {"unknown": 2, "negative": 1}
"""Slips of the pen that still leave a word recognisable; two of them make 'native' of 'negative'."""
_OTHER_MEANING = {"known", "knowns"}


def visible(text: str) -> str:
    """What a reader sees of a name: one composition of each letter, single blanks, no invisible characters.

    >>> visible("cafe" + chr(0x301) + "  " + chr(0x200B)) == "café"
    True
    """
    shown = "".join(" " if one.isspace() else one for one in text if one.isspace() or not _is_invisible(one))
    return " ".join(unicodedata.normalize("NFC", shown).split())


def _is_invisible(letter: str) -> bool:
    return unicodedata.category(letter) in ("Cc", "Cf") or "\ufe00" <= letter <= "\ufe0f"


def meant_word(name: str) -> str | None:
    """'unknown' or 'negative' where a name is close to it or another word for it, else None.

    >>> meant_word("unkown"), meant_word("Out-of-scope"), meant_word("negatve"), meant_word("unicorn")
    ('unknown', 'unknown', 'negative', None)
    """
    letters = "".join(letter for letter in visible(name).casefold() if letter.isalnum())
    if letters in _OTHER_MEANING:
        return None
    for word, synonyms in _MEANT.items():
        if letters in synonyms or _typing_errors(letters, word) <= _FARTHEST[word]:
            return word
    return None


def _typing_errors(written: str, word: str) -> int:
    """Letters left out, added, exchanged for another or with their neighbour: the distance of two words."""
    if abs(len(written) - len(word)) > max(_FARTHEST.values()):
        return len(word)
    before: list[int] = []
    row = list(range(len(word) + 1))
    for i, letter in enumerate(written, 1):
        before, last, row = row, before, [i]
        for j, wanted in enumerate(word, 1):
            best = min(before[j] + 1, row[j - 1] + 1, before[j - 1] + (letter != wanted))
            if i > 1 and j > 1 and letter == word[j - 2] and written[i - 2] == wanted:
                best = min(best, last[j - 2] + 1)
            row.append(best)
    return row[-1]


def find_twins(names: Iterable[str], *, capitals: bool) -> tuple[str, str] | None:
    """Two names that look the same; with `capitals` also two that differ in nothing but capitals.

    >>> find_twins(["cat", "dog", "Cat"], capitals=True), find_twins(["cat", "Cat"], capitals=False)
    (('Cat', 'cat'), None)
    """
    seen = sorted((visible(name).casefold() if capitals else visible(name), name) for name in set(names))
    return next(((one, two) for (first, one), (second, two) in pairwise(seen) if first == second), None)


def how_they_differ(one: str, two: str) -> str:
    """Both names, spelt so that a reader can tell them apart.

    >>> how_they_differ("Cat", "cat")
    "'Cat' and 'cat' differ in nothing but capitals or blanks"
    """
    if visible(one) != visible(two) or (one.isascii() and two.isascii()):
        return f"'{one}' and '{two}' differ in nothing but capitals or blanks"
    return f"{one!a} and {two!a} look the same and are written with different characters"
