"""The regions of an image, the whole image first (DeFrag, HM-LSTM)."""

from densevse.config.declared.views import DeclaredView

DECLARED = DeclaredView(opened_by="regions", of_proposals=True)
