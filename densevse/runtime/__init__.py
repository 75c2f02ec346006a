"""The environment of a job: errors, logs, numerics, processor."""
