"""Text that files and terminals can hold."""


def half_character(error: UnicodeEncodeError) -> str:
    """What is wrong with text that UTF-8 cannot hold: JSON can spell half of a pair, which is no character."""
    around = error.object[max(0, error.start - 20) : error.end + 20]
    return f"there is half a character, which no file can hold, in {around!r}"
