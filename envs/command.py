"""Writes `bin/densevse` into this environment: the command `densevse`, as it is in the folder of the project."""

import sys
from pathlib import Path

LAUNCHER = """#!{python}
import sys

sys.path.insert(0, {project!r})

from densevse.command.main import main

sys.exit(main())
"""


def write(environment: Path) -> Path:
    """Write the command into an environment and return its file."""
    path = environment / "bin/densevse"
    path.write_text(LAUNCHER.format(python=sys.executable, project=str(Path(__file__).resolve().parents[1])))
    path.chmod(0o755)
    return path


if __name__ == "__main__":
    write(Path(sys.prefix))
