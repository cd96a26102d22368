import io
import os

import numpy as np
import pytest
from PIL import Image

CLASSES = ("cat", "dog", "fox")


@pytest.fixture(scope="session")
def photos(tmp_path_factory):
    """Seven photos of each of two classes and of something else, of different sizes."""
    root = tmp_path_factory.mktemp("photos")
    rng = np.random.default_rng(0)
    for name, colour in (("cat", 0), ("dog", 1), ("unknown", 2)):
        (root / name).mkdir()
        for number in range(7):
            pixels = rng.integers(0, 90, (40 + number, 50, 3), dtype=np.uint8)
            pixels[..., colour] += 150
            Image.fromarray(pixels).save(root / name / f"{number}.png")
    return root


@pytest.fixture(scope="session")
def vit(tmp_path_factory):
    """A small image classifier of transformers with random weights, saved as its users save theirs."""
    transformers = pytest.importorskip("transformers", reason="transformers is not installed")
    torch = pytest.importorskip("torch", reason="torch is not installed")
    torch.manual_seed(0)
    folder = tmp_path_factory.mktemp("vit")
    config = transformers.ViTConfig(
        hidden_size=16,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=32,
        image_size=32,
        patch_size=8,
        id2label=dict(enumerate(CLASSES)),
        label2id={name: number for number, name in enumerate(CLASSES)},
    )
    network = transformers.ViTForImageClassification(config)
    torch.nn.init.normal_(network.classifier.weight)
    with quietly():
        network.save_pretrained(folder)
        transformers.ViTImageProcessor(size={"height": 32, "width": 32}).save_pretrained(folder)
    return folder


@pytest.fixture(scope="session")
def bert(tmp_path_factory):
    """A small text classifier with a vocabulary of a few words."""
    transformers = pytest.importorskip("transformers", reason="transformers is not installed")
    torch = pytest.importorskip("torch", reason="torch is not installed")
    torch.manual_seed(0)
    folder = tmp_path_factory.mktemp("bert")
    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "pay", "the", "bill", "play", "music", "weather"]
    (folder / "vocab.txt").write_text("\n".join(words))
    config = transformers.BertConfig(
        vocab_size=len(words),
        hidden_size=16,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=32,
        max_position_embeddings=16,
        id2label={0: "pay", 1: "play"},
        label2id={"pay": 0, "play": 1},
    )
    network = transformers.BertForSequenceClassification(config)
    torch.nn.init.normal_(network.classifier.weight)
    with quietly():
        network.save_pretrained(folder)
        tokenizer = transformers.BertTokenizer(vocab={word: number for number, word in enumerate(words)})
        tokenizer.save_pretrained(folder)
    return folder


class quietly:  # noqa: N801
    """Without the bars of transformers."""

    def __enter__(self):
        from transformers.utils import logging

        logging.disable_progress_bar()
        logging.set_verbosity_error()

    def __exit__(self, *_):
        from transformers.utils import logging

        logging.enable_progress_bar()


def run(*words):
    """Exit code of a command."""
    from openset.cli import main

    try:
        main([str(word) for word in words])
    except SystemExit as end:
        return end.code or 0
    return 0


@pytest.fixture
def small_onnx(tmp_path):
    """Three classes of images of 4 x 4 pixels: the mean of each channel times a matrix; written by hand."""
    onnx = pytest.importorskip("onnx", reason="onnx is not installed")
    pytest.importorskip("onnxruntime", reason="onnxruntime is not installed")
    return make_onnx(onnx, tmp_path / "small.onnx")


WEIGHT = np.array([[4.0, 0.0, 0.0], [0.0, 4.0, 0.0], [1.0, 1.0, 1.0]], dtype=np.float32)
BIAS = np.array([0.5, 0.0, -0.5], dtype=np.float32)


def make_onnx(onnx, path, *, outputs=("logits",), batch="n", shape=("n", 3, 4, 4)):
    """A network by hand: GlobalAveragePool, Flatten, Gemm."""
    helper, numbers = onnx.helper, onnx.TensorProto.FLOAT
    shapes = {"logits": ["n", 3], "means": ["n", 3], "pooled": ["n", 3, 1, 1]}
    graph = helper.make_graph(
        [
            helper.make_node("GlobalAveragePool", ["pixels"], ["pooled"]),
            helper.make_node("Flatten", ["pooled"], ["means"]),
            helper.make_node("Gemm", ["means", "W", "b"], ["logits"], transB=1),
        ],
        "small",
        [helper.make_tensor_value_info("pixels", numbers, [batch, *shape[1:]])],
        [helper.make_tensor_value_info(name, numbers, shapes[name]) for name in outputs],
        [onnx.numpy_helper.from_array(WEIGHT, "W"), onnx.numpy_helper.from_array(BIAS, "b")],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    path.write_bytes(model.SerializeToString())
    return path


def picture_bytes(colour, size=(8, 8)):
    """A PNG file of one colour."""
    content = io.BytesIO()
    Image.new("RGB", size, colour).save(content, "png")
    return content.getvalue()


os.environ.setdefault("HF_HUB_OFFLINE", "1")
