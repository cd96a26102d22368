"""Text that files and terminals can hold."""


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
