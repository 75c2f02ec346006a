"""Training: tasks, the one loop and the one driver that train any of them, and checkpoints."""
