"""Installs pinned, hashed packages with uv, and with pip where uv cannot: `.venv/bin/python envs/install.py FILE...`.

What a later file says of a package holds, and not what an earlier one says. Nothing else is installed: the files name
every package, or one beside which theirs are installed does.

uv takes a quarter of pip's time. It does not read pip's configuration, so what that says of indexes, certificates and
the network is passed on. The standard library only: nothing else is installed yet.
"""

import argparse
import ast
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

UV = Path(__file__).parent / "locks/uv.txt"
SECTIONS = ("global", "install", ":env:")
"""The sections of pip's configuration that `pip install` reads; a later one wins."""

OPTIONS = {
    "index-url": "--default-index",
    "extra-index-url": "--index",
    "find-links": "--find-links",
    "trusted-host": "--allow-insecure-host",
    "cert": "--cert",
}
"""pip's setting -> uv's option, which is given once for each value."""

SWITCHES = {"no-index": "--no-index", "no-cache-dir": "--no-cache"}

BUNDLES = ("REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE")
"""Variables that win over pip's `cert`, the first most of all."""

VARIABLES = {
    "default-timeout": ["UV_HTTP_TIMEOUT"],
    "timeout": ["UV_HTTP_TIMEOUT"],
    "retries": ["UV_HTTP_RETRIES"],
    "client-cert": ["SSL_CLIENT_CERT"],
    "proxy": ["HTTP_PROXY", "HTTPS_PROXY"],
}
"""pip's setting -> the variables that tell uv the same."""


def settings(listed: str) -> dict[str, str]:
    """The settings of `pip install`, from the lines `section.key='value'` that `pip config list` prints."""
    found: dict[str, dict[str, str]] = {section: {} for section in SECTIONS}
    for line in listed.splitlines():
        name, value = line.split("=", 1)
        section, key = name.split(".", 1)
        if section in found:
            found[section][key] = ast.literal_eval(value)
    return {key: value for section in SECTIONS for key, value in found[section].items()}


def options(pip: dict[str, str]) -> Iterator[str]:
    """The options that make uv look where pip is set to look, with the certificates that it trusts."""
    bundles = [os.environ[name] for name in BUNDLES if os.environ.get(name)]
    pip = pip | ({"cert": bundles[0]} if bundles else {})
    for key, option in OPTIONS.items():
        for value in pip.get(key, "").split():
            # pip passes over a folder that is not there; uv would end.
            if key != "find-links" or "://" in value or os.path.exists(os.path.expanduser(value)):
                yield from (option, os.path.expanduser(value))
    yield from (option for key, option in SWITCHES.items() if pip.get(key, "").lower() in ("1", "true", "yes", "on"))


def variables(pip: dict[str, str]) -> dict[str, str]:
    """The environment variables that tell uv what else pip is set to."""
    return {name: pip[key] for key, names in VARIABLES.items() if key in pip for name in names}


def requirements(file: str | Path) -> dict[str, str]:
    """Package -> what a file requires of it, with its hashes."""
    text = re.sub(r"^#.*\n", "", Path(file).read_text(encoding="utf-8"), flags=re.MULTILINE)
    found: dict[str, str] = {}
    for required in re.findall(r"^\S(?:.*\\\n)*.*\n?", text, flags=re.MULTILINE):
        name = re.split(r"[\s=;\[]", required, maxsplit=1)[0]
        found[name] = found.get(name, "") + required
    return found


def merge_requirements(files: Sequence[str | Path]) -> str:
    """The requirements in files as those of one file: the last that names a package says what is required of it."""
    found: dict[str, str] = {}
    for file in files:
        found |= requirements(file)
    return "".join(found.values())


def install_with_pip(file: str | Path, *more: str) -> bool:
    """Install the requirements in a file with pip and the options `more`. Returns False if that fails."""
    quiet = ["--quiet", "--disable-pip-version-check"]
    alone = ["--no-deps", "--require-hashes", "--requirement", str(file)]
    return subprocess.run([sys.executable, "-m", "pip", "install", *quiet, *alone, *more]).returncode == 0


def install_uv() -> bool:
    """Install uv, and once more if a part is missing, as after a kill. Returns False if it does not start then."""
    # pip takes a package for installed once its metadata are there.
    return install_with_pip(UV) and (_uv_starts() or (install_with_pip(UV, "--force-reinstall") and _uv_starts()))


def _uv_starts() -> bool:
    return subprocess.run([sys.executable, "-m", "uv", "--version"], stdout=subprocess.DEVNULL).returncode == 0


def pip_settings() -> dict[str, str]:
    """The settings of this environment's pip."""
    command = [sys.executable, "-m", "pip", "config", "list"]
    return settings(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


def uv_install(file: str | Path, pip: dict[str, str], *more: str, **how: Any) -> subprocess.CompletedProcess[str]:
    """Let uv install the requirements in a file, looking where pip is set to look.

    `more` are further options of uv, and `how` those of `subprocess.run`.
    """
    # uv would add the constraints of pyproject.toml to the locked file, and refuse them as they have no hashes.
    command = [sys.executable, "-m", "uv", "pip", "install", "--quiet", "--no-config"]
    # Like pip, take a version from whichever index has it: its hash says that it is the right one.
    command += ["--index-strategy", "unsafe-best-match", "--require-hashes", "--requirement", str(file), *options(pip)]
    return subprocess.run([*command, *more], env=os.environ | variables(pip), **how)


def install_with_uv(file: str | Path) -> bool:
    """Install the requirements in a file with uv. Returns False if that fails.

    uv compiles the packages, as pip does. Otherwise the first job that imports a package compiles it, or every job
    does if the environment is read-only.
    """
    alone = ["--python", sys.executable, "--compile-bytecode", "--no-deps"]
    return uv_install(file, pip_settings(), *alone).returncode == 0


def install(files: Sequence[str]) -> bool:
    """Install the requirements in files, merged, with uv, or else with pip. Returns False if both fail."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "merged.txt")
        file.write_text(merge_requirements(files), encoding="utf-8")
        if install_uv() and install_with_uv(file):
            return True
        print(f"uv could not install {' '.join(files)}, as said above. pip does it now, more slowly.", file=sys.stderr)
        return install_with_pip(file)


def main() -> int:
    """Install the requirements in files; the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("files", nargs="+", metavar="FILE")
    return 0 if install(parser.parse_args().files) else 1


if __name__ == "__main__":
    sys.exit(main())
