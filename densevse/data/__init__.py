"""Turns artifacts into batches of tensors: views of images, structures of sentences, and matched pairs of both."""
