"""The files of a network, and the precision that is chosen once for each network and data set.

With `precision: auto` the first job checks whether its machine computes bf16 in hardware, and records its choice in a
file. All shards on all machines follow that file. So features never mix two precisions, and a project that moves to
another machine recomputes nothing.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from densevse.artifacts.files import checksum
from densevse.artifacts.lineage import PathOrPaths, lineage
from densevse.artifacts.schema import read, write
from densevse.artifacts.schemas.features import PRECISION
from densevse.runtime.errors import InputError
from densevse.runtime.numerics import fastest_precision, set_up
from densevse.vision.networks import Network, load_network


@dataclass(frozen=True)
class NetworkFiles:
    """A network by name: its entry in config/networks as plain values, its weights and its recorded precision.

    `precision` is a PRECISION artifact, which is required if the entry says `precision: auto`.
    """

    name: str
    settings: Mapping[str, Any]
    weights: str | Path
    precision: str | Path | None = None

    def load(self) -> Network:
        """Loads the network in the recorded precision. Raises `InputError` if that is missing."""
        return load_network({**self.settings, "precision": self._precision()}, self.weights)

    def made_from(
        self, images: str | Path, parents: Mapping[str, PathOrPaths] | None = None, **also: Any
    ) -> dict[str, Any]:
        """The lineage of this network's features of an image table, with `also` and `parents` added."""
        # The nodes follow from the architecture and the layers, and earlier features do not name them.
        stated = {name: value for name, value in self.settings.items() if name != "nodes"}
        own = {"network": self.name, **stated, "weights_sha256": checksum(self.weights), **also}
        chosen = {"precision": self.precision} if self.precision else {}
        return lineage(own, {"images": images, **chosen, **(parents or {})})

    def _precision(self) -> str:
        asked: str = self.settings.get("precision", "auto")
        if asked != "auto":
            return asked
        if self.precision is None:
            raise InputError(f"networks.{self.name}: `precision: auto` needs the file with the chosen precision.")
        chosen: str = read(self.precision, PRECISION)["precision"].item()
        return chosen


def write_precision(output: str | Path, threads: int) -> None:
    """The job that writes the precision that is faster on this machine as a PRECISION artifact."""
    device = set_up(threads)
    chosen = fastest_precision()
    row = pd.DataFrame({"precision": [chosen], "device": [device.type]})
    write(row, PRECISION, output, lineage({"precision": chosen}))
