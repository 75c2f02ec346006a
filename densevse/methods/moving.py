"""Moves a batch to the device that computes.

`Packed` sends all its tensors by one copy. Features are `Stored`: half as many bytes, or only the numbers of rows of a
table that is on the device already.
"""

from collections.abc import Callable
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import Any, TypeVar

import torch
from torch import Tensor

Item = TypeVar("Item")

ALIGNED = 64
"""Bytes; every tensor of a packed batch begins at a multiple of them."""


@dataclass(frozen=True)
class Stored:
    """Features of images in the precision of their file, which become a tensor of float32 on a device.

    `sent` are the features themselves or, with a `table` (rows, ...) that is on the device, the numbers of its rows.
    """

    sent: Tensor
    table: Tensor | None = None

    def to(self, device: torch.device, non_blocking: bool = False) -> Tensor:
        """The features in float32; with a table those of each number, (..., D) for numbers (...)."""
        sent = self.sent.to(device, non_blocking=non_blocking)
        if self.table is None:
            return sent.float()
        return self.table.index_select(0, sent.flatten()).view(*sent.shape, *self.table.shape[1:]).float()


def to_device(item: Item, device: torch.device) -> Item:
    """Moves every tensor inside a tensor, dictionary, tuple or dataclass to `device`; NumPy arrays stay."""
    moved: Item = _map_tensors(item, lambda leaf: leaf.to(device, non_blocking=True))
    return moved


class Packed:
    """An item whose tensors stand side by side in one buffer, so that one copy moves them all."""

    def __init__(self, item: Any, pin: bool) -> None:
        """Copies the item's tensors; with `pin` to memory from which a GPU copies without making the host wait."""
        sizes: list[int] = []
        _map_tensors(item, lambda leaf: sizes.append(-(-_sent_tensor(leaf).nbytes // ALIGNED) * ALIGNED))
        self._buffer = torch.empty(sum(sizes), dtype=torch.uint8, pin_memory=pin)
        parts = iter(self._buffer.split(sizes))

        def copy_leaf(leaf: Tensor | Stored) -> Any:
            if isinstance(leaf, Stored):
                return replace(leaf, sent=copy_leaf(leaf.sent))
            return next(parts)[: leaf.nbytes].view(leaf.dtype).view(leaf.shape).copy_(leaf)

        self._item = _map_tensors(item, copy_leaf)

    def to(self, device: torch.device) -> Any:
        """The item with its tensors on `device`, as parts of one tensor there."""
        moved = self._buffer.to(device, non_blocking=True)
        typed: dict[torch.dtype, Tensor] = {}

        def view_leaf(leaf: Tensor | Stored) -> Any:
            if isinstance(leaf, Stored):
                return replace(leaf, sent=view_leaf(leaf.sent)).to(device)
            if leaf.dtype not in typed:
                typed[leaf.dtype] = moved.view(leaf.dtype)
            return typed[leaf.dtype].as_strided(leaf.shape, leaf.stride(), leaf.storage_offset())

        return _map_tensors(self._item, view_leaf)


def _sent_tensor(leaf: Tensor | Stored) -> Tensor:
    return leaf.sent if isinstance(leaf, Stored) else leaf


def _map_tensors(item: Any, change: Callable[[Any], Any]) -> Any:
    """Copies an item, and replaces every tensor, and every `Stored`, in it by what `change` returns of it."""
    if isinstance(item, Tensor | Stored):
        return change(item)
    if isinstance(item, dict):
        return {key: _map_tensors(value, change) for key, value in item.items()}
    if isinstance(item, tuple):
        changed = [_map_tensors(value, change) for value in item]
        return type(item)(*changed) if hasattr(item, "_fields") else tuple(changed)
    if is_dataclass(item) and not isinstance(item, type):
        return type(item)(**{f.name: _map_tensors(getattr(item, f.name), change) for f in fields(item)})
    return item
