"""The constituency tree of a sentence (HM-LSTM)."""

from densevse.config.declared.structures import DeclaredStructure

DECLARED = DeclaredStructure()
