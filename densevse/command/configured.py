"""The project as its rules see it, with the user's files merged into the configuration."""

from collections.abc import Sequence

from densevse.command.project import ROOT, merged, overrides
from densevse.dag.project import Project


def configured_project(configfiles: Sequence[str]) -> Project:
    """The project with the user's files over its configuration. Raises `InputError` that names a mistake there."""
    return Project(ROOT, merged(overrides(configfiles)))
