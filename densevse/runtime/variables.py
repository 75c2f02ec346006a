"""Environment variables by which the workflow tells its jobs something."""

GPU = "DENSEVSE_GPU"
"""What the configuration's `gpu` is."""
