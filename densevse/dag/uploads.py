"""Copies of the user's files in a bucket. A rule makes each copy once, and jobs read it.

A job in a pod sees only the bucket. So jobs read the copy of a configured path, which is below the folder of downloads;
only the rules that copy read the path itself. A path that is already below that folder was put into the bucket by hand.
"""

import os
from pathlib import PurePosixPath

CARRIED = "carried"
"""The folder of imported models, which only jobs on the machine of Snakemake read."""


class Uploads:
    """The places of the user's files in a bucket, below the folder `resources`."""

    def __init__(self, resources: str) -> None:
        self._resources, self.folder = PurePosixPath(resources), f"{resources}/own"

    def lies_there(self, path: str) -> bool:
        """True for a path in the bucket: a resource that does not belong to an imported model."""
        resource = PurePosixPath(path)
        return resource.is_relative_to(self._resources) and not resource.is_relative_to(self._resources / CARRIED)

    def copy_of(self, path: str) -> str:
        """The path of a copy in the bucket, the same on every machine."""
        whole = os.path.abspath(path) if path.startswith("..") else path
        return f"{self.folder}/{'absolute' if whole.startswith('/') else 'relative'}/{whole.lstrip('/')}"
