"""Models that write sentences, a module each, and the search that they are decoded with. Tensors only."""
