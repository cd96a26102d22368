"""Small models and what is needed to run commands on them."""

import io

import numpy as np
from PIL import Image

CLASSES = ("cat", "dog", "fox")


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
