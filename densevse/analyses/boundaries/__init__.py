"""Compares MCG's contours with the boundaries that people drew (BSDS500)."""
