"""What git says of the project's clone."""

import subprocess
from pathlib import Path


def git(folder: Path, *arguments: str) -> str:
    """What a command of git prints in a folder; empty without git, and outside a clone."""
    try:
        done = subprocess.run(["git", "-C", str(folder), *arguments], capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return ""
    return done.stdout.strip()
