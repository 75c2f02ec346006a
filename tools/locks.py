"""Pins, with hashes, what pyproject.toml names: `make lock`.

requirements.txt has the packages of the workflow. For each other extra and group a file in envs/locks/ has what it
needs more, or otherwise.
"""

import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

from envs.install import merge_requirements, requirements
from tools.environments import ROOT

LOCKS = Path("envs/locks")
UNLOCKED = {"workflow", "mcg"}
"""Extras without a file: requirements.txt has the workflow's packages, and mcg is pinned where it is named."""

COMPILE = [sys.executable, "-m", "uv", "pip", "compile", "--quiet", "--universal", "--python-version", "3.11"]
COMPILE += ["--generate-hashes", "--no-annotate", "--extra", "workflow"]

NEW = "# By `make lock`: what `{name}` of pyproject.toml needs that requirements.txt lacks or has otherwise.\n"
GONE = "# It does not need these, and their marker holds on no machine:\n"
NEVER = "python_version < '3'"


def lock_options(root: Path = ROOT) -> dict[str, str]:
    """Each extra or group that has a file in envs/locks/ -> the option of uv that names it."""
    pyproject = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))
    extras, groups = pyproject["project"]["optional-dependencies"], pyproject["dependency-groups"]
    return {name: "--extra" for name in extras if name not in UNLOCKED} | dict.fromkeys(groups, "--group")


def difference(full: dict[str, str], base: dict[str, str]) -> str:
    """What makes `full` of `base` when it is merged with it: `envs/install.py` says how."""
    changed = [text for name, text in full.items() if base.get(name) != text]
    gone = [f"{name} ; {NEVER}\n" for name in base if name not in full]
    return "".join([*changed, *([GONE, *gone] if gone else [])])


def write_lock(lock: Path, option: str, beside: list[Path], root: Path) -> None:
    """Write one file in envs/locks/, in versions that those of the files in `beside` allow."""
    base = root / "requirements.txt"
    constraints = [part for file in beside for part in ("--constraint", str(file))]
    with tempfile.TemporaryDirectory() as folder:
        full = Path(folder, "full.txt")
        # uv keeps the versions that it finds there, where it can.
        full.write_text(merge_requirements([lock, base] if lock.exists() else [base]), encoding="utf-8")
        command = [*COMPILE, *constraints, option, lock.stem, "pyproject.toml", "-o", str(full)]
        subprocess.run(command, cwd=root, check=True)
        text = NEW.format(name=lock.stem) + difference(requirements(full), requirements(base))
    lock.write_text(text, encoding="utf-8")


def write_locks(root: Path = ROOT) -> None:
    """Write requirements.txt, then every file in envs/locks/."""
    base = root / "requirements.txt"
    subprocess.run([*COMPILE, "pyproject.toml", "-o", base.name], cwd=root, check=True)
    beside = [base]
    for name, option in lock_options(root).items():
        lock = root / LOCKS / f"{name}.txt"
        if name == "cuda12":  # its packages are in place of others
            write_lock(lock, option, [], root)
        else:
            write_lock(lock, option, beside, root)
            beside.append(lock)


if __name__ == "__main__":
    write_locks()
