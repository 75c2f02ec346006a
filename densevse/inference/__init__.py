"""Uses trained models: loads them, encodes and scores a split, embeds, and assigns regions to phrases."""
