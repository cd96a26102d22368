"""Text of strangers, as files can hold it and as terminals and sentences can show it."""

import re

_STEERING = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
"""What moves the cursor, colours, rings or turns the direction of writing; and half characters, which have no shape."""


def shown(text: str, *, lines: bool = True) -> str:
    """A text with everything that would steer a terminal spelt out; without `lines` also the ends of lines.

    >>> shown("cat" + chr(27) + "[2J") == "cat" + chr(92) + "x1b[2J"
    True
    """
    spelt = _STEERING.sub(lambda found: found[0].encode("unicode_escape").decode(), text)
    return spelt if lines else spelt.replace("\n", "\\n").replace("\t", "\\t")


def half_character(error: UnicodeEncodeError) -> str:
    """What is wrong with text that UTF-8 cannot hold: JSON can spell half of a pair, which is no character."""
    around = error.object[max(0, error.start - 20) : error.end + 20]
    return f"there is half a character, which no file can hold, in {around!r}"


def shortened(text: str) -> str:
    """A text as far as it fits into a sentence.

    >>> shortened("a" * 1000)
    'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa... (1,000 characters)'
    """
    return text if len(text) <= 60 else f"{text[:50]}... ({len(text):,} characters)"
