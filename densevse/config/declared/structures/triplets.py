"""The dependency triplets of a sentence (DeFrag, section 3.1)."""

from densevse.config.declared.structures import DeclaredStructure

DECLARED = DeclaredStructure(vocabularies={"relations": "relations-{dependencies}"})
