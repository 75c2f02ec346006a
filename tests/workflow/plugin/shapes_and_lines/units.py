"""A constant of the method, in a module of its own."""

FACTOR = 1.0
