"""Recall of true boxes by proposals, and the time that proposers take."""
