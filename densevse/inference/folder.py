"""The folder of a trained model, exported or a training's result, and the files beside it that the model needs."""

from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import Any

from densevse.config.networks import NetworkConfig, layer_nodes
from densevse.models.files import described
from snakeproof.errors import InputError
from snakeproof.files import checksum
from snakeproof.statements import digest, read_statement
from snakeproof.strict import validate

WEIGHTS = "model.safetensors"
_WORDS = "words"


class ModelFolder:
    """A model's folder, such as results/scenes/models/vse/seed0/round0 or results/scenes/exported/vse/seed0/round0."""

    def __init__(self, folder: str | Path) -> None:
        """Raises `InputError` if the folder has no model."""
        self.path = Path(folder).absolute()
        self.model = self.path / WEIGHTS
        if not self.model.is_file():
            raise InputError(
                f"{folder}: there is no {WEIGHTS} in it; name the folder of a training, such as "
                "results/scenes/models/vse/seed0/round0, or one that `densevse export` wrote."
            )

    @cached_property
    def description(self) -> dict[str, Any]:
        """The metadata of the model: its method, parameters, shapes and features."""
        return described(self.model)

    def words(self) -> Path:
        """The vocabulary that the model was trained with. Raises `InputError` if it is missing or another one."""
        known = read_statement(self.model).inputs.get(_WORDS, {})
        places = [self.path / "vocabulary/words.parquet", *(up / place for up in self.path.parents for place in known)]
        for path in places:
            if path.is_file() and digest(path) in known.values():
                return path
        raise InputError(
            f"{self.path}: the vocabulary that the model was trained with is neither in its folder "
            f"({places[0].relative_to(self.path)}) nor in its results ({', '.join(known) or 'unknown'}). Copy the "
            "whole folder, or export the model with `densevse export` and load that."
        )

    def network_settings(self, view: str) -> dict[str, Any]:
        """The settings of the network that computed a view's features, as `NetworkSettings`, in their precision.

        Raises `InputError` if they were computed elsewhere.
        """
        seen = self._features(view)
        known = {name: seen[name] for name in NetworkConfig.model_fields if name in seen}
        if "precision" in seen["parents"]:  # of a model of an earlier version
            known["precision"] = seen["parents"]["precision"]["precision"]
        return {**known, "nodes": layer_nodes(validate(NetworkConfig, known, str(self.model)), view)}

    def network_weights(self, view: str) -> Path:
        """The weights of this network, found by their checksum. Raises `InputError` if there are none."""
        network, sha256 = (self._features(view)[name] for name in ("network", "weights_sha256"))
        for path in self._network_files(network):
            if checksum(path) == sha256:
                return path
        raise InputError(
            f"{self.path}: images need the weights of the network {network} with the sha256 {sha256}, and no such file "
            f"is in resources/{network}/ of this folder or of the project that trained the model. Give its path: "
            "densevse.load(..., weights=...)."
        )

    def _features(self, view: str) -> dict[str, Any]:
        """The settings of the features of a view. Raises `InputError` if the features were computed elsewhere."""
        seen: dict[str, Any] = self.description["features"].get(view, {})
        if "architecture" not in seen:
            raise InputError(
                f"{self.path}: the model reads features of images that were computed elsewhere, so it cannot encode "
                "photographs. Train one on a network of config/networks."
            )
        return seen

    def _network_files(self, network: str) -> Iterator[Path]:
        """The files that may be a network's: downloaded, or trained by the workflow."""
        for folder in (*self.path.parents, Path()):
            yield from sorted(path for path in (folder / "resources" / network).glob("*") if path.is_file())
            yield from sorted(folder.glob(f"*/networks/{network}.safetensors"))
