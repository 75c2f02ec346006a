"""Oracle concepts: true concepts of images with noise, instead of the scores of a network."""
