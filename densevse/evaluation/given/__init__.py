"""Scores and embeddings that were computed elsewhere: their files, their order, and their metrics."""
