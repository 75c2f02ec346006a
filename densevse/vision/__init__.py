"""Computes features from pixels: proposals, networks, views and regions."""
