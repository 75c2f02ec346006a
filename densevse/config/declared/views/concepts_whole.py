"""The scores of concepts, of the whole image alone."""

from densevse.config.declared.views import DeclaredView

DECLARED = DeclaredView(made_by="concept_network")
