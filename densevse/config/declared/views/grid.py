"""The cells of a convolution (sm-LSTM)."""

from densevse.config.declared.views import DeclaredView

DECLARED = DeclaredView(extracted=True)
