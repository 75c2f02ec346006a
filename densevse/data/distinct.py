"""Items that are equal: the same sentence of two images, the same photograph under two names.

Libraries round a product by its shape, so two computations of one thing may differ in the last bits. What is computed
once, and copied, is equal by construction.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, fields, is_dataclass
from hashlib import blake2b
from typing import Any, Self

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from densevse.data.ragged import Ragged
from densevse.methods.moving import Stored
from densevse.runtime.arrays import Indices, as_array


@dataclass(frozen=True)
class Distinct:
    """The items of a list as kinds of equal ones."""

    first: Indices  # (distinct,) the first item of each kind, ascending
    row: Indices  # (items,) the kind of each item, a row of `first`

    @classmethod
    def from_contents(cls, contents: Iterable[Any]) -> Self:
        """By the contents of items: arrays, tensors and numbers, also in tuples, dictionaries and dataclasses."""
        return cls.from_names(np.array([digest_content(content) for content in contents], object))

    @classmethod
    def from_names(cls, names: NDArray[np.object_]) -> Self:
        """By names that equal items share."""
        row, kinds = pd.factorize(names)
        return cls(np.unique(row, return_index=True)[1] if len(kinds) else row, row.astype(np.int64))

    def __len__(self) -> int:
        return len(self.first)

    def rows_of(self, kinds: Indices) -> tuple[Indices, Indices]:
        """The items of some kinds, those of each ascending; and of each item the place in `kinds`."""
        items = np.argsort(self.row, kind="stable")
        place, kind, _ = Ragged.from_lengths(np.bincount(self.row, minlength=len(self))).take(kinds)
        return items[place], kind


def digest_content(content: Any) -> bytes:
    """16 bytes that are those of another content only by chance."""
    digest = blake2b(digest_size=16)
    _add_content(content, digest.update)
    return digest.digest()


def _add_content(content: Any, add: Callable[[bytes], None]) -> None:
    """Adds the bytes of every array and number in a content, each with its type and shape."""
    if isinstance(content, Stored):
        content = content.to(content.sent.device if content.table is None else content.table.device)
    if isinstance(content, dict):
        content = tuple(part for entry in sorted(content.items()) for part in entry)
    elif is_dataclass(content):
        content = tuple(getattr(content, field.name) for field in fields(content))
    if isinstance(content, list | tuple):
        add(b"%d parts" % len(content))
        for part in content:
            _add_content(part, add)
    elif isinstance(content, bytes):
        add(content)
    elif hasattr(content, "dtype"):
        array = as_array(content)
        add(f"{array.dtype.str} {array.shape} ".encode())  # the type's name takes longer than all else
        add(array.tobytes())
    else:
        add(repr(content).encode())
