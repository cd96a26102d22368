import pytest
import torch

from openset.train.augment import augment, center_crop, cutout, random_crop, views
from openset.train.config import Augment, Schedule
from openset.train.optimize import rate_factor
from openset.train.randaugment import OPERATIONS, randaugment
from openset.train.randomness import derive, epoch_order, turns


def images(n=16, channels=3, side=12):
    return torch.rand(n, channels, side, side, generator=torch.Generator().manual_seed(0))


def generator():
    return torch.Generator().manual_seed(1)


ALL = Augment(randaugment=(2, 15), crop_padding=2, flip=True, cutout=4)


def test_same_seed_same_images():
    torch.testing.assert_close(augment(images(), ALL, 3), augment(images(), ALL, 3), rtol=0, atol=0)
    assert not torch.equal(augment(images(), ALL, 3), augment(images(), ALL, 4))


def test_it_does_not_touch_the_global_generator():
    torch.manual_seed(0)
    wanted = torch.rand(1)
    torch.manual_seed(0)
    augment(images(), ALL, 3)
    assert torch.equal(torch.rand(1), wanted)


def test_nothing_asked_nothing_done():
    assert torch.equal(augment(images(), Augment(), 3), images())


def test_a_crop_is_a_window_of_the_image():
    source = torch.arange(2 * 6 * 6).float().view(2, 1, 6, 6)
    cut = random_crop(source, (4, 4), generator())
    for one, whole in zip(cut[:, 0], source[:, 0], strict=True):
        windows = [whole[top : top + 4, left : left + 4] for top in range(3) for left in range(3)]
        assert any(torch.equal(one, window) for window in windows)


def test_padding_by_reflection_shows_no_black_border():
    white = torch.ones(50, 1, 8, 8)
    assert augment(white, Augment(crop_padding=3), 0).min() == 0
    assert augment(white, Augment(crop_padding=3, padding="reflect"), 0).min() == 1


@pytest.mark.parametrize("n", [1, 2, 3, 6])
def test_views_are_shifts_and_mirror_images_with_weights_that_add_up(n):
    source = torch.zeros(1, 1, 7, 7)
    source[0, 0, 3, 2] = 1
    seen = [(weight, torch.nonzero(view[0, 0]).tolist()) for weight, view in views(source, n)]
    assert sum(weight for weight, _ in seen) == 1
    plain, mirrored = [[[3, 2]], [[4, 3]], [[2, 1]]], [[[3, 4]], [[4, 3]], [[2, 5]]]
    both = [one for pair in zip(plain, mirrored, strict=True) for one in pair]
    assert [place for _, place in seen] == {1: plain[:1], 2: both[:2], 3: plain, 6: both}[n]


def test_vectors_have_one_view():
    assert [weight for weight, _ in views(torch.rand(3, 4), 6)] == [1.0]


def test_flips_mirror_about_half():
    source = images(200)
    out = augment(source, Augment(flip=True), 0)
    same = (out == source).flatten(1).all(1)
    mirrored = (out == source.flip(3)).flatten(1).all(1)
    assert (same ^ mirrored).all()
    assert 60 < int(same.sum()) < 140


def test_flips_in_turn_mirror_every_image_in_every_other_epoch():
    source, odd = images(8), torch.tensor([True, False] * 4)
    for epoch in range(4):
        mirrored = odd if epoch % 2 else ~odd
        wanted = torch.where(mirrored[:, None, None, None], source.flip(3), source)
        config = Augment(flip=True, flip_in_turn=True)
        assert torch.equal(augment(source, config, epoch, epoch=epoch, odd=odd), wanted)
    drawn = turns(1000, 0)
    assert 400 < drawn.sum() < 600
    assert (drawn == turns(1000, 0)).all()
    assert (drawn != turns(1000, 1)).any()


def test_images_are_small_in_the_first_epochs_only():
    config = Augment(shrink=6, shrink_epochs=2)
    assert [augment(images(), config, 0, epoch=epoch).shape[3] for epoch in range(3)] == [6, 6, 12]
    grey = torch.full((2, 3, 12, 12), 0.25)
    torch.testing.assert_close(augment(grey, config, 0), grey[:, :, :6, :6])
    assert augment(images(), Augment(shrink=20, shrink_epochs=1), 0).shape[2:] == (12, 12)  # never larger


def test_cutout_blanks_a_square():
    out = cutout(torch.zeros(50, 3, 12, 12), 4, generator())
    sizes = (out[:, 0] == 0.5).flatten(1).sum(1)
    assert sizes.max() == 16
    assert sizes.min() >= 4  # a square at the border is cut off


def test_random_crop_in_training_middle_otherwise():
    config = Augment(crop=8)
    assert augment(images(), config, 0).shape[2:] == (8, 8)
    assert torch.equal(center_crop(images(), config), images()[:, :, 2:10, 2:10])


@pytest.mark.parametrize("channels", [1, 3])
@pytest.mark.parametrize("name", OPERATIONS)
def test_operations_stay_in_range_and_do_nothing_much_at_zero(name, channels):
    source = images(4, channels)
    amounts = torch.tensor([-1.0, -0.3, 0.3, 1.0]).view(-1, 1, 1, 1)
    out = OPERATIONS[name](source, amounts).clamp(0, 1)
    assert out.shape == source.shape
    assert torch.isfinite(out).all()
    if name not in ("autocontrast", "equalize"):
        still = OPERATIONS[name](source, torch.zeros(4, 1, 1, 1))
        torch.testing.assert_close(still, source, atol=1 / 255 + 1e-5, rtol=0)
    changes = {"identity": False}.get(name, channels == 3 or name != "color")
    assert (not torch.allclose(out, source, atol=1e-3)) == changes


def test_rotation_by_a_right_angle_is_rot90(monkeypatch):
    monkeypatch.setattr("openset.train.randaugment.math.radians", lambda _: torch.pi / 2)
    source = images(1)
    turned = OPERATIONS["rotate"](source, torch.ones(1, 1, 1, 1))
    assert any(torch.allclose(turned, source.rot90(k, (2, 3)), atol=1e-4) for k in (1, 3))


def test_equalize_gives_equal_frequencies():
    source = (torch.arange(144).float() / 400).view(1, 1, 12, 12)
    out = OPERATIONS["equalize"](source, torch.zeros(1, 1, 1, 1))
    assert out.min() == 0
    assert out.max() == 1
    assert out.mean().item() == pytest.approx(0.5, abs=0.02)


def test_more_magnitude_more_change():
    weak, strong = (randaugment(images(64), 1, m, generator()) for m in (3, 25))
    assert (strong - images(64)).abs().mean() > 1.5 * (weak - images(64)).abs().mean()


def test_seeds_depend_on_every_number():
    assert len({derive(0, 1, 2), derive(0, 2, 1), derive(1, 1, 2), derive(0, 1, 2, 0)}) == 4
    assert sorted(epoch_order(9, 0, 1).tolist()) == list(range(9))
    assert epoch_order(9, 0, 1).tolist() != epoch_order(9, 0, 2).tolist()


def test_the_course_of_the_learning_rate():
    published = Schedule("cosine", restarts=2, warmup_epochs=10)
    rates = [rate_factor(published, 600, epoch) for epoch in (0, 5, 100, 200, 300, 400, 599.99)]
    assert rates[0] < 0.01
    assert rates[1:] == pytest.approx([0.5 * 0.9985, 0.5, 1.0, 0.5, 1.0, 0.0], abs=1e-3)
    steps = Schedule("step", milestones=(30, 60, 90))
    assert [rate_factor(steps, 100, epoch) for epoch in (29.9, 30, 60, 95)] == pytest.approx([1, 0.1, 0.01, 0.001])
    assert rate_factor(Schedule("constant"), 10, 7) == 1.0
