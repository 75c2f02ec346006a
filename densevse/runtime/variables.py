"""Environment variables with which the workflow passes values to its jobs."""

GPU = "DENSEVSE_GPU"
"""Holds the key `gpu` of the configuration."""

JOBS_PER_GPU = "DENSEVSE_JOBS_PER_GPU"
"""Holds the key `jobs_per_gpu` of the configuration."""
