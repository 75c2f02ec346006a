"""The sentence itself, cut into tokens by the network that encodes it (CLIP)."""

from densevse.config.declared.structures import DeclaredStructure

DECLARED = DeclaredStructure(parsed=False, by_network=True)
