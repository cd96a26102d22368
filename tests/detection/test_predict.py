"""Adapters for other libraries' detectors, on random weights: shapes, classes, background scores, dropout sampling.

torchvision's compiled part does not load beside every PyTorch; where it does not, its two operators are replaced by
slow ones written here, so that the rest of the library, and our adapter, run for real.
"""

import json
import subprocess
import sys
from importlib.util import find_spec

import numpy as np
import pytest

from detection_sets import make_truth
from openset.detection.adapters.detectors import Found, Settings, match_classes, read_weights
from openset.detection.adapters.predict import make_detector, predict
from openset.errors import OpenSetError

Image = pytest.importorskip("PIL.Image")
torch = pytest.importorskip("torch")

KNOWN = make_truth([], classes=("cat", "dog"), source="known.json")


def nms_slowly(boxes, scores, bar):
    order = scores.argsort(descending=True, stable=True)
    boxes = boxes[order]
    low = torch.maximum(boxes[:, None, :2], boxes[None, :, :2])
    high = torch.minimum(boxes[:, None, 2:], boxes[None, :, 2:])
    both = (high - low).clamp(min=0).prod(dim=-1)
    area = (boxes[:, 2:] - boxes[:, :2]).prod(dim=-1)
    clash = both > bar * (area[:, None] + area[None] - both)
    alive = torch.ones(len(boxes), dtype=torch.bool)
    for i in range(len(boxes)):
        if alive[i]:
            alive[i + 1 :] &= ~clash[i, i + 1 :]
    return order[alive]


def roi_align_slowly(features, rois, scale, height, width, *_):
    out = []
    for roi in rois:
        x1, y1, x2, y2 = (roi[1:] * scale).tolist()
        ys = torch.linspace(y1, y2, 2 * height + 1)[1::2]
        xs = torch.linspace(x1, x2, 2 * width + 1)[1::2]
        n_rows, n_columns = features.shape[2:]
        grid = torch.stack(
            torch.meshgrid(xs / max(n_columns - 1, 1) * 2 - 1, ys / max(n_rows - 1, 1) * 2 - 1, indexing="xy"), -1
        )
        out.append(torch.nn.functional.grid_sample(features[int(roi[0])][None], grid[None], align_corners=True)[0])
    return torch.stack(out) if out else features.new_zeros(0, features.shape[1], height, width)


@pytest.fixture(autouse=True, scope="module")
def one_thread():
    """Small networks on a busy machine: threads would mostly wait for one another."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


SLOW_OPERATORS = {
    "nms(Tensor dets, Tensor scores, float iou_threshold) -> Tensor": nms_slowly,
    "qnms(Tensor dets, Tensor scores, float iou_threshold) -> Tensor": nms_slowly,
    "roi_align(Tensor input, Tensor rois, float spatial_scale, SymInt pooled_height, SymInt pooled_width, "
    "int sampling_ratio, bool aligned) -> Tensor": roi_align_slowly,
}


@pytest.fixture(scope="module")
def working_torchvision():
    """torchvision with its compiled operators, or with slow ones, or None if it is not installed.

    A failed import leaves half of it registered in PyTorch, so whether it would fail is tried in another process.
    """
    if find_spec("torchvision") is None:
        return None
    if subprocess.run([sys.executable, "-c", "import torchvision"], capture_output=True, check=False).returncode:
        library = torch.library.Library("torchvision", "FRAGMENT")
        for schema, function in SLOW_OPERATORS.items():
            library.define(schema)
            library.impl(schema.partition("(")[0], function, "CPU")
        import torchvision

        for name in ("extension", "ops.boxes", "ops.roi_align"):
            sys.modules[f"torchvision.{name}"]._has_ops = lambda: True
            sys.modules[f"torchvision.{name}"]._assert_has_ops = lambda: None
        torchvision._kept_library = library  # it works only as long as it lives
    import torchvision

    return torchvision


@pytest.fixture(scope="module")
def torchvision(working_torchvision):
    if working_torchvision is None:
        pytest.skip("torchvision is not installed")
    return working_torchvision


@pytest.fixture
def pictures():
    random = np.random.default_rng(0)
    return [Image.fromarray(random.integers(0, 256, (80, 120, 3), dtype=np.uint8)) for _ in range(2)]


def save_random(torchvision, name, folder, seed=0):
    torch.manual_seed(seed)
    model = torchvision.models.get_model(name, weights=None, weights_backbone=None, num_classes=3)
    torch.save(model.state_dict(), folder / "weights.pt")
    return str(folder / "weights.pt")


def small(torchvision, name, settings):
    """A detector with random weights that sees small pictures, so that the test is quick."""
    from openset.detection.adapters import torchvision as predict_torchvision

    torch.manual_seed(0)
    model = torchvision.models.get_model(name, weights=None, weights_backbone=None, num_classes=3)
    model.transform.min_size, model.transform.max_size = (96,), 160
    return predict_torchvision.wrap(model, np.array([-1, 0, 1]), settings)


@pytest.mark.parametrize(
    ("name", "has_background"),
    [
        ("fasterrcnn_mobilenet_v3_large_320_fpn", True),
        ("maskrcnn_resnet50_fpn", True),
        ("ssdlite320_mobilenet_v3_large", True),
        ("retinanet_resnet50_fpn", False),
        ("fcos_resnet50_fpn", False),
    ],
)
def test_torchvision_detectors(torchvision, pictures, name, has_background):
    found = small(torchvision, name, Settings(min_score=0.005))(pictures)
    assert len(found) == 2
    for one in found:
        assert len(one.boxes) == len(one.labels) == len(one.scores) > 0
        assert (one.boxes[:, 2:] >= 0).all()
        assert (one.boxes[:, 0] + one.boxes[:, 2] <= 120.01).all()
        assert set(one.labels.tolist()) <= {-1, 0, 1}
        assert (one.scores >= 0.005).all()
        assert (one.background is not None) == has_background
        if has_background:
            assert len(one.background) == len(one.scores)
            assert (one.scores + one.background <= 1 + 1e-5).all()
            assert set(one.labels.tolist()) <= {0, 1}


def test_torchvision_weights_from_a_file(torchvision, pictures, tmp_path):
    name = "ssdlite320_mobilenet_v3_large"
    weights = save_random(torchvision, name, tmp_path)
    found = make_detector(f"torchvision:{name}", KNOWN, Settings(weights, min_score=0.005))(pictures[:1])
    expected = small(torchvision, name, Settings(min_score=0.005))  # the same seed, so the same weights
    assert found[0].scores == pytest.approx(expected(pictures[:1])[0].scores)


def test_background_belongs_to_the_row_of_the_detection(torchvision, pictures):
    """The score is in the softmax table of the regions; the background must be of the same region."""
    name = "fasterrcnn_mobilenet_v3_large_320_fpn"
    from openset.detection.adapters import torchvision as predict_torchvision

    torch.manual_seed(0)
    model = torchvision.models.get_model(name, weights=None, weights_backbone=None, num_classes=3)
    tables = []
    model.roi_heads.box_predictor.register_forward_hook(lambda m, i, out: tables.append(out[0].softmax(-1)))
    detector = predict_torchvision.wrap(model, np.array([-1, 0, 1]), Settings(min_score=0.005))
    found = detector(pictures[:1])[0]
    table = tables[0].double().numpy()
    for label, score, background in zip(found.labels, found.scores, found.background, strict=True):
        rows = np.flatnonzero(table[:, label + 1] == score)
        assert len(rows)
        assert background in table[rows, 0]


def test_dropout_sampling_of_an_rcnn(torchvision, pictures):
    name = "fasterrcnn_mobilenet_v3_large_320_fpn"

    def mean_background(passes, seed):
        detector = small(torchvision, name, Settings(min_score=0.0, passes=passes))
        torch.manual_seed(seed)
        return detector(pictures[:1])[0].background.mean()

    assert mean_background(1, 0) == mean_background(1, 1)
    assert mean_background(3, 0) == mean_background(3, 0)
    assert mean_background(3, 0) != mean_background(3, 1)
    with pytest.raises(OpenSetError, match="Dropout sampling needs a detector with a head of two fully connected"):
        small(torchvision, "fcos_resnet50_fpn", Settings(passes=3))


def test_sampled_head_is_the_plain_head_without_dropout(torchvision):
    from openset.detection.adapters.torchvision import _SampledHead

    torch.manual_seed(0)
    head = torchvision.models.detection.faster_rcnn.TwoMLPHead(12, 8)
    predictor = torchvision.models.detection.faster_rcnn.FastRCNNPredictor(8, 3)
    features = torch.randn(5, 3, 2, 2)
    logits, boxes = predictor(head(features))
    sampled, mean_boxes = _SampledHead(head, predictor, passes=4, p=0.0)(features)
    assert torch.allclose(sampled.softmax(-1), logits.softmax(-1), atol=1e-6)
    assert torch.allclose(mean_boxes, boxes, atol=1e-6)


def test_bad_torchvision_models_are_named(torchvision, tmp_path):
    with pytest.raises(OpenSetError, match="Did you mean 'fasterrcnn_resnet50_fpn'"):
        make_detector("torchvision:fasterrcn_resnet50_fpn", KNOWN, Settings())
    with pytest.raises(OpenSetError, match="Give --weights"):
        make_detector("torchvision:fasterrcnn_resnet50_fpn", KNOWN, Settings())
    weights = save_random(torchvision, "ssdlite320_mobilenet_v3_large", tmp_path)
    three = make_truth([], classes=("a", "b", "c"))
    with pytest.raises(OpenSetError, match="does not fit a ssdlite320_mobilenet_v3_large with 3 classes"):
        make_detector("torchvision:ssdlite320_mobilenet_v3_large", three, Settings(weights))


class Harmful:
    def __reduce__(self):
        return print, ("this must never run",)


def test_weights_run_no_code(tmp_path, capsys):
    import pickle

    torch.save({"a": torch.ones(2)}, tmp_path / "good.pt")
    assert read_weights(str(tmp_path / "good.pt"))["a"].tolist() == [1, 1]
    torch.save({"model": {"a": torch.ones(2)}, "epoch": 3}, tmp_path / "nested.pt")
    assert list(read_weights(str(tmp_path / "nested.pt"))) == ["a"]
    for name, content in (("bad.pt", pickle.dumps(Harmful())), ("junk.pt", b"junk"), ("junk.safetensors", b"junk")):
        (tmp_path / name).write_bytes(content)
        with pytest.raises(OpenSetError, match="does not hold plain weights"):
            read_weights(str(tmp_path / name))
    assert "never run" not in capsys.readouterr().out


# ---- transformers --------------------------------------------------------------------------------------------------


def small_yolos():
    from transformers import YolosConfig, YolosForObjectDetection

    return YolosForObjectDetection(
        YolosConfig(
            hidden_size=16, num_hidden_layers=1, num_attention_heads=2, intermediate_size=16, image_size=[64, 64],
            patch_size=16, num_detection_tokens=7, id2label={0: "Cat", 1: "elk"}, label2id={"Cat": 0, "elk": 1},
        )
    )  # fmt: skip


def small_detr():
    from transformers import DetrConfig, DetrForObjectDetection, ResNetConfig

    backbone = ResNetConfig(
        embedding_size=8, hidden_sizes=[8, 8, 16, 16], depths=[1, 1, 1, 1], layer_type="basic", out_features=["stage4"]
    )
    return DetrForObjectDetection(
        DetrConfig(
            use_timm_backbone=False, use_pretrained_backbone=False, backbone=None, backbone_config=backbone, d_model=16,
            encoder_layers=1, decoder_layers=2, encoder_ffn_dim=16, decoder_ffn_dim=16, encoder_attention_heads=2,
            decoder_attention_heads=2, num_queries=7, id2label={0: "Cat", 1: "elk"}, label2id={"Cat": 0, "elk": 1},
        )
    )  # fmt: skip


def small_rt_detr(kind="RTDetr"):
    import transformers

    backbone = transformers.RTDetrResNetConfig(
        embedding_size=8,
        hidden_sizes=[8, 8, 16, 16],
        depths=[1, 1, 1, 1],
        layer_type="basic",
        out_features=["stage2", "stage3", "stage4"],
    )
    config = getattr(transformers, f"{kind}Config")(
        backbone_config=backbone, use_pretrained_backbone=False, backbone=None, encoder_hidden_dim=16,
        encoder_in_channels=[8, 16, 16],
        encoder_ffn_dim=16, encoder_attention_heads=2, d_model=16, num_queries=9, decoder_in_channels=[16, 16, 16],
        decoder_ffn_dim=16, decoder_layers=2, decoder_attention_heads=2, id2label={0: "Cat", 1: "elk"},
        label2id={"Cat": 0, "elk": 1}, num_denoising=0,
    )  # fmt: skip
    return getattr(transformers, f"{kind}ForObjectDetection")(config)


def saved(make, folder, **preparation):
    pytest.importorskip("transformers")
    torch.manual_seed(0)
    make().save_pretrained(folder)
    (folder / "preprocessor_config.json").write_text(json.dumps(preparation))
    return f"transformers:{folder}"


@pytest.mark.usefixtures("working_torchvision")  # transformers imports it if it is there
@pytest.mark.parametrize(
    ("make", "has_background"),
    [(small_yolos, True), (small_detr, True), (small_rt_detr, False), (lambda: small_rt_detr("DFine"), False)],
    ids=["yolos", "detr", "rt_detr", "d_fine"],
)
def test_transformers_detectors(make, has_background, pictures, tmp_path):
    model = saved(make, tmp_path, size={"height": 64, "width": 64})
    [one, _] = make_detector(model, KNOWN, Settings(min_score=0.0))(pictures)
    assert len(one.boxes) == len(one.scores) == (7 if has_background else 18)
    assert set(one.labels.tolist()) <= {0, -1}  # "Cat" is our cat; "elk" is not known
    assert (one.background is not None) == has_background
    if has_background:
        assert (one.scores + one.background <= 1 + 1e-6).all()


@pytest.mark.parametrize(
    ("preparation", "width", "height"),
    [
        ({"size": {"height": 32, "width": 48}}, 48, 32),
        ({"size": {"shortest_edge": 40, "longest_edge": 90}}, 60, 40),
        ({"size": {"shortest_edge": 40, "longest_edge": 30}}, 30, 20),
        ({"size": 40, "max_size": 30}, 30, 20),
        ({"size": 40}, 60, 40),
        ({"size": {"max_height": 40, "max_width": 90}}, 60, 40),
        ({"size": {"max_height": 80, "max_width": 30}}, 30, 20),
        ({}, 1200, 800),
    ],
)
def test_transformers_pictures_have_the_size_that_the_model_wants(pictures, preparation, width, height):
    from openset.detection.adapters.transformers import Preparation

    assert pictures[0].size == (120, 80)
    assert Preparation(preparation)(pictures[0]).shape == (3, height, width)


@pytest.mark.parametrize("size", [{"longest_edge": 90}, {"height": 32}, [32, 48], "large"])
def test_other_ways_to_say_the_size_are_refused(size):
    from openset.detection.adapters.transformers import Preparation

    with pytest.raises(
        OpenSetError, match=r"preprocessor_config\.json of the model has the size .*: give it as height"
    ):
        Preparation({"size": size})


@pytest.mark.usefixtures("working_torchvision")  # transformers imports it if it is there
def test_transformers_boxes_are_in_pixels_of_the_picture(pictures, tmp_path):
    from transformers import AutoModelForObjectDetection

    model = saved(small_yolos, tmp_path, size={"height": 64, "width": 64}, do_normalize=False)
    [one] = make_detector(model, KNOWN, Settings(min_score=0.0))(pictures[:1])
    plain = AutoModelForObjectDetection.from_pretrained(tmp_path).eval()
    array = np.asarray(pictures[0].resize((64, 64)), dtype=np.float32).transpose(2, 0, 1) / 255
    with torch.no_grad():
        output = plain(pixel_values=torch.from_numpy(array)[None])
    x, y, w, h = output.pred_boxes[0].double().numpy().T
    assert one.boxes == pytest.approx(np.column_stack([(x - w / 2) * 120, (y - h / 2) * 80, w * 120, h * 80]), abs=1e-4)
    assert one.background == pytest.approx(output.logits[0].softmax(-1)[:, -1].double().numpy(), abs=1e-6)


@pytest.mark.usefixtures("working_torchvision")  # transformers imports it if it is there
def test_transformers_dropout_sampling(pictures, tmp_path):
    model = saved(small_detr, tmp_path / "detr", size={"height": 64, "width": 64})
    detector = make_detector(model, KNOWN, Settings(min_score=0.0, passes=3))
    first, second = (detector(pictures[:1])[0].scores for _ in range(2))
    assert not np.array_equal(first, second)
    model = saved(small_yolos, tmp_path / "yolos", size={"height": 64, "width": 64})  # its dropout is 0
    with pytest.raises(OpenSetError, match="every pass of this one gives the same"):
        make_detector(model, KNOWN, Settings(passes=3))(pictures[:1])


@pytest.mark.usefixtures("working_torchvision")  # transformers imports it if it is there
def test_bad_transformers_models_are_named(tmp_path):
    pytest.importorskip("transformers")
    (tmp_path / "empty").mkdir()
    with pytest.raises(OpenSetError, match="Cannot load the model"):
        make_detector(f"transformers:{tmp_path / 'empty'}", KNOWN, Settings())
    with pytest.raises(OpenSetError, match="leave out --weights"):
        make_detector("transformers:x", KNOWN, Settings("w.pt"))


# ---- running -------------------------------------------------------------------------------------------------------


def test_classes_are_matched_by_name():
    assert match_classes(["__background__", "Dog", "elk", "cat"], KNOWN).tolist() == [-1, 1, -1, 0]
    with pytest.raises(OpenSetError, match="have none in common"):
        match_classes(["elk", "cow"], KNOWN)


def test_bad_models_and_folders_are_named(tmp_path, pictures):
    with pytest.raises(OpenSetError, match=r"write it like 'torchvision:.*Did you mean 'torchvision'"):
        make_detector("torchvison:x", KNOWN, Settings())
    with pytest.raises(OpenSetError, match="'passes' must be 1 or more"):
        make_detector("yolo:x.npz", KNOWN, Settings(passes=0))
    with pytest.raises(OpenSetError, match="There are no images in"):
        predict(lambda images: [], KNOWN, tmp_path, tmp_path / "out.json")
    with pytest.raises(OpenSetError, match="There is no folder"):
        predict(lambda images: [], KNOWN, tmp_path / "none", tmp_path / "out.json")
    pictures[0].save(tmp_path / "one.png")
    with pytest.raises(OpenSetError, match=r"1 images of .* are not in .*, for example id 0"):
        predict(lambda images: [], KNOWN, tmp_path, tmp_path / "out.json", gt=make_truth([]))


def test_images_of_a_folder_are_called_by_name_and_those_of_a_file_by_id(tmp_path, pictures):
    for i, picture in enumerate(pictures):
        picture.save(tmp_path / f"{i}.png")

    def detector(images):
        return [
            Found(
                np.array([[0, 1, 2.00049, 3], [0, 0, 1, 1.0]]),
                np.array([1, -1]),
                np.array([0.5, 0.9]),
                np.array([0.25, 0]),
            )
            for _ in images
        ]

    assert predict(detector, KNOWN, tmp_path, tmp_path / "out.json", batch=1) == (2, 2)
    rows = json.loads((tmp_path / "out.json").read_text())
    expected = {"image_id": "0.png", "category_id": 1, "bbox": [0, 1, 2.0, 3], "score": 0.5, "background_score": 0.25}
    assert rows[0] == expected
    predict(detector, KNOWN, tmp_path, tmp_path / "out.json", gt=make_truth([], n_images=2))
    assert [row["image_id"] for row in json.loads((tmp_path / "out.json").read_text())] == [0, 1]


# ---- zero-shot -----------------------------------------------------------------------------------------------------


def clip_tokenizer(folder):
    """A tokenizer of letters, as CLIP's is built."""
    letters = [*"abcdefghijklmnopqrstuvwxyz", *(f"{letter}</w>" for letter in "abcdefghijklmnopqrstuvwxyz")]
    words = {word: i for i, word in enumerate([*letters, "<|startoftext|>", "<|endoftext|>"])}
    (folder / "vocab.json").write_text(json.dumps(words))
    (folder / "merges.txt").write_text("#version: 0.2\n")
    from transformers import CLIPTokenizer

    CLIPTokenizer(str(folder / "vocab.json"), str(folder / "merges.txt")).save_pretrained(folder)
    return len(words)


def owl(folder, kind):
    """A tiny OWL-ViT or OWLv2 of random weights."""
    import transformers

    n = clip_tokenizer(folder)
    small = {"hidden_size": 16, "intermediate_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2}
    text = {**small, "vocab_size": n, "max_position_embeddings": 24, "bos_token_id": n - 2, "eos_token_id": n - 1}
    config = getattr(transformers, f"{kind}Config")(
        text_config={**text, "pad_token_id": 0},
        vision_config={**small, "image_size": 32, "patch_size": 16},
        projection_dim=16,
    )
    torch.manual_seed(0)
    getattr(transformers, f"{kind}ForObjectDetection")(config).save_pretrained(folder)
    size = {"size": {"height": 32, "width": 32}, "do_normalize": False}
    (folder / "preprocessor_config.json").write_text(json.dumps(size))


def grounding_dino(folder):
    """A tiny Grounding DINO of random weights; its program knows the full stop by its number in BERT's list."""
    import transformers

    words = [f"[unused{i}]" for i in range(1100)]
    for place, word in {0: "[PAD]", 100: "[UNK]", 101: "[CLS]", 102: "[SEP]", 1012: ".", 5: "cat", 6: "dog"}.items():
        words[place] = word
    (folder / "vocab.txt").write_text("\n".join(words))
    transformers.BertTokenizer(str(folder / "vocab.txt")).save_pretrained(folder)
    config = transformers.GroundingDinoConfig(
        backbone_config=transformers.SwinConfig(
            image_size=64, embed_dim=8, depths=[1, 1, 1, 1], num_heads=[1, 1, 2, 2], window_size=2,
            out_features=["stage2", "stage3", "stage4"],
        ),
        text_config=transformers.BertConfig(
            vocab_size=1100, hidden_size=16, num_hidden_layers=1, num_attention_heads=2, intermediate_size=16,
        ),
        d_model=32, encoder_layers=1, decoder_layers=2, encoder_attention_heads=2, decoder_attention_heads=2,
        encoder_ffn_dim=16, decoder_ffn_dim=16, num_queries=12, max_text_len=16,
    )  # fmt: skip
    torch.manual_seed(0)
    transformers.GroundingDinoForObjectDetection(config).save_pretrained(folder)
    (folder / "preprocessor_config.json").write_text(json.dumps({"size": {"height": 128, "width": 128}}))


@pytest.mark.usefixtures("working_torchvision")  # transformers imports it if it is there
@pytest.mark.parametrize("kind", ["OwlViT", "Owlv2"])
def test_owl_is_asked_for_the_known_classes(kind, pictures, tmp_path):
    pytest.importorskip("transformers")
    owl(tmp_path, kind)
    [one, _] = make_detector(f"zero-shot:{tmp_path}", KNOWN, Settings(min_score=0.0))(pictures)
    assert sorted(one.labels.tolist()) == [0] * 4 + [1] * 4  # four places in the picture, each for both classes
    assert one.background is None
    # the same by hand: the picture (OWLv2: in the corner of a grey square), prompts, boxes as shares of it
    from transformers import AutoModelForZeroShotObjectDetection, AutoTokenizer

    model = AutoModelForZeroShotObjectDetection.from_pretrained(tmp_path).eval()
    words = ["a photo of a cat", "a photo of a dog"]
    text = AutoTokenizer.from_pretrained(tmp_path)(words, padding="max_length", max_length=24, return_tensors="pt")
    shown = pictures[0]
    if kind == "Owlv2":
        shown = Image.new("RGB", (120, 120), (127, 127, 127))
        shown.paste(pictures[0], (0, 0))
    pixels = torch.from_numpy(np.asarray(shown.resize((32, 32)), dtype=np.float32).transpose(2, 0, 1) / 255)
    with torch.no_grad():
        output = model(**{key: text[key] for key in ("input_ids", "attention_mask")}, pixel_values=pixels[None])
    scores = output.logits[0].sigmoid().double().numpy()
    assert np.sort(one.scores) == pytest.approx(np.sort(scores.ravel()), abs=1e-6)
    best = int(np.argmax(one.scores))
    query, label = np.unravel_index(scores.argmax(), scores.shape)
    x, y, w, h = output.pred_boxes[0, query].double().numpy()
    size = np.array([*shown.size, *shown.size])
    assert one.labels[best] == label
    assert one.boxes[best] == pytest.approx(np.array([x - w / 2, y - h / 2, w, h]) * size, abs=1e-3)


@pytest.mark.usefixtures("working_torchvision")
def test_grounding_dino_is_asked_for_the_known_classes(pictures, tmp_path):
    pytest.importorskip("transformers")
    grounding_dino(tmp_path)
    [one, _] = make_detector(f"zero-shot:{tmp_path}", KNOWN, Settings(min_score=0.0))(pictures)
    assert sorted(one.labels.tolist()) == [0] * 12 + [1] * 12
    from transformers import AutoModelForZeroShotObjectDetection

    model = AutoModelForZeroShotObjectDetection.from_pretrained(tmp_path).eval()
    normal = (np.asarray(pictures[0].resize((128, 128)), dtype=np.float32) / 255 - [0.485, 0.456, 0.406]) / [
        0.229,
        0.224,
        0.225,
    ]
    pixels = torch.from_numpy(normal.astype(np.float32).transpose(2, 0, 1))[None]
    ids = torch.tensor([[101, 5, 1012, 6, 1012, 102]])  # [CLS] cat . dog . [SEP]
    with torch.no_grad():
        output = model(pixel_values=pixels, input_ids=ids, attention_mask=torch.ones_like(ids))
    scores = output.logits[0].sigmoid()[:, [1, 3]].double().numpy()
    assert np.sort(one.scores) == pytest.approx(np.sort(scores.ravel()), abs=1e-5)
    long = make_truth([], classes=tuple(f"cat {i}" for i in range(9)), source="known.json")
    with pytest.raises(OpenSetError, match=r"names of 9 classes are \d+ tokens, and this model reads 16: give fewer"):
        make_detector(f"zero-shot:{tmp_path}", long, Settings())


@pytest.mark.usefixtures("working_torchvision")
def test_zero_shot_models_that_cannot_be_used_are_named(tmp_path):
    pytest.importorskip("transformers")
    for settings, words in (
        (Settings(weights="x"), "brings its weights"),
        (Settings(passes=3), "Dropout sampling is not made for zero-shot"),
        (Settings(), "Cannot load the model"),
    ):
        with pytest.raises(OpenSetError, match=words):
            make_detector(f"zero-shot:{tmp_path}", KNOWN, settings)
