"""Image classifiers of timm, with the weights of a safetensors file."""

from typing import Any

from openset.errors import MissingPackageError, OpenSetError, did_you_mean
from openset.models.card import Family, Model, Options, register
from openset.models.preparation import CenterCrop


def open_timm(name: str, options: Options) -> Model:
    """The network of that name, prepared for as timm's own description of it says."""
    from openset.models.published import open_published

    try:
        import timm
        from timm.data import resolve_data_config
    except (ImportError, RuntimeError) as error:  # torchvision that does not fit torch is a RuntimeError
        raise MissingPackageError(
            f"The model 'timm:{name}' needs the package timm and a torchvision that fits your torch ({error}): "
            "pip install 'openset[vision]'."
        ) from error
    if not timm.is_model(name):
        raise OpenSetError(f"timm has no network named '{name}'. {did_you_mean(name, timm.list_models())[:300]}")

    def make(n_classes: int | None) -> Any:
        return timm.create_model(name, pretrained=False, **({} if n_classes is None else {"num_classes": n_classes}))

    def preparation(network: Any) -> CenterCrop:
        config = resolve_data_config({}, model=network)
        channels, height, width = config["input_size"]
        if height != width:
            raise OpenSetError(f"timm:{name} takes images of {height} x {width} pixels; only squares are supported.")
        return CenterCrop(
            resize=int(height / config["crop_pct"]),
            crop=height,
            mean=tuple(config["mean"]),
            std=tuple(config["std"]),
            filter=config["interpolation"],
            squash=config.get("crop_mode") == "squash",
            channels=channels,
        )

    return open_published(f"timm:{name}", make, preparation, options, _HOW)


_HOW = "save one with safetensors.torch.save_file(model.state_dict(), 'weights.safetensors')"
register(
    Family(
        name="timm",
        title="timm: image classifiers",
        example="timm:NAME --weights FILE.safetensors",
        options=("weights", "classes", "size", "mean", "std", "device"),
        needs=("torch", "timm", "safetensors"),
        open=open_timm,
    )
)
