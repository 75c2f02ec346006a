"""Oracle concepts: the true concepts of images with noise, in the place of scores that a network gives."""
