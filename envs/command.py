"""Makes the project known to this environment: the command `densevse`, and the package in any folder.

With `--check` it only looks for a copy of the package in the environment, which would hide the project's own code.
"""

import sys
import sysconfig
from pathlib import Path

LAUNCHER = """#!{python}
import sys

sys.path.append({project!r})

from densevse.command.main import main

sys.exit(main())
"""


def write_command(environment: Path, packages: Path) -> Path:
    """Writes the command into an environment, and the project's place into its `packages`; returns the command.

    Python searches such a place after all packages, so no file of the project stands in for one of these.
    """
    project = str(Path(__file__).resolve().parents[1])
    (packages / "densevse.pth").write_text(f"{project}\n")
    path = environment / "bin/densevse"
    path.write_text(LAUNCHER.format(python=sys.executable, project=project))
    path.chmod(0o755)
    return path


def check_copies(packages: Path) -> None:
    """Exits with a message if `packages` have a copy of densevse, as `pip install .` makes, which edits never reach."""
    if (packages / "densevse/_project").is_dir():
        sys.exit(
            f"{packages} has a copy of densevse, so edits of this checkout have no effect. Remove it by "
            f"`{sys.executable} -m pip uninstall densevse`, then run `{sys.executable} envs/command.py`."
        )


if __name__ == "__main__":
    check_copies(Path(sysconfig.get_path("purelib")))
    if "--check" not in sys.argv:
        write_command(Path(sys.prefix), Path(sysconfig.get_path("purelib")))
