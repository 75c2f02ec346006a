"""The scores of concepts, of the best of an image's regions for each (SCO, section 3.2)."""

from densevse.config.declared.views import DeclaredView

DECLARED = DeclaredView(made_by="concept_network")
