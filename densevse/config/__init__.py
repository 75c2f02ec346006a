"""Declares and validates everything in config/. This room imports no other room but runtime, and nothing heavy."""
