"""Models: built by name, saved, loaded, and at work: encode, score, rank, embed."""
