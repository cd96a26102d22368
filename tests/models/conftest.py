import numpy as np
import pytest
from PIL import Image

from model_samples import CLASSES, make_onnx, quietly


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


@pytest.fixture
def small_onnx(tmp_path):
    """Three classes of images of 4 x 4 pixels: the mean of each channel times a matrix; written by hand."""
    onnx = pytest.importorskip("onnx", reason="onnx is not installed")
    pytest.importorskip("onnxruntime", reason="onnxruntime is not installed")
    return make_onnx(onnx, tmp_path / "small.onnx")
