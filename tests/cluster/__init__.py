"""The requests of a target's jobs under the profile of Slurm: they are sent to a pretended cluster."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from densevse.config.load import load
from densevse.dag.downloads import sources_by_path
from tests.projects import ROOT, Project
from tests.rules import rules

PROFILE = ROOT / "profiles/slurm/config.yaml"
PLUGINS = Path(__file__).parent / "plugins"
GPU_RULES = sorted(
    name
    for name, rule in rules().items()
    if "**settings.accelerator" in rules()[rule.base or name].sections.get("resources", "")
)
OBTAINED = ("corenlp", "spice", "hed/hed.safetensors")
"""Files that rules obtain on the machine that Snakemake runs on, besides the sources of the configuration."""


@dataclass(frozen=True)
class Request:
    """One cluster job: the rules of its jobs, their time limits in minutes, and what it asks for."""

    group: str | None
    rules: list[str]
    runtimes: list[int]
    attempt: int
    threads: int
    resources: dict[str, Any]

    @property
    def wants_gpu(self) -> bool:
        return bool(self.resources.get("gpu") or self.resources.get("gres"))


def profile() -> dict[str, Any]:
    """The profile of Slurm as it ships."""
    found: dict[str, Any] = yaml.safe_load(PROFILE.read_text())
    return found


def requests(project: Project, *targets: str, failing: str = "", changes: Mapping[str, Any] = {}) -> list[Request]:
    """The requests of the cluster jobs of targets, in the order in which they are sent.

    The rules that `failing` names, with commas between them, fail at their first attempt. `changes` are keys of the
    profile.
    """
    _obtain(project)
    folder = project.folder / "profiles/pretended"
    folder.mkdir(exist_ok=True)
    values = {name: value for name, value in profile().items() if not name.startswith("slurm-")}
    values |= {"executor": "pretended", "latency-wait": 1, **changes}
    (folder / "config.yaml").write_text(yaml.safe_dump(values))
    written = project.folder / "requests.jsonl"
    written.unlink(missing_ok=True)

    def through(command: list[str]) -> list[str]:
        cores = command.index("--cores")  # the profile says how many
        variables = [f"PYTHONPATH={PLUGINS}", f"PRETENDED_FAILURES={failing}"]
        return ["env", *variables, *command[:cores], *command[cores + 2 :]]

    project.run("--workflow-profile=profiles/pretended", *targets, through=through)
    return [Request(**json.loads(line)) for line in written.read_text().splitlines()]


def _obtain(project: Project) -> None:
    """Make empty files of all that is obtained."""
    config = load(ROOT / "config", json.loads((project.folder / "test.yaml").read_text()))
    paths = [*sources_by_path(config), *OBTAINED]
    for path in (project.folder / "resources" / name for name in paths):
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.suffix:
            path.touch()
        else:
            path.mkdir(exist_ok=True)
