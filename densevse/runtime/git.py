"""Asks git about the project's clone."""

import subprocess
from pathlib import Path


def git(folder: Path, *arguments: str) -> str:
    """Returns what a command of git prints in a folder: nothing outside a clone, or where git is not installed."""
    try:
        done = subprocess.run(["git", "-C", str(folder), *arguments], capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return ""
    return done.stdout.strip()
