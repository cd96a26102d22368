import pytest
import torch
from torch import nn

from openset.backbones import build_backbone
from openset.train.config import Optimizer
from openset.train.muon import Muon, orthogonal
from openset.train.optimize import make_optimizer


@pytest.mark.parametrize("shape", [(8, 30), (30, 8), (5, 5)])
def test_orthogonal_keeps_the_singular_vectors_and_makes_the_values_about_equal(shape):
    matrix = torch.randn(shape, generator=torch.Generator().manual_seed(0)).double()
    left, values, right = torch.linalg.svd(matrix, full_matrices=False)
    found = torch.diagonal(left.T @ orthogonal(matrix) @ right.T)
    torch.testing.assert_close(left @ torch.diag(found) @ right, orthogonal(matrix), atol=1e-6, rtol=0)
    large = values > 0.1 * values.max()
    assert ((found > 0.6) & (found < 1.3))[large].all()


def test_filters_move_by_the_learning_rate_whatever_the_size_of_the_gradient():
    torch.manual_seed(0)
    steps = []
    for size in (1e-3, 1e3):
        layer = nn.Conv2d(3, 4, 3, bias=False)
        nn.init.dirac_(layer.weight)
        layer.weight.data *= 7  # brought back to length 1 per filter
        layer.weight.grad = size * torch.ones_like(layer.weight)
        Muon(layer.parameters(), lr=0.1).step()
        plain = torch.zeros_like(layer.weight)
        nn.init.dirac_(plain)
        plain *= (4 / 3) ** 0.5  # three filters of length 1, brought to the total of four
        steps.append(layer.weight.detach() - plain)
    torch.testing.assert_close(*steps)
    assert 0.06 < torch.linalg.matrix_norm(steps[0].flatten(1), 2).item() < 0.13


def test_everything_else_moves_like_sgd_with_nesterov_momentum():
    torch.manual_seed(0)
    mine, plain = nn.Linear(4, 3), nn.Linear(4, 3)
    plain.load_state_dict(mine.state_dict())
    one = Muon(mine.parameters(), rest_lr=0.3, weight_decay=0.01)
    two = torch.optim.SGD(plain.parameters(), lr=0.3, momentum=0.85, weight_decay=0.01, nesterov=True)
    for _ in range(4):
        values = torch.randn(5, 4)
        for layer, optimizer in ((mine, one), (plain, two)):
            optimizer.zero_grad()
            layer(values).square().sum().backward()
            optimizer.step()
    torch.testing.assert_close(mine.weight, plain.weight)
    torch.testing.assert_close(mine.bias, plain.bias)


def test_it_learns_and_follows_the_recipe():
    torch.manual_seed(0)
    backbone = build_backbone("fastnet", (1, 8, 8), 2, width=4)
    head = nn.Linear(backbone.n_features, 2, bias=False)
    parameters = [*backbone.parameters(), *head.parameters()]
    optimizer = make_optimizer(Optimizer("muon", lr=0.1, rest_lr=0.5, momentum=0.6), parameters)
    assert [group["lr"] for group in optimizer.param_groups] == [0.1, 0.5]
    labels = torch.arange(32) % 2
    images = torch.rand(32, 1, 8, 8) * 0.5 + 0.5 * labels[:, None, None, None]
    for _ in range(20):
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(head(backbone(images)), labels)
        loss.backward()
        optimizer.step()
    assert loss.item() < 0.1
