"""Keeps the conda environments in envs/ at the versions pinned in requirements.txt: `python -m tools.environments`."""

import re
from pathlib import Path

ROOT = Path(__file__).parent.parent
PIN = re.compile(r"^\s*(?:- )?([a-z0-9-]+)==([^\s;\\]+)(?:\s*;\s*([^\\]*))?", re.MULTILINE)


def pinned_versions(file: str = "requirements.txt") -> dict[str, str]:
    """Package -> version on Python 3.11, which the conda environments have."""
    text = (ROOT / file).read_text()
    return {name: version for name, version, marker in PIN.findall(text) if ">= '3.12'" not in marker}


def environments() -> dict[Path, dict[str, str]]:
    return {
        path: {name: version for name, version, _ in PIN.findall(path.read_text())}
        for path in sorted((ROOT / "envs").glob("*.yaml"))
    }


def update_environments() -> None:
    """Writes the pinned versions into the conda files."""
    versions = pinned_versions()
    for path, packages in environments().items():
        text = path.read_text()
        for name, version in packages.items():
            text = text.replace(f"- {name}=={version}\n", f"- {name}=={versions[name]}\n")
        path.write_text(text)


if __name__ == "__main__":
    update_environments()
