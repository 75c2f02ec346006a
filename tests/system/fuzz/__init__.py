"""Readers on files that are not what they should be: each ends with a result or an `InputError` that names the file."""
