"""Losses against values and gradients worked out by hand; s = softmax, e = 2.71828..."""

import math

import pytest
import torch

from openset.errors import OpenSetError
from openset.methods import (
    ARPLLoss,
    BackgroundLoss,
    CrossEntropyLoss,
    EntropicLoss,
    GCPLLoss,
    ObjectosphereLoss,
    OpenAUCLoss,
    RPLLoss,
)
from openset.methods._distance import Points
from openset.methods._mixing import MixPlan

LN2 = math.log(2)


def leaf(values):
    return torch.tensor(values, dtype=torch.float64).float().requires_grad_()


def check(value, expected, *gradients):
    """`gradients`: pairs of a leaf and what its gradient should be."""
    assert value.item() == pytest.approx(expected, abs=1e-6)
    value.backward()
    for tensor, wanted in gradients:
        torch.testing.assert_close(tensor.grad, torch.tensor(wanted), atol=1e-6, rtol=0)


def test_cross_entropy():
    logits = leaf([[math.log(3), 0.0], [0.0, 0.0]])  # shares 3/4, 1/4 and 1/2, 1/2
    check(
        CrossEntropyLoss()(logits, torch.tensor([0, 1])),
        (math.log(4 / 3) + LN2) / 2,
        (logits, [[-1 / 8, 1 / 8], [1 / 4, -1 / 4]]),
    )


def test_cross_entropy_skips_what_is_not_known():
    logits = leaf([[math.log(3), 0.0], [5.0, 0.0]])
    check(CrossEntropyLoss()(logits, torch.tensor([0, -1])), math.log(4 / 3), (logits, [[-0.25, 0.25], [0.0, 0.0]]))
    assert CrossEntropyLoss()(logits, torch.tensor([-1, -2])).item() == 0.0


def test_both_kinds_of_label_smoothing():
    labels = torch.tensor([0])
    z = torch.tensor([[2.0, 0.0, 0.0, 0.0]])
    log_sum = math.log(math.exp(2) + 3)
    assert CrossEntropyLoss(0.9, "uniform")(z, labels).item() == pytest.approx(log_sum - (0.1 + 0.9 / 4) * 2)
    assert CrossEntropyLoss(0.9, "others")(z, labels).item() == pytest.approx(log_sum - 0.1 * 2)
    torch_own = torch.nn.functional.cross_entropy(z, labels, label_smoothing=0.9)
    assert CrossEntropyLoss(0.9, "uniform")(z, labels).item() == pytest.approx(torch_own.item())


def test_points_are_squared_distances_per_dimension():
    points = Points(2, 2)
    points.points.data = torch.tensor([[0.0, 0.0], [3.0, 0.0]])
    torch.testing.assert_close(points(torch.tensor([[0.0, 4.0]])), torch.tensor([[8.0, 12.5]]))


def test_points_start_small():
    torch.manual_seed(0)
    assert Points(1000, 10).points.std().item() == pytest.approx(0.1, abs=0.005)


def test_gcpl():
    logits = leaf([[-1.0, -1.0]])
    check(GCPLLoss(weight=0.2)(logits, torch.tensor([1])), LN2 + 0.1, (logits, [[0.5, -0.5 - 0.1]]))


def test_gcpl_pulls_by_half_the_mean_square():
    """As in the authors' program, so that their weight of 0.1 means the same."""
    torch.manual_seed(0)
    embedding, labels, points = torch.randn(6, 5), torch.tensor([0, 1, 2, 0, 1, 2]), Points(5, 3)
    logits = -points(embedding)
    pull = GCPLLoss(weight=1.0)(logits, labels) - CrossEntropyLoss()(logits, labels)
    mean_square = torch.nn.functional.mse_loss(embedding, points.points[labels])
    assert pull.item() == pytest.approx(mean_square.item() / 2, rel=1e-5)


def test_distance_losses_with_a_temperature():
    """d = (1, 3), T = 1/2: logits 2 and 6 with a sign; the other term is of the distance itself."""
    labels = torch.tensor([0])
    for loss, sign, term, slope in (
        (GCPLLoss(0.2, temperature=0.5), -1, 0.2 * 1 / 2, -0.2 / 2 * 0.5),
        (RPLLoss(0.2, temperature=0.5), 1, 0.2 * 1, 0.2 * 2 * 1 * 0.5),
    ):
        logits = leaf([[sign * 2.0, sign * 6.0]])
        wrong = 1 / (1 + math.exp(sign * -4))
        check(loss(logits, labels), -math.log(1 - wrong) + term, (logits, [[-wrong + slope, wrong]]))
    with pytest.raises(OpenSetError, match="GCPLLoss: 'temperature' must be above 0, got 0"):
        GCPLLoss(temperature=0)


def test_rpl():
    loss, logits = RPLLoss(weight=0.2), leaf([[2.0, 2.0]])
    check(
        loss(logits, torch.tensor([0])),
        LN2 + 0.2 * 4,
        (logits, [[-0.5 + 0.2 * 4, 0.5]]),
        (loss.radius, -0.2 * 4.0),
    )


def test_arpl():
    loss, logits, distances = ARPLLoss(weight=0.2), leaf([[0.0, 0.0], [0.0, 0.0]]), leaf([[2.0, 9.0], [9.0, -3.0]])
    check(  # second sample: 0 - 3 + 1 < 0, inside the bound
        loss(logits, torch.tensor([0, 1]), distances),
        LN2 + 0.2 * 3 / 2,
        (logits, [[-0.25, 0.25], [0.25, -0.25]]),
        (distances, [[0.1, 0.0], [0.0, 0.0]]),
        (loss.radius, -0.1),
    )


def test_entropic():
    logits = leaf([[math.log(3), 0.0], [math.log(3), 0.0]])
    flat = (math.log(4 / 3) + math.log(4)) / 2
    check(
        EntropicLoss(negative_weight=0.5)(logits, torch.tensor([0, -1])),
        (math.log(4 / 3) + 0.5 * flat) / 2,
        (logits, [[-1 / 8, 1 / 8], [0.5 * (3 / 4 - 1 / 2) / 2, -0.5 * (1 / 2 - 1 / 4) / 2]]),
    )


def test_objectosphere():
    logits, embedding = leaf([[0.0, 0.0], [0.0, 0.0]]), leaf([[3.0, 4.0], [0.0, 2.0]])
    check(
        ObjectosphereLoss(radius=7.0, weight=0.5)(logits, torch.tensor([0, -1]), embedding),
        LN2 + 0.5 * ((7 - 5) ** 2 + 4) / 2,
        (embedding, [[-0.5 * 2 * 0.6, -0.5 * 2 * 0.8], [0.0, 1.0]]),
    )


def test_objectosphere_has_a_gradient_at_zero():
    embedding = leaf([[0.0, 0.0]])
    ObjectosphereLoss()(torch.zeros(1, 2), torch.tensor([0]), embedding).backward()
    assert torch.isfinite(embedding.grad).all()


def test_background_divides_by_samples_or_by_weights():
    weights = torch.tensor([1.0, 1.0, 0.1])
    logits = leaf([[0.0, 0.0, 0.0], [0.0, 0.0, 0.0]])
    labels = torch.tensor([0, -1])
    ln3 = math.log(3)
    check(
        BackgroundLoss(weights)(logits, labels),
        ln3 * 1.1 / 2,
        (logits, [[-1 / 3, 1 / 6, 1 / 6], [1 / 60, 1 / 60, -1 / 30]]),
    )
    assert BackgroundLoss(weights, "weights")(logits, labels).item() == pytest.approx(ln3)


def plan(first, second, share, usable, partner):
    return MixPlan(
        torch.tensor(first),
        torch.tensor(second),
        torch.tensor(share),
        torch.tensor(usable),
        None if partner is None else torch.tensor(partner),
    )


def test_openauc_with_slots():
    """Two right, one wrong. Mixtures of 0 and 1: max logit (1 + 1) / 2 = 1."""
    logits = leaf([[2.0, 0.0], [0.0, 2.0], [3.0, 1.0]])
    labels = torch.tensor([0, 1, 1])
    mixing = plan([0, 1, 2], [1, 0, 2], [0.5, 0.5, 0.5], [True, True, False], [0, 1, 2])
    cross = (2 * math.log1p(math.exp(-2)) + math.log1p(math.exp(2))) / 3
    # r(x) = -2, r(mixture) = -1: lead 1, square loss 0 ... so take weight on a changed lead below.
    check(OpenAUCLoss(0.7)(logits, labels, plan=mixing), cross)


def test_openauc_gradient_of_the_ranking():
    logits = leaf([[4.0, 0.0], [0.0, 2.0]])
    labels = torch.tensor([0, 1])
    mixing = plan([0, 1], [1, 0], [0.75, 0.75], [True, True], [0, 1])
    loss = OpenAUCLoss(1.0)
    # mixtures: (3, .5) and (1, 1.5): r = -3 and -1.5. Leads: -3 + 4 = 1 and -1.5 + 2 = .5; losses 0 and .25.
    risk = loss.auc_risk(logits, labels, mixing.mix(logits), mixing)
    # d/d lead_2 = -2 (1 - .5) / 2 = -.5; lead_2 = -(.25 z01 + .75 z11) + z11
    check(risk, 0.125, (logits, [[0.0, 0.5 * 0.25], [0.0, -0.5 * 0.25]]))


def test_openauc_switch():
    logits = torch.tensor([[0.0, 4.0], [0.0, 2.0]])  # the first is wrong
    labels = torch.tensor([0, 1])
    mixing = plan([0, 1], [1, 0], [0.5, 0.5], [True, True], [0, 1])
    # mixtures: max logit 3; leads 1 and -1, square losses 0 and 4; hinge the same
    assert OpenAUCLoss().auc_risk(logits, labels, mixing.mix(logits), mixing).item() == pytest.approx(4 / 2)
    flipped = torch.tensor([0, 0])
    assert OpenAUCLoss().auc_risk(logits, flipped, mixing.mix(logits), mixing).item() == 0.0
    assert OpenAUCLoss(switch=False).auc_risk(logits, flipped, mixing.mix(logits), mixing).item() == pytest.approx(2.0)


def test_openauc_with_halves_divides_by_the_pairs_that_count():
    """The known of the second pair is wrong. Mixtures (2, 1) twice: r = -2, lead of the first pair 0, cost 1."""
    logits = leaf([[2.0, 0.0], [3.0, 0.0], [4.0, 0.0], [0.0, 2.0]])
    labels = torch.tensor([0, 1, 0, 1])
    mixing = plan([2, 3], [3, 2], [0.5, 0.5], [True, True], [0, 1])
    risk = {
        pairing: OpenAUCLoss(pairing=pairing).auc_risk(logits, labels, mixing.mix(logits), mixing)
        for pairing in ("slots", "halves")
    }
    assert risk["slots"].item() == pytest.approx(0.5)  # eq. 17: over both pairs
    # lead = z00 - (z20 + z30) / 2, cost (1 - lead)^2, over one pair
    check(risk["halves"], 1.0, (logits, [[-2.0, 0.0], [0.0, 0.0], [1.0, 0.0], [1.0, 0.0]]))


def test_openauc_with_halves_and_slots_agree_where_all_are_right_and_where_none_is():
    logits = torch.tensor([[2.0, 0.0], [0.0, 3.0], [4.0, 0.0], [0.0, 2.0]])
    mixing = plan([2, 3], [3, 2], [0.3, 0.6], [True, True], [0, 1])
    halves, slots = OpenAUCLoss(pairing="halves"), OpenAUCLoss()
    for labels, same in ((torch.tensor([0, 1, 0, 1]), True), (torch.tensor([1, 0, 0, 1]), False)):
        risks = [loss.auc_risk(logits, labels, mixing.mix(logits), mixing).item() for loss in (halves, slots)]
        assert risks[0] == pytest.approx(risks[1])
        assert (risks[0] > 0) is same


def test_openauc_with_halves_is_larger_by_one_over_the_accuracy():
    torch.manual_seed(0)
    logits, labels = torch.randn(2000, 10), torch.arange(2000) % 10
    right = logits[:1000].argmax(dim=1) == labels[:1000]
    halves, slots = OpenAUCLoss(pairing="halves"), OpenAUCLoss()
    mixing = halves.plan(labels, seed=0)
    share = right[mixing.partner][mixing.usable].float().mean().item()
    risks = [loss.auc_risk(logits, labels, mixing.mix(logits), mixing).item() for loss in (halves, slots)]
    assert share < 0.15
    assert risks[0] == pytest.approx(risks[1] / share, rel=1e-5)


def test_openauc_of_an_odd_batch_ranks_too():
    torch.manual_seed(0)
    logits = torch.randn(33, 3)
    for pairing in ("slots", "halves", "all"):
        labels = logits.argmax(dim=1)
        loss = OpenAUCLoss(1.0, pairing=pairing)
        value = loss(logits, labels, plan=loss.plan(labels, seed=1))
        assert value.item() > CrossEntropyLoss()(logits, labels).item() + 0.01


@pytest.mark.parametrize(
    ("surrogate", "cost"),
    [
        ("square", lambda t: (1 - t) ** 2),
        ("squared_hinge", lambda t: max(0, 1 - t) ** 2),
        ("logistic", lambda t: math.log1p(math.exp(-t))),
    ],
)
def test_surrogates_on_leads_on_both_sides_of_one(surrogate, cost):
    logits = torch.tensor([[6.0, 0.0], [0.0, 2.0]])
    mixing = plan([0, 1], [1, 0], [0.5, 0.5], [True, True], [0, 1])  # mixtures: max logit 3; leads 3 and -1
    risk = OpenAUCLoss(surrogate=surrogate).auc_risk(logits, torch.tensor([0, 1]), mixing.mix(logits), mixing)
    assert risk.item() == pytest.approx((cost(3) + cost(-1)) / 2)


def test_openauc_by_probability():
    logits = torch.tensor([[math.log(3), 0.0], [0.0, math.log(3)]])
    mixing = plan([0], [1], [0.5], [True], [0])  # the mixture has equal shares: r = 1/2; the known r = 1/4
    risk = OpenAUCLoss(score="msp").auc_risk(logits, torch.tensor([0, 1]), mixing.mix(logits), mixing)
    assert risk.item() == pytest.approx(0.75**2)


def test_openauc_without_usable_mixtures_is_cross_entropy():
    logits, labels = torch.randn(6, 3), torch.zeros(6, dtype=torch.int64)
    for pairing in ("slots", "halves", "all"):
        assert OpenAUCLoss(pairing=pairing)(logits, labels).item() == pytest.approx(
            CrossEntropyLoss()(logits, labels).item()
        )


def test_openauc_wants_possible_options():
    with pytest.raises(OpenSetError, match=r"openauc: 'pairing' cannot be 'slot'. Did you mean 'slots'\?"):
        OpenAUCLoss(pairing="slot")
    with pytest.raises(OpenSetError, match="'logistic' over all pairs"):
        OpenAUCLoss(pairing="all", surrogate="logistic")
    with pytest.raises(OpenSetError, match="'alpha' must be above 0"):
        OpenAUCLoss(alpha=0)
