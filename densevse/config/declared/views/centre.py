"""The central square of an image as one vector (VSE++)."""

from densevse.config.declared.views import DeclaredView

DECLARED = DeclaredView(extracted=True, one_vector=True)
