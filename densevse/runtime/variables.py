"""Environment variables by which the workflow tells its jobs something."""

GPU = "DENSEVSE_GPU"
"""What the configuration's `gpu` is."""

JOBS_PER_GPU = "DENSEVSE_JOBS_PER_GPU"
"""What the configuration's `jobs_per_gpu` is."""
