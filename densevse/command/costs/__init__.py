"""Estimates the time of planned jobs from the arithmetic that they do, and from how fast a machine does it."""
