"""The one error a user is meant to read."""


class InputError(Exception):
    """Something the user gave us (a file, a config key, a row) cannot be used as it is.

    The message names the file, key or row, says what was expected and what was found, and what to do next.
    """
