import fcntl
import os
from collections.abc import Callable

# Before torch is imported: several processes of tests share the processor's cores (`pytest -n`). Only they do this, as
# they would inherit what the process that starts them sets.
if workers := os.environ.get("PYTEST_XDIST_WORKER_COUNT"):
    os.environ.setdefault("OMP_NUM_THREADS", str(max(1, (os.cpu_count() or 1) // int(workers))))

# A GPU is hidden from tests and from the jobs that they start, as a process that uses it locks it until it ends.
# `make gpu-check` tests it; what is not said to compute on it computes on the CPU.
if os.environ.get("TESTED_GPU") == "1":
    os.environ["DENSEVSE_GPU"] = "0"
else:
    os.environ["CUDA_VISIBLE_DEVICES"] = ""

import cv2
import pytest
import torch

from densevse.runtime.numerics import avoid_illegal_instructions
from tests.projects import SMALL, SMALL_ROUNDS, Project, copy_code

avoid_illegal_instructions()


LONGEST = "tests/tutorials/test_tutorials.py", "tests/vision/test_weights_tables.py"


def pytest_collection_modifyitems(items):
    """The longest files and tests that run the workflow start first, so that no process is left alone at the end."""
    items.sort(
        key=lambda item: (
            not item.nodeid.startswith(LONGEST),
            "make_project" not in getattr(item, "fixturenames", ()),
        )
    )


PRODUCTS = (
    torch.backends.mkldnn.matmul,
    torch.backends.cuda.matmul,
    torch.backends.cudnn.conv,
    torch.backends.cudnn.rnn,
)
PRECISIONS = [products.fp32_precision for products in PRODUCTS]
THREADS = torch.get_num_threads(), cv2.getNumThreads()
DEFAULT_DTYPE = torch.get_default_dtype()


@pytest.fixture(autouse=True)
def numeric_settings():
    """Settings of the process that decide the last bits of a sum are pytest's own at a test's start and after it.

    They are not those found before the test, as a fixture of a whole file may already have changed them.
    """
    _reset_numerics()
    yield
    _reset_numerics()


def _reset_numerics():
    torch.set_num_threads(THREADS[0])
    cv2.setNumThreads(THREADS[1])
    torch.set_default_dtype(DEFAULT_DTYPE)
    torch.use_deterministic_algorithms(False)
    for products, precision in zip(PRODUCTS, PRECISIONS, strict=True):
        products.fp32_precision = precision


@pytest.fixture(scope="session")
def make_project(tmp_path_factory):
    """A function that makes a project with its own configuration."""

    def make(values: dict) -> Project:
        project = Project(copy_code(tmp_path_factory.mktemp("project")))
        project.configure(values)
        return project

    return make


@pytest.fixture(scope="session")
def made_once(tmp_path_factory, worker_id):
    """A function that returns a project by name: one test process makes it for all, and each gets a copy."""
    folder = tmp_path_factory.getbasetemp()
    common = folder if worker_id == "master" else folder.parent

    def give(name: str, make: Callable[[], Project], values: dict) -> Project:
        with open(common / f"{name}.lock", "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not (common / name).exists():
                make().folder.rename(common / name)
        return Project(common / name).copy(tmp_path_factory.mktemp(name) / "project", values)

    return give


@pytest.fixture(scope="session")
def finished(make_project, made_once):
    """A project with its small table made."""

    def make() -> Project:
        project = make_project(SMALL)
        project.run("results/tables/scenes.md")
        return project

    return made_once("finished", make, SMALL)


@pytest.fixture(scope="session")
def continue_project(finished, tmp_path_factory):
    """A function that makes a project in which the jobs of the small table are already done."""
    return lambda values: finished.copy(tmp_path_factory.mktemp("continued") / "project", values)


@pytest.fixture(scope="session")
def finished_rounds(continue_project, made_once):
    """A project with its table and its table of rounds made."""

    def make() -> Project:
        project = continue_project(SMALL_ROUNDS)
        project.run("results/tables/scenes.md", "results/tables/scenes_rounds.md")
        return project

    return made_once("finished_rounds", make, SMALL_ROUNDS)
