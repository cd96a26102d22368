"""Any image network of the timm package, as one stage."""

from typing import Any

from torch import nn

from openset.backbones._base import BACKBONES, Backbone
from openset.errors import MissingPackageError, OpenSetError, did_you_mean


@BACKBONES.register("timm")
class Timm(Backbone):
    """`timm:NAME`: the network without its classifier. `pretrained` downloads weights, only if asked for."""

    title = "Any network of the timm package"

    def __init__(
        self, shape: tuple[int, ...], n_outputs: int, *, model: str = "resnet18", pretrained: bool = False
    ) -> None:
        super().__init__(shape, n_outputs)
        try:
            import timm
        except (ImportError, RuntimeError) as error:  # torchvision that does not fit torch is a RuntimeError
            raise MissingPackageError(
                f"The backbone 'timm:{model}' needs the package timm and a torchvision that fits your torch "
                f"({error}): pip install 'openset[vision]'."
            ) from error
        if not timm.is_model(model):
            raise OpenSetError(f"timm has no network named '{model}'. {did_you_mean(model, timm.list_models())[:300]}")
        sized: dict[str, Any] = {"img_size": shape[1:]} if "vit" in model else {}
        network: Any = timm.create_model(model, pretrained=pretrained, num_classes=0, in_chans=shape[0], **sized)
        self.stages = nn.ModuleList([network])
        self.n_features = int(network.num_features)
