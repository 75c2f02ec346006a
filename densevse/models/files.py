"""Models: built by name, saved and loaded as safetensors with everything that is needed to build them."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any, cast

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor, nn

from densevse.config.methods import GENERATOR_MODELS, MODELS, module_of_method
from densevse.config.registries import find_library
from densevse.data.files import Files
from densevse.data.inputs import Inputs
from densevse.methods.generators.interface import CONTENT, Generator
from densevse.methods.interface import Method, Shapes
from snakeproof.errors import InputError, describe_differences
from snakeproof.seals import sealed_file, verify_file
from snakeproof.statements import agree, read_statement, statement_metadata
from snakeproof.strict import Strict, validate

TEXT_ENCODER = "text_encoder"
"""The key with the network whose sentence encoder a model is: its architecture and options."""
_GENERATORS = "generators."
"""The prefix of a generator's name in a model's file."""
TRAINED_NETWORK = "trained_network"  # key of a network that was trained with a model; `network` is a name elsewhere


def method_class(name: str) -> type[Method]:
    """The method of densevse/methods/<name>.py or of a plug-in. Raises `InputError` if there is no such method."""
    module = module_of_method(name)
    try:
        found: type[Method] = import_module(module).METHOD
    except (ModuleNotFoundError, AttributeError) as error:
        raise InputError(
            f"no method {name!r}: {module} must define METHOD ({error}). If it is another package's, install that."
        ) from error
    return found


def method_parameters(name: str, values: Mapping[str, Any]) -> Strict:
    """The parameters of a method from its configuration. Raises `InputError` that names each invalid one."""
    kind = MODELS.get(name) or GENERATOR_MODELS[name.removeprefix(_GENERATORS)]
    return validate(kind, dict(values), f"parameters of the method {name}")


def build_method(name: str, parameters: Mapping[str, Any], shapes: Shapes) -> Method:
    """Builds a method with its parameters. Raises `InputError` that names an unknown or unusable parameter."""
    kind, values = method_class(name), method_parameters(name, parameters)
    try:
        return kind(values, shapes)
    except ValueError as error:
        raise InputError(f"cannot build the method {name} from its parameters and the data: {error}") from error


def generator_shapes(inputs: Inputs, content: int) -> Shapes:
    """The sizes that the data gives a generator; `content` is the length of a content vector."""
    shapes = inputs.shapes()
    return Shapes({CONTENT: content}, shapes.words, sizes=shapes.sizes)


def build_generator(name: str, parameters: Mapping[str, Any], shapes: Shapes) -> Generator:
    """A generator with its parameters; `name` is `generators.<model>`. Raises `InputError` as `build_method` does."""
    return cast(Generator, build_method(name, parameters, shapes))


def add_networks(shapes: Shapes, described: Mapping[str, Any]) -> Shapes:
    """The shapes with the networks that are a part of a model, before the model's weights are loaded."""
    # Imported by name, so that only jobs of such models depend on their code: see densevse.dag.training.
    if TRAINED_NETWORK in described:
        finetuned = import_module("densevse.vision.finetuned").FineTuned
        shapes = replace(shapes, network=finetuned.from_description(described[TRAINED_NETWORK]))
    if TEXT_ENCODER in described:
        shapes = replace(shapes, text_encoder=text_encoder(described[TEXT_ENCODER]))
    return shapes


def text_encoder(network: Mapping[str, Any], weights: str | Path | None = None) -> nn.Module:
    """The sentence encoder of a network (its architecture and options), with `weights` from its file if given.

    Raises `InputError` if the network has none, or if the weights do not fit.
    """
    library = find_library(network["architecture"])
    if library is None or not library.has_text:
        raise InputError(f"networks: {network['architecture']} encodes no sentences; name a network of open_clip.")
    encoder: nn.Module = import_module(library.implementation).text_encoder(network, weights)
    return encoder


UNTRAINED = "untrained"
"""The key that marks a model of which nothing was trained: it belongs to no data set, and depends on its network alone.
"""


def save_model(method: Method | Generator, name: str, sentences: Sequence[str], path: str | Path, **found: Any) -> None:
    """Writes a method's weights; `name` is its module's, `sentences` are the structures that it reads.

    `found` is what only its training knows, such as `features`: how the images are seen (see `settings_with_parents`).
    """
    shapes = method.shapes
    sizes = {
        "features": shapes.features,
        "words": shapes.words,
        "word_vectors": None if shapes.word_vectors is None else list(shapes.word_vectors.shape),
        "sizes": shapes.sizes,
    }
    write_weights(
        method,
        path,
        **found,
        method=name,
        parameters=method.hyperparameters.model_dump(mode="json"),
        sentences=list(sentences),
        shapes=sizes,
        **({} if shapes.network is None else {TRAINED_NETWORK: shapes.network.described}),
        **({} if shapes.text_encoder is None else {TEXT_ENCODER: shapes.text_encoder.described}),
    )


def write_weights(module: nn.Module, path: str | Path, **found: Any) -> None:
    """Writes a module's weights as safetensors, which state the job in progress and what it `found`."""
    # Copies, as safetensors does not store shared memory: a matrix that two parts share is saved under both names.
    weights = {
        name: value.detach().to("cpu", copy=True, memory_format=torch.contiguous_format)
        for name, value in module.state_dict().items()
    }
    with sealed_file(path) as temporary:
        save_file(weights, temporary, statement_metadata(**found))


def described(path: str | Path) -> dict[str, Any]:
    """What a model's file says of itself: its method, parameters, structures of sentences, shapes and features."""
    with _open_weights(path) as (_, known):
        return known


def load_model(
    path: str | Path, shapes: Shapes | None = None, features: Mapping[str, Mapping[str, Any]] | None = None
) -> Method:
    """Reads a trained method, for data of these `shapes` and these `features` (view -> how they see images).

    Raises `InputError` if the file is missing, truncated or not a model, if it does not fit the data, or if it was
    trained on features of another network or configuration.
    """
    weights, described = _read_model(path)
    _check_features(path, described.get("features", {}), features or {})
    method = build_method(
        described["method"], described["parameters"], add_networks(shapes or _shapes(described), described)
    )
    _fill(method, weights, path)
    return method


def check_round(model: str | Path, wildcards: Mapping[str, str]) -> None:
    """Raises `InputError` if a model is not of the seed and the round of these `wildcards`."""
    found = read_statement(model).names
    for name in ("seed", "round"):
        if name in wildcards and name in found and str(found[name]) != wildcards[name]:
            raise InputError(
                f"{model}: expected the model of {name} {wildcards[name]}, found that of {name} {found[name]}. Delete "
                "the file and run snakemake again."
            )


def open_model(files: Files, path: str | Path, device: torch.device, *abilities: str) -> tuple[Inputs, Method]:
    """Opens a data set's artifacts and a model that was trained on them.

    Raises `InputError` as `load_model` does, or if the model's method lacks one of the `abilities` that the job
    needs, e.g. `assign`: an optional function of `Method`.
    """
    known = described(path)
    kind = method_class(known["method"])
    if missing := [ability for ability in abilities if not kind.can(ability)]:
        raise InputError(f"{path}: a model of the method {known['method']} cannot {' or '.join(missing)}.")
    inputs = Inputs(files, known["sentences"], text_encoder_settings(path, known))
    return inputs, load_model(path, inputs.shapes(), inputs.feature_settings()).to(device)


def open_new_data(files: Files, path: str | Path, device: torch.device) -> tuple[Inputs, Method]:
    """Opens images or sentences alone with a model that was not trained on them, and the model's sizes.

    Raises `InputError` as `load_model` does.
    """
    known = described(path)
    inputs = Inputs(files, known["sentences"], text_encoder_settings(path, known))
    return inputs, load_model(path, features=inputs.feature_settings()).to(device)


def load_weights(method: Method, name: str, path: str | Path) -> None:
    """Loads a trained model's weights into a method, called `name`; they may be of another method.

    Raises `InputError` if they do not fit.
    """
    weights, described = _read_model(path)
    if described["method"] == name:
        # If the model was trained on stored features, the network that is now trained keeps its first weights.
        network = {key: value for key, value in method.state_dict().items() if key.startswith("network.")}
        _fill(method, {**network, **weights}, path)
        return
    try:
        method.start_from(described["method"], weights)
    except ValueError as error:
        raise InputError(f"{path}: training cannot start from this model: {error}.") from error


def _shapes(described: Mapping[str, Any]) -> Shapes:
    """The sizes of the data that a model was trained on; its word vectors are weights, so theirs are arbitrary."""
    shapes = described["shapes"]
    stored = shapes["word_vectors"]
    vectors = None if stored is None else torch.rand(stored, generator=torch.Generator().manual_seed(0))
    return Shapes(shapes["features"], shapes["words"], vectors, shapes["sizes"])


def text_encoder_settings(path: str | Path, described: Mapping[str, Any]) -> dict[str, Any] | None:
    """The settings with which `Inputs` encodes whole sentences: the network, the model's file, and the prompt.

    The tokenizer may be in that file. None for a model that has no such network.
    """
    if TEXT_ENCODER not in described:
        return None
    return {**described[TEXT_ENCODER], "model": str(path), "prompt": described["parameters"]["prompt"]}


def _read_model(path: str | Path) -> tuple[dict[str, Tensor], dict[str, Any]]:
    with _open_weights(path) as (file, known):
        return {key: file.get_tensor(key) for key in file.keys()}, known  # noqa: SIM118 (it is no mapping)


@contextmanager
def _open_weights(path: str | Path) -> Iterator[tuple[Any, dict[str, Any]]]:
    """A model's open file, whose bytes are checked, and its metadata. Raises `InputError` if it is no whole model."""
    known = {**read_statement(path).found}
    if "method" not in known:
        raise InputError(f"{path}: expected a densevse model, found safetensors of another origin. Delete it.")
    verify_file(path)
    try:
        with safe_open(path, framework="pt") as file:
            yield file, known
    except (SafetensorError, OSError) as error:
        raise InputError(f"{path}: not a whole safetensors file ({error}). Delete it and run snakemake.") from error


_WITHOUT_EFFECT = {"batch_size"}
"""Settings of features that change none of their vectors."""


def _check_features(path: str | Path, trained: Mapping[str, Any], given: Mapping[str, Any]) -> None:
    """Raises `InputError` that names the settings in which features differ from those that a model was trained on.

    A setting that only one of them has was read by no code, or is new.
    """
    for view in sorted(given):
        expected, found = (_effective_settings(features.get(view, {})) for features in (trained, given))
        if not agree(expected, found):
            both = expected.keys() & found.keys()
            expected, found = ({key: features[key] for key in both} for features in (expected, found))
            raise InputError(
                f"{path}: trained on {view} features of another network: {describe_differences(expected, found)}. "
                "Delete those features or this model, whichever is wrong, and run snakemake again."
            )


def _effective_settings(seen: Mapping[str, Any]) -> dict[str, Any]:
    """How features see images, without what changes none of their vectors or of those that they were made from."""
    own = {key: value for key, value in seen.items() if key not in _WITHOUT_EFFECT}
    return {**own, "parents": {name: _effective_settings(one) for name, one in seen.get("parents", {}).items()}}


def _fill(method: Method, weights: Mapping[str, Tensor], path: str | Path) -> None:
    expected = {key: tuple(value.shape) for key, value in method.state_dict().items()}
    found = {key: tuple(value.shape) for key, value in weights.items()}
    for key in sorted(expected.keys() | found.keys()):
        if expected.get(key) != found.get(key):
            raise InputError(
                f"{path}: tensor {key}: expected {expected.get(key, 'none')}, found {found.get(key, 'none')}. The "
                "model is of another configuration, vocabulary or version; delete it and run snakemake again."
            )
    method.load_state_dict(dict(weights))


def load_generator(path: str | Path, inputs: Inputs, content: int) -> Generator:
    """Reads a trained generator, for a data set's artifacts. Raises `InputError` as `load_model` does."""
    return cast(Generator, load_model(path, generator_shapes(inputs, content), inputs.feature_settings()))
