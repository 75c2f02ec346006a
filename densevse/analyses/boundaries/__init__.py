"""Contours held against the boundaries that people drew (BSDS500): a check of MCG's contours."""
