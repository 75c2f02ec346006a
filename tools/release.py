"""A trained model with the networks that it needs, as one folder that others can search with: `make release`."""

import argparse
import json
import shutil
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

from densevse.command.main import main as densevse
from densevse.command.shared import configured_project, merge_overrides, overrides
from densevse.config.load import merge
from densevse.dag.features import network_weights
from densevse.dag.project import Project
from densevse.exchange.dag import export_folder, export_job
from densevse.exchange.records import RECORDS_FILE, read_records
from densevse.runtime.project import git
from snakeproof.errors import InputError, leaves
from snakeproof.files import checksum, whole_folder

ROOT = Path(__file__).resolve().parents[1]
MODEL, NETWORKS, SETTINGS, SUMS = "model", "networks", "settings.yaml", "SHA256SUMS"
USE = """# {title}

A trained model of densevse, with the weights of the network that reads photographs. It was made with densevse {code},
and another version refuses it if its code of training differs. Unpack this folder as `{name}` where you work, and put
your photographs into a folder beside it:

    densevse import {name}/{model} --configfile {name}/{settings}
    densevse search "a dog in the snow" photographs --model {trained} --configfile {name}/{settings}

`{model}/README.md` is the card of the model, and `{networks}/README.md` that of the network. `sha256sum --check {sums}`
finds a damaged file. `{model}/LICENCES.md` has the licences of what the model was trained on. Read it before you pass
this folder on; a licence that is not stated there permits nothing.
"""


def release(exported: Path, project: Project, settings: Mapping[str, Any], folder: Path) -> None:
    """Writes the released `folder` of an export. `settings` are the user's over the configuration.

    Raises `InputError` if the folder is there already, or if a network's weights are not those of the training.
    """
    if folder.exists():
        raise InputError(f"{folder} is there already. Delete it to make the release again.")
    records = read_records(exported / RECORDS_FILE)
    described = export_job(project, *records.name).settings["described"]
    seen = json.loads((exported / "preprocessing.json").read_text(encoding="utf-8"))["images"]
    networks = {view["network"]: view for view in seen.values()}
    with whole_folder(folder) as temporary:
        shutil.copytree(exported, temporary / MODEL, ignore=shutil.ignore_patterns(".*"))
        (temporary / NETWORKS).mkdir()
        placed = {
            name: _copy_weights(name, view, project, temporary / NETWORKS).relative_to(temporary)
            for name, view in networks.items()
        }
        card = [line for name, view in networks.items() for line in _card(name, view, described["licences"])]
        _write(temporary / NETWORKS / "README.md", "\n".join(["# Networks", "", *card, ""]))
        own = {name: {"local": str(Path(folder.name, path))} for name, path in placed.items()}
        _write(temporary / SETTINGS, yaml.safe_dump(merge(settings, {"networks": own}), sort_keys=False))
        title = f"{described['title']}, trained on {described['dataset']}"
        names = {"model": MODEL, "networks": NETWORKS, "settings": SETTINGS, "sums": SUMS}
        trained = f"{records.dataset}/{records.variant}"
        use = USE.format(title=title, name=folder.name, trained=trained, code=_version(), **names)
        _write(temporary / "README.md", use)
        _write(temporary / SUMS, "".join(_sums(temporary)))


def _copy_weights(name: str, view: Mapping[str, Any], project: Project, folder: Path) -> Path:
    """A copy of a network's weights. Raises `InputError` if they are not those of the model's features."""
    place = network_weights(project, name)
    path = Path(place) if isinstance(place, str) else Path(project.config.resources, place["network"], place["file"])
    if not path.is_file() or checksum(path) != view["weights_sha256"]:
        raise InputError(
            f"{path}: not the weights with which the model was trained, whose sha256 is {view['weights_sha256']}. "
            "Restore them, or train the model again."
        )
    return Path(shutil.copyfile(path, folder / f"{name}{path.suffix}"))


def _card(name: str, view: Mapping[str, Any], licences: Mapping[str, str]) -> Iterator[str]:
    """The card of a network: how it reads images, where its weights come from, and their licence."""
    licence = licences.get(f"weights of the network {name}", "that of the data set it was trained on")
    yield from (f"## {name}", "", "| setting | value |", "|---|---|", f"| licence of the weights | {licence} |")
    yield from (f"| {path} | {value} |" for path, value in leaves(view))


def _version() -> str:
    """The version of the project and, in a clone, its commit."""
    version = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]
    commit = git(ROOT, "rev-parse", "--short", "HEAD")
    return f"{version} at commit {commit}" if commit else version


def _sums(folder: Path) -> Iterator[str]:
    """A line for each file, as `sha256sum --check` reads it."""
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        yield f"{checksum(path)}  {path.relative_to(folder).as_posix()}\n"


def _write(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8")


def main(argv: Sequence[str] | None = None) -> int:
    """Exports a variant, trains it first if necessary, and writes release/<variant>-<data set>/."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("variant")
    parser.add_argument("dataset")
    parser.add_argument("--configfile", nargs="+", default=[], metavar="FILE")
    given = parser.parse_args(argv)
    files = ["--configfile", *given.configfile] if given.configfile else []
    status = densevse(["export", given.variant, "--on", given.dataset, *files])
    if status:
        return status
    project, folder = configured_project(given.configfile), Path("release", f"{given.variant}-{given.dataset}")
    exported = Path(export_folder(project, given.dataset, given.variant))
    release(exported, project, merge_overrides(overrides(given.configfile)), folder)
    print(folder)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
