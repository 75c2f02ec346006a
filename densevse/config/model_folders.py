"""Folders of sentence-transformers and transformers: the files of a model, of which none may be code or ask for it."""

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from snakeproof.errors import InputError

_PICKLES = (".bin", ".pt", ".pth", ".ckpt", ".pkl", ".pickle", ".joblib", ".npy", ".npz", ".h5", ".msgpack")
"""Formats that may hold code, and others that weights are in; safetensors hold numbers alone."""
_CODE = (".py", ".pyc", ".pyd", ".so", ".dll", ".sh")
_CLASSES = ("type", "types", "tokenizer_class", "activation_function")
"""Keys whose values the library imports where they are dotted."""
_DOTTED = re.compile(r"[A-Za-z_]\w*(\.\w+)+")
_IMPORTED = ("sentence_transformers.", "torch.nn.modules.")
_LARGE = ("tokenizer.json", "vocab.json")
"""Files of words, which name no class."""
_SEVERAL, _ONE = ("MultiVectorEncoder", "ColBERT"), "SentenceTransformer"


def model_files(folder: str) -> list[str]:
    """The files of a model's folder, sorted, without hidden ones and Markdown.

    Raises `InputError` for a folder that is not there or has no weights in safetensors, and for a file that is code,
    may hold it, or names code or weights elsewhere. The library must not see such a folder.
    """
    top = Path(folder)
    every = sorted(path for path in top.rglob("*") if path.is_file())
    found = [path for path in every if not any(part[0] == "." for part in path.relative_to(top).parts)]
    for path in found:
        _check_file(path)
    if not any(path.suffix == ".safetensors" for path in found):
        there = "it has no weights in safetensors" if top.is_dir() else "there is no such folder"
        raise InputError(f"{folder}: {there}; name the folder of a model, with config.json and model.safetensors.")
    return [str(path) for path in found if path.suffix.lower() != ".md"]


def has_several_vectors(folder: str) -> bool:
    """True if a folder's model makes several vectors of an input, as ColBERT's and ColPali's. Raises as `model_files`.

    Raises `InputError` too for a model that makes no vectors to compare, such as a CrossEncoder.
    """
    model_files(folder)
    kind = _read_json(Path(folder, "config_sentence_transformers.json")).get("model_type")
    if kind not in (None, _ONE, *_SEVERAL):
        raise InputError(f"{folder}: a {kind} makes no vectors of images and sentences; name another model.")
    names = _read_json(Path(folder, "config.json")).get("architectures") or []
    return kind in _SEVERAL or (kind is None and any(str(name).endswith("ForRetrieval") for name in names))


def _check_file(path: Path) -> None:
    suffix = path.suffix.lower()
    if suffix in _CODE:
        raise InputError(f"{path}: the folder holds code, which is never run; name a model of transformers itself.")
    if suffix in _PICKLES:
        raise InputError(
            f"{path}: such files may hold code and are never read; remove it, or convert it to safetensors."
        )
    if path.name == "adapter_config.json":
        raise InputError(f"{path}: an adapter needs a model that is elsewhere; merge both, and name that folder.")
    if suffix == ".json" and path.name not in _LARGE:
        for key, value in _find_classes(_read_json(path)):
            raise InputError(
                f"{path}: {key} asks for code that is not of the library ({value}), which is never run; name a model "
                "of transformers itself."
            )


def _find_classes(values: Any) -> Iterator[tuple[str, Any]]:
    """What asks for code from elsewhere, at any depth: key and value."""
    pairs = values.items() if isinstance(values, Mapping) else enumerate(values) if isinstance(values, list) else ()
    for key, value in pairs:
        if key in ("auto_map", "trust_remote_code", "custom_pipelines") and value:
            yield key, value
        elif key in _CLASSES:
            named = value.values() if isinstance(value, Mapping) else [value]
            wrong = [one for one in named if isinstance(one, str) and _DOTTED.fullmatch(one)]
            yield from ((key, one) for one in wrong if not one.startswith(_IMPORTED))
        yield from _find_classes(value)


def _read_json(path: Path) -> Any:
    """The content of a file, empty if it is not there. Raises `InputError` if it is not JSON."""
    try:
        return json.loads(path.read_bytes()) if path.is_file() else {}
    except (ValueError, RecursionError) as error:
        raise InputError(f"{path}: not JSON ({error}); copy the model's folder again.") from None
