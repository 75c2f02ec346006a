"""Checks that every supported machine has wheels of what is pinned: `.venv/bin/python envs/wheels.py FILE...`.

The files are merged, as `envs/install.py` does. It asks the package index that pip is set to; nothing is installed.
"""

import os
import sys
import tempfile
from itertools import product
from pathlib import Path

from install import merge_requirements, pip_settings, uv_install

PYTHONS = ("3.11", "3.12", "3.13")
PLATFORMS = ("x86_64-unknown-linux-gnu", "aarch64-unknown-linux-gnu", "aarch64-apple-darwin")
OLDEST_MACOS = "14.0"
"""That of torch's wheels. uv takes an older one, unless a variable names another."""
BUILT = ("connection-pool",)
"""Pure Python that is published as source only: it takes no compiler."""


def missing_wheels(platform: str, python: str, files: tuple[str, ...]) -> str:
    """The reason why uv could not install these requirements on a machine from wheels; empty if it could."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "merged.txt")
        file.write_text(merge_requirements(files), encoding="utf-8")
        there = ["--dry-run", "--target", folder, "--python-platform", platform, "--python-version", python]
        wheels = ["--only-binary", ":all:", *(option for name in BUILT for option in ("--no-binary", name))]
        done = uv_install(file, pip_settings(), *there, *wheels, capture_output=True, text=True)
    return done.stderr.strip() if done.returncode else ""


def main(*files: str) -> int:
    """Print what was found for each machine; the exit status."""
    os.environ["MACOSX_DEPLOYMENT_TARGET"] = OLDEST_MACOS
    found = [missing_wheels(*machine, files) for machine in product(PLATFORMS, PYTHONS)]
    for (platform, python), reason in zip(product(PLATFORMS, PYTHONS), found, strict=True):
        print(f"{platform}, Python {python}: {reason or 'all wheels'}", flush=True)
    return int(any(found))


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
