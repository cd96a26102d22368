"""A Hugging Face image classifier that says "unknown": outputs, threshold, decisions.

With a folder of your own: python examples/hugging_face_guard.py my-model validation photos
Without one, a tiny network with random weights and drawn images stand in, so that the steps can be seen.
"""

import subprocess
import sys
from pathlib import Path


def make_example(folder: Path) -> tuple[Path, Path, Path]:
    """A model folder, validation images in one folder per class, and photos of which nothing is known."""
    import numpy as np
    from PIL import Image
    from transformers import ViTConfig, ViTForImageClassification, ViTImageProcessor

    names = {0: "red", 1: "green", 2: "blue"}
    config = ViTConfig(
        hidden_size=16, num_hidden_layers=1, num_attention_heads=2, intermediate_size=16, image_size=32, patch_size=16
    )
    config.id2label, config.label2id = names, {name: label for label, name in names.items()}
    model = folder / "model"
    ViTForImageClassification(config).save_pretrained(model)
    ViTImageProcessor(size={"height": 32, "width": 32}).save_pretrained(model)
    rng = np.random.default_rng(0)

    def draw(path: Path, colour: int | None) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        pixels = rng.integers(0, 80, (32, 32, 3), dtype=np.uint8)
        if colour is not None:
            pixels[..., colour] += 150
        Image.fromarray(pixels).save(path)

    for label, name in names.items():
        for number in range(20):
            draw(folder / "validation" / name / f"{number}.png", label)
    for number in range(6):
        draw(folder / "photos" / f"{number}.png", number % 3 if number < 3 else None)
    return model, folder / "validation", folder / "photos"


def main(model: Path, validation: Path, photos: Path, out: Path) -> str:
    """Three commands; returns the decisions as CSV."""
    commands = (
        ("outputs", f"hf:{model}", str(validation), "--out", str(out / "val.npz")),
        (
            *("threshold", str(out / "val.npz"), "--score", "energy"),
            *("--rule", "at_acceptance=0.95", "--out", str(out / "threshold.json")),
        ),
        (
            *("predict", f"hf:{model}", str(photos)),
            *("--threshold", str(out / "threshold.json"), "--out", str(out / "decisions.csv")),
        ),
    )
    for words in commands:
        subprocess.run(["openset", *words], check=True)
    return (out / "decisions.csv").read_text(encoding="utf-8")


if __name__ == "__main__":
    if len(sys.argv) == 4:
        given = [Path(word) for word in sys.argv[1:]]
    else:
        given = list(make_example(Path("hugging-face-example")))
    print(main(*given, out=Path()))
