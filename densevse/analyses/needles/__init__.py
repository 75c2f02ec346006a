"""Needles: made-up features in which a few marked cells of an image are what its sentences are about."""
