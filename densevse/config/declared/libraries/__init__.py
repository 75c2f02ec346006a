"""Libraries whose networks are called by their own names, `<library>:<network>`, a module for each.

A new library is a module here and the module that it names as its implementation, with a function

    network(settings, weights) -> Network

of the settings of a config/networks entry. One with encoders of sentences has besides

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
"""View -> the layer that it is read from. The library's own preprocessing decides what of an image is seen, so that
there are no other crops."""


@dataclass(frozen=True)
class Library:
    """A library of networks, as far as the plan must know it."""

    implementation: str
    package: str
    """What is imported of it."""
    extra: str | None = None
    """The extra that installs it; none for what the workflow runs with."""
    has_text: bool = False
    """Its networks encode sentences too."""


LIBRARIES: Door[Library] = Door("libraries", "library of networks")


def library_of(architecture: str) -> Library | None:
    """The library that an architecture is of; none for one of densevse/config/declared/networks."""
    name, colon, _ = architecture.partition(":")
    return LIBRARIES[name] if colon else None
