"""Searches by a trained model with a person's own sentences and photographs."""
