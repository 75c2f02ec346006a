"""The places of an image and the words that a model attends to, step by step (Huang et al. 2017, Figures 4 to 6)."""
