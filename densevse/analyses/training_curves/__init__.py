"""Curves of training and validation."""
