"""Declares what the configuration of each method may set; nothing heavy, as the workflow is planned with it."""
