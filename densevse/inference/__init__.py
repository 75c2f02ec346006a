"""Trained models at work on sentences and images of a caller, and as ONNX files for other programs."""
