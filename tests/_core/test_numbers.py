import pytest

from openset._core import numbers


@pytest.mark.parametrize(
    ("call", "shown"),
    [
        (lambda n: n.number(0.912), ".912"),
        (lambda n: n.number(1.0), "1.000"),
        (lambda n: n.number(-0.05), "-.050"),
        (lambda n: n.number(10.5), "10.500"),
        (lambda n: n.number(0.0314, 4), ".0314"),
        (lambda n: n.signed(0.041), "+.041"),
        (lambda n: n.signed(-0.204), "-.204"),
        (lambda n: n.signed(0.0), "+.000"),
        (lambda n: n.counted(1, "run"), "1 run"),
        (lambda n: n.counted(2000, "run"), "2,000 runs"),
        (lambda n: n.span(0.901, 0.923), "[.901, .923]"),
        (lambda n: n.span(-0.02, 0.04, sign=True), "[-.020, +.040]"),
        (lambda n: n.interval(0.912, 0.901, 0.923), ".912 [.901, .923]"),
        (lambda n: n.interval(0.912, None, None), ".912"),
        (lambda n: n.difference(0.011, -0.002, 0.024), "+.011 [-.002, +.024]"),
        (lambda n: n.difference(0.011, None, None), "+.011"),
        (lambda n: n.mean_and_sd(0.912, 0.01), ".912 ± .010"),
        (lambda n: n.mean_and_sd(0.912, None), ".912"),
        (lambda n: n.scaled(0.892, 0.019), "89.2 ± 1.9"),
        (lambda n: n.scaled(0.011, low=0.002, high=0.02, sign=True), "+1.1 [+0.2, +2.0]"),
        (lambda n: n.scaled(-0.0, factor=1, digits=3), "0.000"),
        (lambda n: n.percent(0.934), "93.4\u00a0%"),
        (lambda n: n.percents(0.934, 0.92, 0.941), "93.4\u00a0% [92.0\u00a0%, 94.1\u00a0%]"),
        (lambda n: n.p_number(0.0004), "<.001"),
        (lambda n: n.p_number(0.012), ".012"),
        (lambda n: n.p_text(0.0004), "p\u00a0<\u00a0.001"),
        (lambda n: n.p_text(0.012), "p\u00a0=\u00a0.012"),
    ],
)
def test_one_way_to_write_a_number(call, shown):
    assert call(numbers) == shown
