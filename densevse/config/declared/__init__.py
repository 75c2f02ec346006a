"""Declarations of everything that a file can add to the project; each is found by its file's name."""
