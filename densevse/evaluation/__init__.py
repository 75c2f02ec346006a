"""From scores to metrics: ranks, protocols, retrieval results, accuracies, tables."""
