"""Java programs that the workflow obtains: the jars that a pom.xml names, fetched by Maven."""

import shlex
import shutil
import subprocess
import tempfile
from pathlib import Path

from densevse.runtime.errors import InputError
from densevse.runtime.logs import logger


def copy_jars(project: Path, folder: Path) -> None:
    """Copy the jars that `project` (a pom.xml) names, with all that they need, into `folder`.

    Raises `InputError` with what Maven says if it cannot.
    """
    command = ["mvn", "-q", "-B", "-f", str(project), "dependency:copy-dependencies", f"-DoutputDirectory={folder}"]
    logger.info("getting jars: %s", shlex.join(command))
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise InputError(f"Maven could not get what {project} names:\n{(done.stdout + done.stderr)[-2000:]}")


def get_jars(project: str | Path, folder: str | Path) -> None:
    """The same; `folder` is whole or absent. Raises `InputError` besides if there is no Maven."""
    folder = Path(folder).absolute()  # Maven would start from the folder of pom.xml
    if shutil.which("mvn") is None:
        raise InputError(f"{folder}: Maven is needed to get it, and there is no `mvn` on the PATH; install Maven.")
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix=f".{folder.name}.") as parent:
        obtained = Path(parent, folder.name)
        copy_jars(Path(project), obtained)
        obtained.rename(folder)
