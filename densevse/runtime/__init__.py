"""The place where a job runs: its device and numerics, the project's folder, and the user's settings of a GPU."""
