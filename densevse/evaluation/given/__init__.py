"""Scores and embeddings that were computed elsewhere: their files, their order, and what they are measured by."""
