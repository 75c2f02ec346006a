"""The whole image as one vector."""

from densevse.config.declared.views import DeclaredView

DECLARED = DeclaredView(extracted=True, one_vector=True)
