"""Attention, drawn over images and sentences (sm-LSTM, figure 4)."""

from densevse.config.declared.yields import DeclaredYield

DECLARED = DeclaredYield("what it attends to in images and sentences")
