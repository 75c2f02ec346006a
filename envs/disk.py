"""Says which disk `make demo` takes, beside what is free: `python3 envs/disk.py`. The standard library only."""

import shutil
import sys
from pathlib import Path

SIZES = {".venv": 5.8, "resources": 0.1, "results": 0.2}
"""Folder -> its GB after `make demo`, measured on Linux x86-64, where 3.3 of them are libraries for GPUs."""


def disk_message(folder: Path, free: float) -> str:
    """The message about the disk space that the demo still takes in a project's folder, of which `free` GB are free."""
    missing = {name: size for name, size in SIZES.items() if not (folder / name).exists()}
    parts = " and ".join(f"{size} GB for {name}" for name, size in missing.items())
    takes = f"about {sum(missing.values()):.1f} GB of disk more: {parts}" if missing else "little disk more"
    return f"The demo takes {takes}. {free:.1f} GB are free."


def main() -> int:
    """Say it; the exit status is 1 where too little is free."""
    folder = Path(__file__).parent.parent
    free = shutil.disk_usage(folder).free / 1e9
    print(disk_message(folder, free), flush=True)
    if free < sum(size for name, size in SIZES.items() if not (folder / name).exists()):
        print("That is too little. Free some, or move the project to a larger disk.", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
