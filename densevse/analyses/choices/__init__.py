"""Choices: the right sentence of an image among wrong ones, and what of it the words alone decide."""
