"""Obtains Java programs with Maven: the jars that a pom.xml names."""

import shlex
import shutil
import subprocess
import tempfile
from pathlib import Path

from densevse.runtime.errors import InputError
from densevse.runtime.logs import logger


def copy_jars(project: Path, folder: Path) -> None:
    """Copies the jars that `project` (a pom.xml) names, with all their dependencies, into `folder`.

    Raises `InputError` with Maven's output if that fails.
    """
    command = ["mvn", "-q", "-B", "-f", str(project), "dependency:copy-dependencies", f"-DoutputDirectory={folder}"]
    logger.info("getting jars: %s", shlex.join(command))
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise InputError(f"Maven could not get what {project} names:\n{(done.stdout + done.stderr)[-2000:]}")


def get_jars(project: str | Path, output: str | Path) -> None:
    """The job that copies jars as `copy_jars`, into a folder that is whole or absent.

    Raises `InputError` without Maven.
    """
    folder = Path(output).absolute()  # Maven would resolve the path from the folder of pom.xml
    if shutil.which("mvn") is None:
        raise InputError(f"{folder}: Maven is needed to get it, and there is no `mvn` on the PATH; install Maven.")
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix=f".{folder.name}.") as parent:
        obtained = Path(parent, folder.name)
        copy_jars(Path(project), obtained)
        obtained.rename(folder)
