"""The user's files where results lie in a bucket: each is copied there once, by a rule, and jobs read the copy.

A job in a pod sees the bucket and nothing else. So a path of the configuration stands for its copy, below the folder
of downloads; only the rules that copy read the path itself. What lies below that folder already was put into the
bucket by hand.
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
        """Whether a path is one of the bucket's: a resource, unless it belongs to an imported model."""
        resource = PurePosixPath(path)
        return resource.is_relative_to(self._resources) and not resource.is_relative_to(self._resources / CARRIED)

    def copy_of(self, path: str) -> str:
        """The copy of a path in the bucket, which has no other name elsewhere."""
        whole = os.path.abspath(path) if path.startswith("..") else path
        return f"{self.folder}/{'absolute' if whole.startswith('/') else 'relative'}/{whole.lstrip('/')}"
