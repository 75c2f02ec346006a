"""From scores to figures of merit: ranks, protocols, retrieval results, accuracies, tables."""
