"""The cells and words that a model attends to, step by step (Huang et al. 2017, Figures 4 to 6)."""
