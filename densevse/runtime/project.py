"""The project's folder, and the environment variables with which the workflow passes values to its jobs."""

from pathlib import Path

PACKAGED = "_project"
"""The folder in an installed package with the files that surround the package in a checkout."""


PACKAGE = Path(__file__).parents[1]
"""The folder of the package."""


def project_root() -> Path:
    """The folder of the Snakefile, workflow/, config/ and envs/: a checkout, or the one in an installed package."""
    packaged = PACKAGE / PACKAGED
    return packaged if packaged.is_dir() else PACKAGE.parent


GPU = "DENSEVSE_GPU"
"""Holds the key `gpu` of the configuration."""

JOBS_PER_GPU = "DENSEVSE_JOBS_PER_GPU"
"""Holds the key `jobs_per_gpu` of the configuration."""

PLAIN_ON_GPU = "DENSEVSE_PLAIN_ON_GPU"
"""Holds the key `plain_on_gpu` of the configuration, with commas."""

LOADER_THREADS = "DENSEVSE_LOADER_THREADS"
"""Holds the key `loader_threads` of the configuration."""

NUMBERS_AT_ONCE = "DENSEVSE_NUMBERS_AT_ONCE"
"""Holds the key `numbers_at_once` of the configuration."""

WATCHERS = "DENSEVSE_WATCHERS"
"""Holds the watchers of the key `logging` of the configuration, with commas."""
