"""How a job runs: errors, logs, numerics, processor."""
