"""The words of a sentence with their part-of-speech tags (SC-NLM)."""

from densevse.config.declared.structures import DeclaredStructure

DECLARED = DeclaredStructure(vocabularies={"tags": "tags"})
