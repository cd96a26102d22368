import numpy as np
import pytest
import torch

from openset.methods._mixing import plan_mixing
from openset.methods._pairs import SURROGATES, mean_over_pairs

LABELS = torch.tensor([0, 1, 2, 0, 1, 2, 0, 1, 2, 2, 0])


@pytest.mark.parametrize("pairing", ["slots", "halves", "all"])
def test_mixtures_are_of_two_different_known_classes(pairing):
    labels = torch.cat([LABELS, torch.tensor([-1, -1])])
    plan = plan_mixing(labels, pairing, 2.0, seed=3)
    first, second = labels[plan.first], labels[plan.second]
    assert torch.equal(plan.usable, (first != second) & (first >= 0) & (second >= 0))
    assert plan.usable.any()
    assert not plan.usable.all()
    assert ((plan.share > 0) & (plan.share < 1)).all()


def test_slots_are_compared_with_themselves():
    plan = plan_mixing(LABELS, "slots", 2.0, seed=0)
    assert torch.equal(plan.partner, plan.first)
    assert torch.equal(plan.second.sort().values, torch.arange(11))
    assert len(plan.share.unique()) == 11


def test_halves_compare_the_mixed_second_half_with_the_first():
    plan = plan_mixing(LABELS, "halves", 2.0, seed=0)  # 11 samples: the last is in neither half
    assert plan.first.tolist() == [5, 6, 7, 8, 9]
    assert sorted(plan.second.tolist()) == [5, 6, 7, 8, 9]
    assert plan.partner.tolist() == [0, 1, 2, 3, 4]
    assert len(plan.share.unique()) == 1


def test_same_seed_same_mixtures():
    one, two, other = (plan_mixing(LABELS, "slots", 2.0, seed) for seed in (5, 5, 6))
    assert torch.equal(one.second, two.second)
    assert torch.equal(one.share, two.share)
    assert not torch.equal(one.share, other.share)


def test_shares_follow_the_beta_distribution():
    plan = plan_mixing(torch.arange(20000), "slots", 2.0, seed=1)
    assert plan.share.mean().item() == pytest.approx(0.5, abs=0.01)
    assert plan.share.var().item() == pytest.approx(0.05, abs=0.002)  # 1 / (4 (2 alpha + 1))


def test_mixing_works_on_any_shape():
    plan = plan_mixing(LABELS, "slots", 2.0, seed=1)
    images = torch.randn(11, 3, 4, 4)
    wanted = plan.share[2] * images[2] + (1 - plan.share[2]) * images[plan.second[2]]
    torch.testing.assert_close(plan.mix(images)[2], wanted)


@pytest.mark.parametrize("surrogate", ["square", "squared_hinge"])
@pytest.mark.parametrize("offset", [0.0, 30.0, -1000.0])
def test_sums_over_all_pairs_equal_the_slow_sum(surrogate, offset):
    rng = np.random.default_rng(0)
    for n, m in [(1, 1), (7, 5), (128, 128), (128, 3)]:
        known = torch.tensor(rng.normal(offset, 2, n), requires_grad=True)
        opened = torch.tensor(np.round(rng.normal(offset + 1, 2, m), 1), requires_grad=True)  # with ties
        switch, usable = torch.tensor(rng.random(n) < 0.7), torch.tensor(rng.random(m) < 0.7)
        cost = SURROGATES[surrogate](opened[None, :] - known[:, None])
        slow = (cost * switch[:, None] * usable[None, :]).sum() / (n * usable.sum().clamp(min=1))
        wanted = torch.autograd.grad(slow, (known, opened))
        fast = mean_over_pairs(known, switch, opened, usable, surrogate)
        found = torch.autograd.grad(fast, (known, opened))
        assert fast.item() == pytest.approx(slow.item(), rel=1e-9, abs=1e-9)
        for one, two in zip(found, wanted, strict=True):
            torch.testing.assert_close(one, two, rtol=1e-8, atol=1e-9)


@pytest.mark.parametrize("surrogate", ["square", "squared_hinge"])
def test_single_precision_scores_lose_no_digits(surrogate):
    torch.manual_seed(0)
    known, opened = torch.randn(256) - 40, torch.randn(256) - 38
    every = torch.ones(256, dtype=torch.bool)
    slow = SURROGATES[surrogate](opened.double()[None, :] - known.double()[:, None]).mean()
    assert mean_over_pairs(known, every, opened, every, surrogate).item() == pytest.approx(slow.item(), rel=1e-6)
