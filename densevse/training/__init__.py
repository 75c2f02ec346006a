"""From artifacts to trained weights: batches, the one loop, checkpoints, correspondences."""
