"""Search: sentences and photographs of a person, asked of a trained model."""
