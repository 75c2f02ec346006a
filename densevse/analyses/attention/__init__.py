"""Attention of a model to places of an image and to words, step by step (Huang et al. 2017, Figures 4 to 6)."""
