"""Writes the repository's address, which pyproject.toml has, into each file that states it: `make addresses`.

Also prints the release notes of a version, which CHANGELOG.md has: `python -m tools.addresses 0.2.0`.
"""

import json
import re
import sys
import tomllib
from collections.abc import Mapping
from typing import Any

import yaml

from snakeproof.errors import InputError
from tools.environments import ROOT

PYPROJECT, CITATION, ZENODO, CHANGES = (
    ROOT / name for name in ("pyproject.toml", "CITATION.cff", ".zenodo.json", "CHANGELOG.md")
)
_URLS = re.compile(r"\[project\.urls\]\n(?:.+\n)*\n")
_CODE = re.compile(r"repository-code:.*\n")
_BELOW_URLS, _ABOVE_CODE = "[project.optional-dependencies]\n", "license: MIT\n"


def repository_address(pyproject: str) -> str:
    """The address of the repository in a text of pyproject.toml; empty until an owner sets it."""
    return str(tomllib.loads(pyproject)["tool"]["densevse"]["repository"])


def add_urls(pyproject: str, repository: str) -> str:
    """The text of pyproject.toml with the address as that of the project."""
    urls = f'[project.urls]\nRepository = "{repository}"\n\n' if repository else ""
    return _URLS.sub("", pyproject).replace(_BELOW_URLS, urls + _BELOW_URLS, 1)


def add_code_address(citation: str, repository: str) -> str:
    """The text of CITATION.cff with the address as that of the code."""
    code = f"repository-code: {repository}\n" if repository else ""
    return _CODE.sub("", citation).replace(_ABOVE_CODE, _ABOVE_CODE + code, 1)


def zenodo(citation: Mapping[str, Any]) -> str:
    """The text of .zenodo.json: what Zenodo states of a deposit, as CITATION.cff has it."""
    deposit: dict[str, Any] = {
        "title": citation["title"],
        "description": citation["message"],
        "upload_type": "software",
        "version": citation["version"],
        "license": citation["license"],
        "creators": [{"name": author["name"]} for author in citation["authors"]],
    }
    if "repository-code" in citation:
        deposit["related_identifiers"] = [{"identifier": citation["repository-code"], "relation": "isSupplementTo"}]
    return json.dumps(deposit, indent=2, ensure_ascii=False) + "\n"


def notes(changes: str, version: str) -> str:
    """The notes of a version. Raises `InputError` if CHANGELOG.md has none."""
    found = re.search(rf"^## {re.escape(version)}(?: [^\n]*)?\n(.*?)(?=^## |\Z)", changes, re.MULTILINE | re.DOTALL)
    if found is None:
        raise InputError(f"CHANGELOG.md has no heading `## {version}`. Write the notes of this version below one.")
    return found[1].strip() + "\n"


def write_addresses() -> None:
    """Writes the address into the three files."""
    pyproject = PYPROJECT.read_text(encoding="utf-8")
    repository = repository_address(pyproject)
    citation = add_code_address(CITATION.read_text(encoding="utf-8"), repository)
    PYPROJECT.write_text(add_urls(pyproject, repository), encoding="utf-8")
    CITATION.write_text(citation, encoding="utf-8")
    ZENODO.write_text(zenodo(yaml.safe_load(citation)), encoding="utf-8")


if __name__ == "__main__":
    if len(sys.argv) > 1:
        print(notes(CHANGES.read_text(encoding="utf-8"), sys.argv[1]), end="")
    else:
        write_addresses()
