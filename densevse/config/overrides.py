"""Files that are merged over the folders of config/. The command imports this for its help, so it imports little."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple


class Override(NamedTuple):
    """A file whose values are merged over those of the folders of config/."""

    file: str
    values: dict[str, Any]


def holds(values: Any, keys: Sequence[str]) -> bool:
    """True if nested mappings hold a value under `keys`."""
    for key in keys:
        if not (isinstance(values, Mapping) and key in values):
            return False
        values = values[key]
    return True
