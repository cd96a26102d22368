"""The small detector: scenes, decoding, the loss by hand, suppression, and that it can learn."""

import math

import numpy as np
import pytest

from detection_textbook import iou_by_hand

pytest.importorskip("PIL.Image")
torch = pytest.importorskip("torch")

from openset.detection.adapters.heads import HEADS  # noqa: E402
from openset.detection.adapters.yolo import ANCHORS, SmallYolo, assign, decode, detect, loss, pair_iou, suppress, train  # noqa: E402
from openset.detection.scenes import KNOWN, SIZE, UNKNOWN, coco_scenes, draw_scenes, labels, pixels  # noqa: E402


def test_scenes_repeat_and_keep_to_their_shapes():
    first, again, other = (draw_scenes(20, UNKNOWN, seed=seed) for seed in (1, 1, 2))
    assert np.array_equal(pixels(first), pixels(again))
    assert not np.array_equal(pixels(first), pixels(other))
    assert not set(KNOWN) & set(UNKNOWN)
    assert {name for scene in first for name in scene.names} == set(UNKNOWN)
    for scene in first:
        assert 1 <= len(scene.names) <= 3
        assert (scene.boxes[:, :2] >= 0).all()
        assert (scene.boxes[:, :2] + scene.boxes[:, 2:] <= SIZE).all()
        for i in range(len(scene.boxes)):
            assert all(iou_by_hand(scene.boxes[i], scene.boxes[j]) == 0 for j in range(i))


def test_boxes_fit_the_shapes_that_are_drawn():
    """Inside a box the picture differs from the background, just outside it does not (noise and blur aside)."""
    from openset.detection.scenes import draw_scene

    for seed in range(10):
        scene = draw_scene(np.random.default_rng(seed), ["square"], most=1)
        image = np.asarray(scene.picture, dtype=float)
        x, y, w, h = scene.boxes[0]
        ground = np.median(image.reshape(-1, 3), axis=0)
        far = np.abs(image - ground).sum(axis=2) > 90
        rows, columns = np.nonzero(far)
        assert abs(np.quantile(columns, 0.01) - x) < 4
        assert abs(np.quantile(columns, 0.99) + 1 - (x + w)) < 4
        assert abs(np.quantile(rows, 0.01) - y) < 4
        assert abs(np.quantile(rows, 0.99) + 1 - (y + h)) < 4


def test_scenes_as_coco():
    content = coco_scenes(draw_scenes(3, KNOWN, seed=0), KNOWN, prefix="known", first_id=7)
    assert [image["id"] for image in content["images"]] == [7, 8, 9]
    assert {one["image_id"] for one in content["annotations"]} == {7, 8, 9}
    assert [one["name"] for one in content["categories"]] == list(KNOWN)


def test_decode_by_hand():
    raw = torch.zeros(1, 12, 12, 2, 6)
    raw[0, 3, 5, 1, 2] = math.log(2)
    box = decode(raw)
    # centre of the cell (5.5 x 8, 3.5 x 8) = (44, 28); second anchor 32 x 32, twice as wide
    assert box[0, 3, 5, 1].tolist() == pytest.approx([44 - 32, 28 - 16, 64, 32])
    assert box.shape == (1, 12, 12, 2, 4)


def test_heads_read_their_outputs_by_hand():
    score, background = HEADS["objectness"].read(torch.tensor([0.0, math.log(3), -math.log(3)]))
    assert score.tolist() == pytest.approx([0.5 * 0.75, 0.5 * 0.25])
    assert float(background) == 0.5
    score, background = HEADS["background"].read(torch.log(torch.tensor([0.2, 0.3, 0.5])))
    assert score.tolist() == pytest.approx([0.2, 0.3])
    assert float(background) == pytest.approx(0.5)
    score, background = HEADS["one_versus_rest"].read(torch.tensor([math.log(3), -math.log(3)]))
    assert score.tolist() == pytest.approx([0.75, 0.25])
    assert float(background) == pytest.approx(0.25)


def test_assignment_by_hand():
    targets = assign(
        [np.array([[40.0, 24, 18, 22], [0, 0, 40, 40]]), np.zeros((0, 4))], [np.array([2, 0]), np.zeros(0, int)]
    )
    assert [part.tolist() for part in targets.place] == [
        [0, 0],
        [4, 2],
        [6, 2],
        [0, 1],
    ]  # centre (49, 35) is row 4, column 6
    assert targets.label.tolist() == [2, 0]


def test_loss_by_hand():
    """One object that sits at the centre of a cell with the size of an anchor, nothing predicted (all zeros)."""
    head = HEADS["objectness"]
    raw = torch.zeros(1, 12, 12, 2, 4 + head.n_outputs(4), requires_grad=True)
    width, height = ANCHORS[0]
    box = np.array([[44 - width / 2, 28 - height / 2, width, height]])
    value = loss(raw, assign([box], [np.array([1])]), head)
    # objectness: .5 log 2 in each of 287 other places, 5 log 2 for the one that fits perfectly (IoU 1);
    # place and size are exact; four classes at log 2 each
    assert float(value.detach()) == pytest.approx((0.5 * 287 + 5 + 4) * math.log(2), rel=1e-6)
    value.backward()
    gradient = raw.grad[0, 3, 5, 0]
    assert gradient.tolist() == pytest.approx([0, 0, 0, 0, -2.5, 0.5, -0.5, 0.5, 0.5])
    assert float(raw.grad[0, 0, 0, 0, 4]) == pytest.approx(0.25)


@pytest.mark.parametrize(
    ("name", "value", "at_object", "elsewhere"),
    [
        # softmax over four classes and background: log 5 each; p - 1 for what is wanted, p for the rest
        ("background", (0.5 * 287 + 5) * math.log(5), [1, -4, 1, 1, 1], [0.1, 0.1, 0.1, 0.1, -0.4]),
        # four binary decisions, log 2 each
        ("one_versus_rest", (0.5 * 287 + 5) * 4 * math.log(2), [2.5, -2.5, 2.5, 2.5], [0.25] * 4),
    ],
)
def test_losses_of_the_other_heads_by_hand(name, value, at_object, elsewhere):
    head = HEADS[name]
    raw = torch.zeros(1, 12, 12, 2, 4 + head.n_outputs(4), requires_grad=True)
    width, height = ANCHORS[0]
    found = loss(raw, assign([np.array([[44 - width / 2, 28 - height / 2, width, height]])], [np.array([1])]), head)
    assert float(found.detach()) == pytest.approx(value, rel=1e-6)
    found.backward()
    assert raw.grad[0, 3, 5, 0].tolist() == pytest.approx([0, 0, 0, 0, *at_object])
    assert raw.grad[0, 0, 0, 0].tolist() == pytest.approx([0, 0, 0, 0, *elsewhere])


def test_iou_and_suppression():
    boxes = torch.tensor([[0.0, 0, 10, 10], [1, 0, 10, 10], [2, 0, 10, 10], [0, 0, 10, 10]])
    assert float(pair_iou(boxes[0], boxes[1])) == pytest.approx(iou_by_hand([0, 0, 10, 10], [1, 0, 10, 10]))
    # the second falls to the first; the third overlaps the first less than the bar; the fourth has another class
    assert suppress(boxes, torch.tensor([0, 0, 0, 1]), 0.7).tolist() == [0, 2, 3]


@pytest.mark.slow
@pytest.mark.parametrize("head", HEADS)
def test_learns_a_handful_of_scenes_by_heart(head):
    scenes = draw_scenes(8, KNOWN, seed=3)
    boxes, classes = [scene.boxes for scene in scenes], labels(scenes, KNOWN)
    values = []
    options = {"steps": 150, "batch": 8, "head": head, "report": lambda _, value: values.append(value)}
    model = train(pixels(scenes), boxes, classes, len(KNOWN), **options)
    assert values[-1] < values[0] / 10
    found = detect(model, pixels(scenes), min_score=0.3)
    right = total = 0
    for (box, label, _, _), true_box, true_label in zip(found, boxes, classes, strict=True):
        for one, name in zip(true_box, true_label, strict=True):
            total += 1
            right += any(iou_by_hand(b, one) >= 0.5 and c == name for b, c in zip(box, label, strict=True))
    assert right / total >= 0.9


def test_same_seed_same_detector():
    scenes = draw_scenes(8, KNOWN, seed=3)
    boxes, classes = [scene.boxes for scene in scenes], labels(scenes, KNOWN)
    weights = [train(pixels(scenes), boxes, classes, 4, steps=3, seed=s).head.weight for s in (1, 1, 2)]
    assert torch.equal(weights[0], weights[1])
    assert not torch.equal(weights[0], weights[2])


def test_the_background_is_what_objectness_leaves():
    torch.manual_seed(0)
    model = SmallYolo(1)
    images = np.random.default_rng(0).integers(0, 256, (1, 3, SIZE, SIZE), dtype=np.uint8)
    [(_, _, score, background)] = detect(model, images, min_score=0.0, nms=1.0)
    with torch.no_grad():
        outputs = model.eval()(torch.from_numpy(images) / 255)[..., 4:].sigmoid()
    order = (outputs[..., 0] * outputs[..., 1]).flatten().argsort(descending=True, stable=True)[: len(score)]
    assert background == pytest.approx(1 - outputs[..., 0].flatten()[order].numpy(), abs=1e-6)


def test_dropout_sampling_averages_passes():
    torch.manual_seed(0)
    model = SmallYolo(2, dropout=0.5)
    images = np.random.default_rng(0).integers(0, 256, (1, 3, SIZE, SIZE), dtype=np.uint8)

    def scores(passes):
        torch.manual_seed(1)
        return detect(model, images, min_score=0.0, passes=passes, nms=1.0)[0][2]

    assert np.array_equal(scores(1), detect(model, images, min_score=0.0, nms=1.0)[0][2])  # one pass: no dropout
    spread = [
        np.std([detect(model, images, min_score=0.0, passes=n, nms=1.0)[0][2][0] for _ in range(12)]) for n in (2, 60)
    ]
    assert 0 < spread[1] < spread[0]
    assert not model.dropout.training
