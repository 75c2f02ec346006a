"""The mean vector of ten crops of an image (SCO, section 4.2)."""

from densevse.config.declared.views import DeclaredView

DECLARED = DeclaredView(extracted=True, one_vector=True)
