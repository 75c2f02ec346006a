"""Training: tasks, the one loop that trains any of them, and checkpoints."""
