"""What a job finds where it runs: its device and numerics, the project's folder, and the user's settings of a GPU."""
