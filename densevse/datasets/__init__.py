"""Obtains data: downloads, readers of official layouts, and files that come with the project."""
