"""The environment variables of the workflow's jobs, unless the user sets them."""

import os
import re
from collections.abc import Iterable
from importlib.util import find_spec
from pathlib import Path

from densevse.config.sources import normalise_path
from densevse.runtime.project import PACKAGED, describe_installation
from snakeproof.errors import InputError

JOB_ENVIRONMENT = {
    # Python does not look for modules in the working folder, where a file may have the name of a package.
    "PYTHONSAFEPATH": "1",
    # Waiting threads sleep after some microseconds. By default they spin for milliseconds, which on shared cores slows
    # down the threads that they wait for; sleeping at once would cost a wake-up at each small step.
    "OMP_WAIT_POLICY": "PASSIVE",
    "GOMP_SPINCOUNT": "1000",
    # Large tensors come and go in each step. Their memory is kept; by default the kernel would map and clear it each
    # time.
    "MALLOC_MMAP_THRESHOLD_": str(1 << 30),
    "MALLOC_TRIM_THRESHOLD_": str(1 << 34),
}

IN_SHELL = re.compile(r"[\s'\"\\$&;()<>|*?\[\]#`!{}~]")
"""Characters that split a command, or have another meaning in it."""


def check_deployment(root: str, methods: Iterable[str]) -> None:
    """Raises `InputError` if jobs of an installed package would run in conda environments, which lack densevse."""
    if Path(root).name == PACKAGED and "conda" in methods:
        raise InputError(
            "--software-deployment-method conda: the environments in envs/ hold what densevse needs, but not an "
            "installed densevse. Run the workflow from a checkout, or leave the option out."
        )


def check_extra(module: str, extra: str, needs: str) -> None:
    """Raises `InputError` that names the `extra` if its `module` is not installed; `needs` is its use."""
    if find_spec(module) is None:
        raise InputError(f"{needs} needs {module}, which is not installed. {describe_installation(module, extra)}")


def check_watchers(names: Iterable[str]) -> None:
    """Raises `InputError` that names the extra if a watcher of the project needs one that is not installed."""
    if "tensorboard" in names:
        check_extra("tensorboard", "tensorboard", "logging.tensorboard")


def corenlp_home() -> str | None:
    """The folder of CoreNLP's jars in the user's CORENLP_HOME. Raises `InputError` if that is not a path."""
    given = os.environ.get("CORENLP_HOME")
    try:
        return normalise_path(given) if given else None
    except ValueError as error:
        raise InputError(f"CORENLP_HOME: {error}.") from None


def check_place(root: str, python: str) -> None:
    """Raises `InputError` for a project folder `root` or a `python` whose path would break every job."""
    found = IN_SHELL.search(python)
    if found:
        raise InputError(
            f"{python}: Snakemake starts jobs by this path without quoting it, so that {found[0]!r} in it would end "
            "each with exit status 127. Move the project to a folder without such characters, delete .venv, and run "
            "`make environment` there."
        )
    if re.search("[:{}]", root):
        raise InputError(
            f"{root}: neither Python's search path nor Snakemake takes a folder with a colon or braces in its "
            "name. Move the project to a folder without them."
        )
