"""The pixels of regions (DeFrag, section 3.4)."""

from densevse.config.declared.views import DeclaredView

DECLARED = DeclaredView(opened_by="crops", features_of="regions", pixels=True)
