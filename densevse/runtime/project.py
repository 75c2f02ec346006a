"""The folder of the project, its clone, how extras are installed, and the variables that pass values to its jobs."""

import subprocess
import sys
from pathlib import Path

PACKAGED = "_project"
"""The folder in an installed package with the files that surround the package in a checkout."""


PACKAGE = Path(__file__).parents[1]
"""The folder of the package."""


def project_root() -> Path:
    """The folder of the Snakefile, workflow/, config/ and envs/: a checkout, or the one in an installed package."""
    packaged = PACKAGE / PACKAGED
    return packaged if packaged.is_dir() else PACKAGE.parent


def describe_installation(module: str, extra: str) -> str:
    """The command that installs an extra, or the first of several with commas between them, for its `module`.

    In a checkout `pip install '.[extra]'` would copy densevse into the environment, and edits would have no effect. The
    package index has no densevse, so no message names it alone.
    """
    root, first = project_root(), extra.partition(",")[0]
    if root.name == PACKAGED:
        return f"Install it in the folder from which densevse was installed: `pip install '.[{extra}]'`."
    if first == "workflow":
        return f"Run `make environment` in {root}."
    lock = f"envs/locks/{first}.txt"
    pinned = f"python envs/install.py {lock}" if (root / lock).is_file() else f"pip install {module}"
    return f"Install it with `.venv/bin/{pinned}` in {root}."


def installed_copy(folder: Path) -> str:
    """A line for the command of an installed package that runs in a checkout's `folder`; otherwise empty."""
    if project_root().name != PACKAGED or not (folder / "envs/command.py").is_file():
        return ""
    return (
        f"This folder is a checkout, but the command is of the copy in {PACKAGE}: edits here have no effect. To undo: "
        f"`{sys.executable} -m pip uninstall densevse`, then `{sys.executable} envs/command.py` here."
    )


def git(folder: Path, *arguments: str) -> str:
    """Returns what a command of git prints in a folder: nothing outside a clone, or where git is not installed."""
    try:
        done = subprocess.run(["git", "-C", str(folder), *arguments], capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return ""
    return done.stdout.strip()


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
