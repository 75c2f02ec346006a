"""Readers on damaged files: each ends with a result or an `InputError` that names the file."""
