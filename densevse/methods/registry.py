"""The methods by the name that config/methods/*.yaml gives as `model`. A new method adds one line here."""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # the rules read this file too, and must not wait for torch
    from densevse.methods.interface import Method

METHODS = {
    "vse": "densevse.methods.vse:VSE",
    "hm_lstm": "densevse.methods.hm_lstm:HMLSTM",
}


def method(name: str) -> "type[Method]":
    """The method class of that name; only its module is imported. Raises `KeyError` naming the known ones."""
    if name not in METHODS:
        raise KeyError(f"no method {name!r} in densevse/methods/registry.py; known: {', '.join(METHODS)}")
    module, name_of_class = METHODS[name].split(":")
    found: type[Method] = getattr(import_module(module), name_of_class)
    return found
