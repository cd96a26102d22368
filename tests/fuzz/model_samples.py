"""Small models as ONNX files, pictures and lists of them: what `openset outputs` and `openset predict` are given."""

from pathlib import Path

import numpy as np

CLASSES = ("cat", "dog", "owl")


def write_model_samples(folder: Path) -> None:
    """A network by hand, the training run as ONNX, a folder of pictures and lists of them."""
    import onnx

    from openset.models.exporting import export_onnx
    from openset.models.runs import open_run_folder

    helper, numbers = onnx.helper, onnx.TensorProto.FLOAT
    graph = helper.make_graph(
        [
            helper.make_node("GlobalAveragePool", ["pixels"], ["pooled"]),
            helper.make_node("Flatten", ["pooled"], ["means"]),
            helper.make_node("Gemm", ["means", "W", "b"], ["logits"], transB=1),
        ],
        "small",
        [helper.make_tensor_value_info("pixels", numbers, ["n", 3, 4, 4])],
        [helper.make_tensor_value_info("logits", numbers, ["n", 3])],
        [
            onnx.numpy_helper.from_array(np.eye(3, dtype=np.float32) * 4, "W"),
            onnx.numpy_helper.from_array(np.zeros(3, dtype=np.float32), "b"),
        ],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    (folder / "model.onnx").write_bytes(model.SerializeToString())
    export_onnx(open_run_folder(folder / "run"), folder / "run.onnx")
    _write_pictures(folder)


def _write_pictures(folder: Path) -> None:
    from PIL import Image

    random = np.random.default_rng(4)
    rows = ["path,label,id"]
    for place, name in enumerate([*CLASSES, "unknown"]):
        (folder / "photos" / name).mkdir(parents=True)
        for number in range(2):
            pixels = random.integers(0, 90, (6, 6, 3))
            pixels[..., min(place, 2)] += 100 * (place < 3)
            Image.fromarray(pixels.astype(np.uint8)).save(folder / "photos" / name / f"{number}.png")
            rows.append(f"photos/{name}/{number}.png,{name},{name}{number}")
    (folder / "photos.csv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    paths = [row.partition(",")[0] for row in rows[1:]]
    (folder / "photos.txt").write_text("\n".join(paths) + "\n", encoding="utf-8")
    (folder / "classes.txt").write_text("\n".join(CLASSES) + "\n", encoding="utf-8")
