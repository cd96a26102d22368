"""Image classifiers of torchvision, with the weights of a safetensors file."""

from typing import Any

from openset.errors import MissingPackageError, OpenSetError, did_you_mean
from openset.models.card import Family, Model, Options, register
from openset.models.preparation import CenterCrop


def open_torchvision(name: str, options: Options) -> Model:
    """The network of that name, prepared for as torchvision's own weights of it are."""
    from openset.models.published import open_published

    try:
        from torchvision import models
    except (ImportError, RuntimeError) as error:  # a build that does not fit torch is a RuntimeError
        raise MissingPackageError(
            f"The model 'torchvision:{name}' needs a torchvision that fits your torch ({error}): "
            "pip install 'openset[vision]'."
        ) from error
    names = models.list_models(module=models)
    if name not in names:
        raise OpenSetError(f"torchvision has no classifier named '{name}'. {did_you_mean(name, names)[:300]}")

    def make(n_classes: int | None) -> Any:
        extra: dict[str, Any] = {} if n_classes is None else {"num_classes": n_classes}
        return models.get_model(name, weights=None, **extra)

    def preparation(_: Any) -> CenterCrop:
        published = models.get_model_weights(name).DEFAULT.transforms()
        return CenterCrop(
            resize=int(published.resize_size[0]),
            crop=int(published.crop_size[0]),
            mean=tuple(published.mean),
            std=tuple(published.std),
            filter=published.interpolation.value,
        )

    how = "save one with safetensors.torch.save_file(model.state_dict(), 'weights.safetensors')"
    return open_published(f"torchvision:{name}", make, preparation, options, how)


register(
    Family(
        name="torchvision",
        title="torchvision: image classifiers",
        example="torchvision:NAME --weights FILE.safetensors",
        options=("weights", "classes", "size", "mean", "std", "device"),
        needs=("torch", "torchvision", "safetensors"),
        open=open_torchvision,
    )
)
