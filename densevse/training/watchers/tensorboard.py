"""TensorBoard's curves of a training: one for each number in a row of the history, over epochs."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from torch.utils.tensorboard import SummaryWriter  # needs the extra `tensorboard`


class TensorBoard:
    """Writes a file of events into a folder. Its first event is a restart, so that readers drop what was there."""

    def __init__(self, run: str, folder: Path) -> None:
        self._writer = SummaryWriter(str(folder), purge_step=0)

    def watch(self, row: Mapping[str, Any]) -> None:
        """Adds the numbers of a row at its epoch."""
        for name, value in row.items():
            if name != "epoch" and isinstance(value, int | float):
                self._writer.add_scalar(name, value, row["epoch"])
        self._writer.flush()

    def close(self) -> None:
        """Closes the file."""
        self._writer.close()


WATCHER = TensorBoard
