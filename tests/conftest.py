import os

# Before torch is imported: several processes of tests share the processor's cores (`pytest -n`).
os.environ.setdefault(
    "OMP_NUM_THREADS", str(max(1, (os.cpu_count() or 1) // int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", 1))))
)

import cv2
import pytest
import torch

from densevse.runtime.processor import avoid_illegal_instructions
from tests.projects import SMALL, SMALL_ROUNDS, Project, copy_code

avoid_illegal_instructions()

FINISHED = {"finished", "finished_rounds"}
"""Projects that many tests share. They take longest to make, so their tests begin first, all in one process."""


@pytest.hookimpl(tryfirst=True)  # xdist reads the groups in the same hook
def pytest_collection_modifyitems(items):
    """The tests of one file run in one process, and so do those that share finished projects."""
    for item in items:
        shared = not FINISHED.isdisjoint(getattr(item, "fixturenames", ()))
        item.add_marker(pytest.mark.xdist_group("finished" if shared else item.path.name))
    items.sort(key=lambda item: FINISHED.isdisjoint(getattr(item, "fixturenames", ())))


@pytest.fixture(autouse=True)
def numeric_settings():
    """Settings of the whole process that decide the last bits of a sum are after each test as they were before it."""
    products = torch.backends.mkldnn.matmul
    before = torch.get_num_threads(), torch.get_default_dtype(), products.fp32_precision, cv2.getNumThreads()
    deterministic = torch.are_deterministic_algorithms_enabled()
    yield
    torch.set_num_threads(before[0])
    torch.set_default_dtype(before[1])
    products.fp32_precision = before[2]
    cv2.setNumThreads(before[3])
    torch.use_deterministic_algorithms(deterministic)


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
