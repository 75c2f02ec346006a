"""The first sentence that a generator wrote about an image (SCO's context and sentence)."""

from densevse.config.declared.views import DeclaredView

DECLARED = DeclaredView(opened_by="generated_captions", made_by="generator")
