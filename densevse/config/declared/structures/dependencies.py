"""The dependency tree of a sentence (SDT-RNN)."""

from densevse.config.declared.structures import DeclaredStructure

DECLARED = DeclaredStructure(vocabularies={"relations": "relations-{dependencies}"}, basic=True)
