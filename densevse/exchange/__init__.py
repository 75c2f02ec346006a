"""Exports a trained model as a folder, and imports it into another folder of results with its records."""
