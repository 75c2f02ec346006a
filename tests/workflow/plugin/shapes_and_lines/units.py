"""What the method imports."""

FACTOR = 1.0
