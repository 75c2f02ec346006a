"""The error for mistakes that a user can correct."""


class InputError(Exception):
    """An input of the user (a file, a configuration key, a row) cannot be used.

    The message names the file, key or row, what was expected and found, and what to do.
    """
