"""Training: tasks, one loop and one driver that train all of them, and checkpoints."""
