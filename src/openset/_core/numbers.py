"""One way to write a number, for every table, page and sentence."""


def number(value: float, digits: int = 3) -> str:
    """So many decimals, without the zero in front where there is nothing else: .912, 1.000, -.050."""
    text = f"{value:.{digits}f}"
    return text.replace("0.", ".", 1) if text.startswith(("0.", "-0.")) else text


def signed(value: float, digits: int = 3) -> str:
    """A difference: +.041, -.204."""
    text = number(value, digits)
    return text if text.startswith("-") else f"+{text}"


def counted(n: int, what: str) -> str:
    """A number of things: 1 run, 2 runs."""
    return f"{n:,} {what}" if n == 1 else f"{n:,} {what}s"


def span(low: float, high: float, digits: int = 3, *, sign: bool = False) -> str:
    """The ends of an interval: [.901, .923], or of a difference: [-.020, +.040]."""
    shown = signed if sign else number
    return f"[{shown(low, digits)}, {shown(high, digits)}]"


def interval(value: float, low: float | None, high: float | None, *, between: str = " ", digits: int = 3) -> str:
    """A value with its interval, where there is one: .912 [.901, .923]."""
    return number(value, digits) + ("" if low is None or high is None else between + span(low, high, digits))


def bounded(
    value: float,
    low: float | None,
    high: float | None,
    least: float | None,
    most: float | None,
    *,
    between: str = " ",
    digits: int = 3,
) -> str:
    """A value that lies between two bounds, which are shown if they differ as printed: .912 to .914 [.901, .923].

    >>> bounded(0.5, None, None, 0.4999, 0.5001), bounded(0.5, None, None, 0.498, 0.502)
    ('.500', '.498 to .502')
    """
    text = interval(value, low, high, between=between, digits=digits)
    if least is None or most is None or number(least, digits) == number(most, digits):
        return text
    return f"{number(least, digits)} to {number(most, digits)}" + text.removeprefix(number(value, digits))


def difference(value: float, low: float | None, high: float | None, digits: int = 3) -> str:
    """A difference with its interval, where there is one: +.011 [-.002, +.024]."""
    return signed(value, digits) + ("" if low is None or high is None else f" {span(low, high, digits, sign=True)}")


def mean_and_sd(mean: float, sd: float | None) -> str:
    """A mean with its standard deviation, where there is one: .912 ± .010."""
    return number(mean) + ("" if sd is None else f" ± {number(sd)}")


def scaled(
    value: float,
    sd: float | None = None,
    low: float | None = None,
    high: float | None = None,
    *,
    factor: float = 100.0,
    digits: int = 1,
    sign: bool = False,
) -> str:
    """A value times `factor`, as papers print percentages: 89.2 ± 1.9, or +1.1 [+0.2, +2.0]."""
    form = f"{{:{'+' if sign else ''}.{digits}f}}".format
    shown = form(factor * value + 0.0) + ("" if sd is None else f" ± {factor * sd:.{digits}f}")
    return shown if low is None or high is None else f"{shown} [{form(factor * low)}, {form(factor * high)}]"


def exact(value: float) -> str:
    """A threshold, with as few digits as tell it from others: rounded, it would lie on the other side of some score.

    >>> exact(0.1), exact(0.10000000149011612)
    ('0.1', '0.1')
    """
    import numpy as np

    with np.errstate(over="ignore"):
        single = np.float32(value)
    return str(single if float(single) == value else np.float64(value))


def percent(value: float, digits: int = 1) -> str:
    """A fraction in percent, never broken between lines: 93.4 %."""
    return f"{100 * value:.{digits}f}\u00a0%"


def percent_of(level: float) -> str:
    """A fraction that somebody chose, in percent with its own digits.

    >>> percent_of(0.95).split(), percent_of(0.995).split()
    (['95', '%'], ['99.5', '%'])
    """
    return f"{100 * level:.10g}\u00a0%"


def percents(value: float, low: float | None, high: float | None) -> str:
    """A fraction with its interval, in percent: 93.4 % [92.0 %, 94.1 %]."""
    return percent(value) + ("" if low is None or high is None else f" [{percent(low)}, {percent(high)}]")


def p_number(p_value: float) -> str:
    """A p-value in a column of p-values: <.001, .012."""
    return "<.001" if p_value < 0.001 else number(p_value)


def p_text(p_value: float) -> str:
    """A p-value in a sentence: p < .001, p = .012."""
    return "p\u00a0<\u00a0.001" if p_value < 0.001 else f"p\u00a0=\u00a0{number(p_value)}"
