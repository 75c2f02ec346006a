"""A trained model on a split: loading it, encoding, scoring, embedding, and assigning regions to phrases."""
