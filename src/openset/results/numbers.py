"""One way to write a number, for every table, page and sentence."""


def number(value: float, digits: int = 3) -> str:
    """So many decimals, without the zero in front where there is nothing else.

    >>> number(0.912), number(1.0), number(-0.05), number(0.0314, 4)
    ('.912', '1.000', '-.050', '.0314')
    """
    text = f"{value:.{digits}f}"
    return text.replace("0.", ".", 1) if text.startswith(("0.", "-0.")) else text


def signed(value: float, digits: int = 3) -> str:
    """A difference.

    >>> signed(0.041), signed(-0.204)
    ('+.041', '-.204')
    """
    text = number(value, digits)
    return text if text.startswith("-") else f"+{text}"


def counted(n: int, what: str) -> str:
    """A number of things.

    >>> counted(1, "run"), counted(2, "run")
    ('1 run', '2 runs')
    """
    return f"{n:,} {what}" if n == 1 else f"{n:,} {what}s"


def interval(value: float, low: float | None, high: float | None, *, between: str = " ", digits: int = 3) -> str:
    """A value with its interval, where there is one.

    >>> interval(0.912, 0.901, 0.923), interval(0.912, None, None)
    ('.912 [.901, .923]', '.912')
    """
    return number(value, digits) + ("" if low is None or high is None else between + span(low, high, digits))


def span(low: float, high: float, digits: int = 3, *, sign: bool = False) -> str:
    """The ends of an interval.

    >>> span(0.901, 0.923), span(-0.02, 0.04, sign=True)
    ('[.901, .923]', '[-.020, +.040]')
    """
    shown = signed if sign else number
    return f"[{shown(low, digits)}, {shown(high, digits)}]"


def difference(value: float, low: float | None, high: float | None, digits: int = 3) -> str:
    """A difference with its interval, where there is one.

    >>> difference(0.011, -0.002, 0.024)
    '+.011 [-.002, +.024]'
    """
    return signed(value, digits) + ("" if low is None or high is None else f" {span(low, high, digits, sign=True)}")


def mean_and_sd(mean: float, sd: float | None) -> str:
    """A mean with its standard deviation, where there is one.

    >>> mean_and_sd(0.912, 0.01), mean_and_sd(0.912, None)
    ('.912 ± .010', '.912')
    """
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
    """A value times `factor`, as papers print percentages; with its standard deviation and interval, if any.

    >>> scaled(0.892, 0.019), scaled(0.011, low=0.002, high=0.02, sign=True)
    ('89.2 ± 1.9', '+1.1 [+0.2, +2.0]')
    """
    form = f"{{:{'+' if sign else ''}.{digits}f}}".format
    shown = form(factor * value + 0.0)
    if sd is not None:
        shown += f" ± {factor * sd:.{digits}f}"
    if low is not None and high is not None:
        shown += f" [{form(factor * low)}, {form(factor * high)}]"
    return shown


def percent(value: float) -> str:
    r"""A fraction in percent, never broken between lines.

    >>> percent(0.934)
    '93.4\xa0%'
    """
    return f"{100 * value:.1f}\u00a0%"


def percents(value: float, low: float | None, high: float | None) -> str:
    r"""A fraction with its interval, in percent.

    >>> percents(0.934, 0.92, 0.941).replace("\xa0", " ")
    '93.4 % [92.0 %, 94.1 %]'
    """
    return percent(value) + ("" if low is None or high is None else f" [{percent(low)}, {percent(high)}]")


def p_number(p_value: float) -> str:
    """A p-value in a column of p-values.

    >>> p_number(0.0004), p_number(0.012)
    ('<.001', '.012')
    """
    return "<.001" if p_value < 0.001 else number(p_value)


def p_text(p_value: float) -> str:
    r"""A p-value in a sentence.

    >>> p_text(0.0004).replace("\xa0", " "), p_text(0.012).replace("\xa0", " ")
    ('p < .001', 'p = .012')
    """
    return "p\u00a0<\u00a0.001" if p_value < 0.001 else f"p\u00a0=\u00a0{number(p_value)}"
