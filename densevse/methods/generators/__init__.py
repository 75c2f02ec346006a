"""Models that write sentences, one module each, and the beam search that decodes them; tensors only."""
