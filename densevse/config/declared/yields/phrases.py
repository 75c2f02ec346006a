"""Phrases and regions in one space (HM-LSTM, section 5.3)."""

from densevse.config.declared.yields import DeclaredYield

DECLARED = DeclaredYield("vectors of phrases and of regions")
