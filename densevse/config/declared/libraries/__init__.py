"""Libraries whose networks have the names `<library>:<network>`, one module each.

To add a library, write a module here and the implementation that it names, with a function

    network(settings, weights) -> Network

of the settings of a config/networks entry. A library with sentence encoders also has

    text_encoder(described, weights) -> nn.Module
    tokenizer(described) -> Tokenizer

where `described` has the network's `architecture` and `options`: see
densevse/vision/architectures/open_clip_networks.py.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from densevse.config.declared.door import Door

POOLED, PATCHES = "pooled", "patches"
"""The two layers that every library's networks have."""

LAYERS: Mapping[str, str] = {"whole": POOLED, "regions": POOLED, "grid": PATCHES}
"""View -> the layer that it reads. The library's own preprocessing crops images, so there are no other views."""


@dataclass(frozen=True)
class Library:
    """A library of networks: the facts that the plan needs."""

    implementation: str
    """The module of the implementation."""
    package: str
    """The package that must be installed."""
    extra: str | None = None
    """The extra that installs it; None if the workflow always has it."""
    has_text: bool = False
    """True if its networks encode sentences too."""


LIBRARIES: Door[Library] = Door("libraries", "library of networks")


def library_of(architecture: str) -> Library | None:
    """The library of an architecture; None for one of densevse/config/declared/networks."""
    name, colon, _ = architecture.partition(":")
    return LIBRARIES[name] if colon else None
