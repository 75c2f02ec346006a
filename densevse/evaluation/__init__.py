"""Computes metrics from scores: ranks, protocols, retrieval results and accuracies."""
