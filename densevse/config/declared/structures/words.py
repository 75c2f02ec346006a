"""The words of a sentence."""

from densevse.config.declared.structures import DeclaredStructure

DECLARED = DeclaredStructure(parsed=False)
