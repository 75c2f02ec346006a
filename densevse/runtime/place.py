"""The place of the project: a checkout, or the folder of an installed package that holds what lies around it."""

from pathlib import Path

PACKAGED = "_project"
"""The folder in an installed package that holds what lies around the package in a checkout."""


def project_root() -> Path:
    """Folder of the Snakefile, workflow/, config/ and envs/: a checkout, or the one in an installed package."""
    package = Path(__file__).parents[1]
    packaged = package / PACKAGED
    return packaged if packaged.is_dir() else package.parent
