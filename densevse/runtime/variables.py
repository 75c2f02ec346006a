"""Environment variables by which the workflow tells its jobs something."""

GPU = "DENSEVSE_GPU"
"""The key `gpu` of the configuration."""

JOBS_PER_GPU = "DENSEVSE_JOBS_PER_GPU"
"""The key `jobs_per_gpu` of the configuration."""
