"""Declares the configuration of each method; imports nothing heavy, as the workflow is planned with it."""
