"""Doors: what may be added to the project as a file of its own, and is found by that file's name."""
