"""Detectors that are told in words what to look for: OWL-ViT, OWLv2 and Grounding DINO of the transformers library.

The prompts are the names of the known classes, and nothing else is asked for: what the detector then sees in wild
images is what it would see in use. Such models have read about almost everything, so mind the rule that the wild
classes must not have been in training.
"""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import Tensor

from openset.detection.adapters.detectors import Detector, Found, Settings
from openset.detection.adapters.transformers import Preparation, independent
from openset.detection.read.coco import GroundTruth
from openset.errors import OpenSetError, did_you_mean

if TYPE_CHECKING:
    from PIL.Image import Image

_GREY = 127


def zero_shot_detector(folder: str, known: GroundTruth, settings: Settings) -> Detector:
    """A detector from a local folder (or by its name on the model hub), asked for the known classes."""
    from transformers import AutoModelForZeroShotObjectDetection, AutoTokenizer

    if settings.weights is not None:
        raise OpenSetError(
            "A zero-shot model brings its weights: leave out --weights and give its folder as the model."
        )
    if settings.passes > 1:
        raise OpenSetError("Dropout sampling is not made for zero-shot models: leave out --passes.")
    try:
        model = AutoModelForZeroShotObjectDetection.from_pretrained(folder, use_safetensors=True)
        tokenizer = AutoTokenizer.from_pretrained(folder)
    except (OSError, ValueError) as error:
        raise OpenSetError(f"Cannot load the model {folder!r}: {str(error).splitlines()[0]}") from error
    kind = model.config.model_type
    if kind not in _FAMILIES:
        raise OpenSetError(
            f"{folder}: zero-shot models of the type {kind!r} are not known. {did_you_mean(kind, _FAMILIES)}"
        )
    names = [name.replace("_", " ") for name in known.class_names]
    ask = _FAMILIES[kind](model.eval().to(settings.device), tokenizer, names, settings.device)
    prepare, padded = Preparation.read(folder), kind == "owlv2"
    places = np.arange(known.n_classes)

    @torch.no_grad()
    def run(pictures: "Sequence[Image]") -> list[Found]:
        found = []
        for picture in pictures:
            shown = _square(picture) if padded else picture
            scores, boxes = ask(prepare(shown).to(settings.device)[None])
            found.append(independent(scores, boxes, shown.size, places, settings.min_score))
        return found

    return run


def _square(picture: "Image") -> "Image":
    """The picture in the upper left of a grey square, as OWLv2 was trained; boxes are shares of the square."""
    from PIL import Image

    side = max(picture.size)
    square = Image.new("RGB", (side, side), (_GREY, _GREY, _GREY))
    square.paste(picture, (0, 0))
    return square


_Ask = Callable[[Tensor], tuple[Tensor, Tensor]]


def _owl(model: Any, tokenizer: Any, names: Sequence[str], device: str) -> _Ask:
    """One prompt for each class; a score for each prompt."""
    words = [f"a photo of a {name}" for name in names]
    most = model.config.text_config.max_position_embeddings
    text = tokenizer(words, padding="max_length", max_length=most, truncation=True, return_tensors="pt").to(device)

    def ask(pixels: Tensor) -> tuple[Tensor, Tensor]:
        output = model(input_ids=text["input_ids"], attention_mask=text["attention_mask"], pixel_values=pixels)
        return output.logits[0].sigmoid(), output.pred_boxes[0]

    return ask


def _grounding_dino(model: Any, tokenizer: Any, names: Sequence[str], device: str) -> _Ask:
    """All names in one sentence, "cat. dog."; the score of a class is the mean over its tokens."""
    ids, spans = [tokenizer.cls_token_id], []
    stop = tokenizer(".", add_special_tokens=False)["input_ids"]
    for name in names:
        tokens = tokenizer(name.lower(), add_special_tokens=False)["input_ids"]
        spans.append((len(ids), len(ids) + len(tokens)))
        ids += [*tokens, *stop]
    ids.append(tokenizer.sep_token_id)
    most = model.config.max_text_len
    if len(ids) > most:
        raise OpenSetError(
            f"The names of {len(names)} classes are {len(ids)} tokens, and this model reads {most}: give fewer classes."
        )
    text = torch.tensor([ids], device=device)

    def ask(pixels: Tensor) -> tuple[Tensor, Tensor]:
        output = model(
            pixel_values=pixels,
            pixel_mask=torch.ones(pixels.shape[:1] + pixels.shape[2:], dtype=torch.bool, device=device),
            input_ids=text,
            attention_mask=torch.ones_like(text),
            token_type_ids=torch.zeros_like(text),
        )
        tokens = output.logits[0].sigmoid()
        return torch.stack([tokens[:, begin:end].mean(dim=1) for begin, end in spans], dim=1), output.pred_boxes[0]

    return ask


_FAMILIES: dict[str, Callable[[Any, Any, Sequence[str], str], _Ask]] = {
    "owlvit": _owl,
    "owlv2": _owl,
    "grounding-dino": _grounding_dino,
    "mm-grounding-dino": _grounding_dino,
}
