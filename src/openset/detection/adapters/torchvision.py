"""One adapter for torchvision's detectors: Faster and Mask R-CNN, RetinaNet, FCOS, SSD.

R-CNN and SSD classify into classes and background; their background probability is kept. The others have none.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from openset.detection.adapters.detectors import Detector, Found, Settings, match_classes, read_weights
from openset.detection.read.coco import GroundTruth, Ints
from openset.errors import OpenSetError, did_you_mean

if TYPE_CHECKING:
    from PIL.Image import Image


def torchvision_detector(name: str, known: GroundTruth, settings: Settings) -> Detector:
    """A detector by its torchvision name; weights from a file (classes in the order of `known`) or published ones."""
    from torchvision import models

    names = models.list_models(module=models.detection)
    if name not in names:
        raise OpenSetError(f"torchvision has no detector named {name!r}. {did_you_mean(name, names)}")
    if settings.weights is None:
        raise OpenSetError(
            f"Give --weights: a file with the weights of your {name}, or the name of published ones, such as DEFAULT."
        )
    published = models.get_model_weights(name)
    if settings.weights in published.__members__:
        weights = published[settings.weights]
        model, places = models.get_model(name, weights=weights), match_classes(weights.meta["categories"], known)
    else:
        state = read_weights(settings.weights)
        model = models.get_model(name, weights=None, weights_backbone=None, num_classes=known.n_classes + 1)
        try:
            model.load_state_dict(state)
        except RuntimeError as error:
            raise OpenSetError(
                f"{settings.weights} does not fit a {name} with {known.n_classes} classes and background: "
                f"{str(error).splitlines()[-1].strip()}"
            ) from error
        places = np.arange(-1, known.n_classes)
    return wrap(model, places, settings)


def wrap(model: nn.Module, places: Ints, settings: Settings) -> Detector:
    """Run a torchvision model; `places[label]` is the known class of its label, -1 for none."""
    model.eval().to(settings.device)
    heads: Any = getattr(model, "roi_heads", model)
    if hasattr(heads, "score_thresh"):
        heads.score_thresh = settings.min_score
    if settings.passes > 1:
        _sample_dropout(model, settings.passes)
    kept = _keep_background(heads)

    @torch.no_grad()
    def run(pictures: "Sequence[Image]") -> list[Found]:
        kept.clear()
        arrays = [np.asarray(picture, dtype=np.float32).transpose(2, 0, 1) / 255 for picture in pictures]
        outputs = model([torch.from_numpy(array).to(settings.device) for array in arrays])
        found = []
        for i, output in enumerate(outputs):
            box = output["boxes"].double().cpu().numpy()
            box[:, 2:] -= box[:, :2]
            labels = places[output["labels"].cpu().numpy()]
            background = kept[i].double().cpu().numpy() if kept else None
            found.append(Found(box, labels, output["scores"].double().cpu().numpy(), background))
        return found

    return run


def _keep_background(heads: Any) -> list[Tensor]:
    """Make the model's last step also note the background probability of each detection it returns.

    That step only selects: a detection's score is one entry of the softmax table, so its row is found by that value,
    and among equal values by the box.
    """
    kept: list[Tensor] = []
    if not (hasattr(heads, "postprocess_detections") and hasattr(heads, "box_coder")):
        return kept
    original = heads.postprocess_detections
    if hasattr(heads, "box_predictor"):

        def after_rcnn(logits: Tensor, regression: Tensor, proposals: list[Tensor], shapes: list[Any]) -> Any:
            boxes, scores, labels = original(logits, regression, proposals, shapes)
            sizes = [len(one) for one in proposals]
            tables = torch.split(logits.softmax(-1), sizes)
            places = torch.split(heads.box_coder.decode(regression, proposals), sizes)
            for i, table in enumerate(tables):
                kept.append(_background(table, places[i], boxes[i], scores[i], labels[i]))
            return boxes, scores, labels

        heads.postprocess_detections = after_rcnn
    elif type(heads).__name__ == "SSD":

        def after_ssd(outputs: dict[str, Tensor], anchors: list[Tensor], shapes: list[Any]) -> Any:
            found = original(outputs, anchors, shapes)
            tables = outputs["cls_logits"].softmax(-1)
            for i, table in enumerate(tables):
                place = heads.box_coder.decode_single(outputs["bbox_regression"][i], anchors[i])
                place = place[:, None].expand(-1, table.shape[1], -1)
                kept.append(_background(table, place, found[i]["boxes"], found[i]["scores"], found[i]["labels"]))
            return found

        heads.postprocess_detections = after_ssd
    return kept


def _background(table: Tensor, places: Tensor, boxes: Tensor, scores: Tensor, labels: Tensor) -> Tensor:
    """Background probability of the row that each detection came from (rows x classes, boxes per row and class)."""
    out = torch.zeros_like(scores)
    for i, (score, label) in enumerate(zip(scores, labels.tolist(), strict=True)):
        rows = (table[:, label] == score).nonzero()[:, 0]
        distance = (places[rows, label] - boxes[i]).abs().sum(dim=-1)
        out[i] = table[rows[distance.argmin()], 0]
    return out


class _SampledHead(nn.Module):
    """Faster R-CNN's two fully connected layers and predictor, many times with dropout, averaged per region."""

    def __init__(self, head: Any, predictor: nn.Module, passes: int, p: float = 0.5) -> None:
        super().__init__()
        self.fc6, self.fc7, self.predictor, self.passes, self.p = head.fc6, head.fc7, predictor, passes, p

    def forward(self, features: Tensor) -> tuple[Tensor, Tensor]:
        """Log of the mean class probabilities, whose softmax is that mean again, and the mean box corrections."""
        flat = features.flatten(start_dim=1)
        probability: Tensor | None = None
        correction: Tensor | None = None
        for _ in range(self.passes):
            hidden = functional.dropout(functional.relu(self.fc6(flat)), self.p)
            hidden = functional.dropout(functional.relu(self.fc7(hidden)), self.p)
            logits, regression = self.predictor(hidden)
            share = logits.softmax(-1) / self.passes
            probability = share if probability is None else probability + share
            correction = regression / self.passes if correction is None else correction + regression / self.passes
        assert probability is not None
        assert correction is not None
        return probability.clamp(min=1e-12).log(), correction


def _sample_dropout(model: nn.Module, passes: int) -> None:
    """Dropout of .5 before fc7 and before both predictors, as in the paper's comparison."""
    heads: Any = getattr(model, "roi_heads", None)
    head = getattr(heads, "box_head", None)
    if not (hasattr(head, "fc6") and hasattr(head, "fc7")):
        raise OpenSetError(
            "Dropout sampling needs a detector with a head of two fully connected layers (Faster or Mask R-CNN); this "
            "one has none."
        )
    heads.box_predictor = _SampledHead(head, heads.box_predictor, passes)
    heads.box_head = nn.Identity()
