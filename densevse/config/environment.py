"""The environment that the workflow's jobs compute in, unless the user's own says otherwise."""

import os
import re
from collections.abc import Iterable
from importlib.util import find_spec
from pathlib import Path

from densevse.config.sources import normal
from densevse.runtime.errors import InputError
from densevse.runtime.place import PACKAGED

JOB_ENVIRONMENT = {
    # Threads that wait for each other sleep, after some microseconds. By default they spin for milliseconds, which on
    # shared cores takes the time of those waited for; to sleep at once costs a woken thread at each small step.
    "OMP_WAIT_POLICY": "PASSIVE",
    "GOMP_SPINCOUNT": "1000",
    # Large tensors come and go each step. By default each is mapped and cleared anew by the kernel; so their memory is
    # kept.
    "MALLOC_MMAP_THRESHOLD_": str(1 << 30),
    "MALLOC_TRIM_THRESHOLD_": str(1 << 34),
}

IN_SHELL = re.compile(r"[\s'\"\\$&;()<>|*?\[\]#`!{}~]")
"""Characters that part a command, or mean something else in it."""


def check_deployment(root: str, methods: Iterable[str]) -> None:
    """Raise `InputError` where jobs of an installed package would run in conda environments, which lack densevse."""
    if Path(root).name == PACKAGED and "conda" in methods:
        raise InputError(
            "--software-deployment-method conda: the environments in envs/ hold what densevse needs, but not an "
            "installed densevse. Run the workflow from a checkout, or leave the option out."
        )


def check_extra(module: str, extra: str, needs: str) -> None:
    """Raise `InputError` naming the `extra` if its `module` is not installed; `needs` says what it is for."""
    if find_spec(module) is None:
        raise InputError(
            f"{needs} needs {module}, which is not installed. Install it with `pip install 'densevse[{extra}]'`, or in "
            f"a checkout `.venv/bin/pip install '.[{extra}]'`."
        )


def corenlp_home() -> str | None:
    """The folder of CoreNLP's jars that the user's CORENLP_HOME names. Raises `InputError` for what is no path."""
    given = os.environ.get("CORENLP_HOME")
    try:
        return normal(given) if given else None
    except ValueError as error:
        raise InputError(f"CORENLP_HOME: {error}.") from None


def check_place(root: str, python: str) -> None:
    """Raise `InputError` for a project in the folder `root`, or a `python`, whose path no job could be started with."""
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
