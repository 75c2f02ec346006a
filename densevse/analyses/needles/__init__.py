"""Needles: synthetic features where an image's sentences are about a few marked cells."""
