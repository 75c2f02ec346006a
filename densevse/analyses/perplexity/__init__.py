"""Perplexity of a split's sentences by a decoder that is given the right image, or another one (SCO)."""
