"""Networks of timm (PyTorch Image Models), by timm's names."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import timm
from timm.data.config import resolve_data_config
from timm.data.transforms_factory import create_transform

from densevse.config.networks import CLASSES, NetworkSettings
from densevse.config.registries import PATCHES, POOLED
from densevse.vision.architectures.libraries import (
    LibraryNetwork,
    OfLibrary,
    WeightsTable,
    as_tuple,
    build_library_model,
    read_preprocessor,
    split_tag,
    split_transform,
)
from densevse.vision.networks import load_network_weights
from snakeproof.errors import InputError

_PUBLISHED = ("input_size", "interpolation", "crop_pct", "crop_mode", "mean", "std", "num_classes")


class TimmWeights(WeightsTable):
    """timm's table: a tag has preprocessing and a number of classes."""

    def places(self, name: str) -> dict[str, list[str]]:
        """The repository and address of each tag."""
        named = [one.partition(".")[2] for one in timm.list_models(f"{name}.*", include_tags=True)]
        known = {tag: _pretrained_config(f"{name}.{tag}") for tag in named}
        return {tag: [str(one[key]) for key in ("hf_hub_id", "url") if one[key]] for tag, one in known.items()}

    def facts(self, architecture: str, options: Mapping[str, Any]) -> dict[str, Any]:
        """The data configuration of timm, and the number of classes."""
        given, name = options.get("pretrained_cfg", {}), architecture.partition(":")[2]
        if isinstance(given, str):  # a tag
            given, name = {}, f"{name.partition('.')[0]}.{given}"
        own = {"url": "", **_pretrained_config(name), **given, **options.get("pretrained_cfg_overlay", {})}
        pixels = {key: as_tuple(value) for key, value in resolve_data_config({}, own).items()}
        return {**pixels, "num_classes": options.get("num_classes", own.get("num_classes"))}

    def own_options(self, architecture: str, told: Mapping[str, Any]) -> dict[str, Any]:
        """The `pretrained_cfg_overlay`, by timm's config.json or by preprocessor_config.json."""
        config, name = told.get("config.json", {}), split_tag(architecture)[0].partition(":")[2]
        own = {key: as_tuple(value) for key, value in config.get("pretrained_cfg", {}).items() if key in _PUBLISHED}
        if own and config.get("architecture", name) != name:
            raise InputError(f"networks: config.json beside the weights is of {config['architecture']}, not of {name}.")
        if not own and "preprocessor_config.json" in told:
            own = read_preprocessor(told["preprocessor_config.json"])
            crop, side = own.pop("crop", None), own.pop("resize", None)
            if crop:
                own |= {"input_size": (3, crop, crop), "crop_pct": crop / (side or crop)}
                own["crop_mode"] = "center" if side else "squash"
        return {"pretrained_cfg_overlay": own} if own else {}


def _pretrained_config(name: str) -> dict[str, Any]:
    """The table of a tag, or of the default one."""
    return vars(timm.get_pretrained_cfg(name, allow_unregistered=True) or timm.models.PretrainedCfg())


TABLE = TimmWeights()


def network(settings: NetworkSettings, weights: str | Path) -> LibraryNetwork:
    """The network with the weights of a file. Raises `InputError` if name, options or weights do not fit."""
    settings = settings.model_copy(update=TABLE.resolve(settings.architecture, settings.options, Path(weights)))
    architecture = settings.architecture
    model: Any = load_network_weights(
        build_library_model(architecture, timm.list_models(), timm.create_model, settings.options),
        architecture,
        weights,
    )
    if not hasattr(model, "forward_intermediates"):
        raise InputError(f"networks: {architecture} gives no vectors of patches (forward_intermediates); name another.")
    layers = {
        # The classifier's input before dropout: pooled, after any layers that the library puts between.
        POOLED: lambda pixels: model.forward_head(model.forward_features(pixels), pre_logits=True),
        PATCHES: lambda pixels: model.forward_intermediates(
            pixels, indices=1, norm=True, output_fmt="NCHW", intermediates_only=True
        )[-1],
        CLASSES: model,
    }
    transform = create_transform(**resolve_data_config({}, model=model))
    return LibraryNetwork(
        settings, OfLibrary(model, layers, model.num_classes), split_transform(transform, architecture)
    )
