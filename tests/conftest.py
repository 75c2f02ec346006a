import pytest

from densevse.processor import avoid_illegal_instructions
from tests.projects import SMALL, SMALL_ROUNDS, Project, copy_code

avoid_illegal_instructions()


@pytest.fixture(scope="session")
def make_project(tmp_path_factory):
    """A function that makes a project with a configuration of its own."""

    def make(values: dict) -> Project:
        project = Project(copy_code(tmp_path_factory.mktemp("project")))
        project.configure(values)
        return project

    return make


@pytest.fixture(scope="session")
def finished(make_project):
    """A project whose small table is made."""
    project = make_project(SMALL)
    project.run("results/tables/scenes.md")
    return project


@pytest.fixture(scope="session")
def finished_rounds(make_project):
    """A project whose table and whose table of rounds are made."""
    project = make_project(SMALL_ROUNDS)
    project.run("results/tables/scenes.md", "results/tables/scenes_rounds.md")
    return project
