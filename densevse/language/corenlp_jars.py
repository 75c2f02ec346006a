"""Obtains the jars of Stanford CoreNLP, and says where Java is missing."""

import os
import re
import shlex
import shutil
import subprocess
import tempfile
import time
from pathlib import Path

from snakeproof.errors import InputError
from snakeproof.files import checksum, write_text
from snakeproof.logs import logger

ATTEMPTS = 3
LOCK = "jars.sha256"
"""The file beside a pom.xml with the digest of each jar that Maven gets for it."""

LOCALE = " -Duser.language=en -Duser.country=US"
"""Options of Java, which otherwise has the user's locale."""

JAVA_SECONDS = 60
"""Seconds that a Java may take to print its version."""

OBTAIN_YOURSELF = "try again, or set CORENLP_HOME to a folder of CoreNLP's jars (stanfordnlp.github.io/CoreNLP)."


def require_java(memory_mb: int = 64) -> None:
    """Sees that Java can start with this memory, and lets every Java of this process write numbers as in English.

    Raises `InputError` with advice if there is no Java, and with Java's own words if it cannot start. A program that
    waits for an answer of such a Java might wait for ever.
    """
    if shutil.which("java") is None:
        raise InputError(
            "CoreNLP needs Java (8 or newer), and there is no `java` on the PATH. Install one, for example by "
            "`apt-get install default-jre-headless maven` or `brew install openjdk maven`, or let Snakemake do it: "
            "`snakemake --software-deployment-method conda ...`."
        )
    options = os.environ.get("JAVA_TOOL_OPTIONS", "").removesuffix(LOCALE)
    os.environ["JAVA_TOOL_OPTIONS"] = f"{options}{LOCALE}"
    command = ["java", f"-Xmx{memory_mb}m", "-version"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=JAVA_SECONDS)
    except subprocess.TimeoutExpired:
        raise InputError(
            f"{shlex.join(command)}: does not end in {JAVA_SECONDS} seconds; install another Java."
        ) from None
    if done.returncode:
        raise InputError(f"{shlex.join(command)}: Java cannot start:\n{(done.stdout + done.stderr).strip()[-2000:]}")


def get_corenlp(project: str | Path, output: str | Path, wait: float = 10.0) -> None:
    """The job that puts CoreNLP's jars into the folder `output`: by Maven from `project` (a pom.xml), or by stanza.

    The folder is always whole or absent; one that another process made meanwhile stays. Maven's jars must be those of
    `LOCK` beside `project`; no list of stanza's is published, so those of the first time are recorded in
    `<output>.obtained.sha256`, and compared later. A failed attempt is repeated after `wait` seconds. Raises
    `InputError` if Java is missing or the jars cannot be obtained.
    """
    require_java()  # without Java another attempt would not help
    folder = Path(output).absolute()  # Maven would resolve the path from the folder of pom.xml
    folder.parent.mkdir(parents=True, exist_ok=True)
    for attempt in range(1, ATTEMPTS + 1):
        try:
            _obtain_jars(Path(project), folder)
            break
        except InputError as error:
            if attempt == ATTEMPTS:
                raise
            logger.warning("attempt %d of %d: %s", attempt, ATTEMPTS, error)
            time.sleep(wait)
    logger.info("%s holds %s", folder, ", ".join(jars(folder)))


def _obtain_jars(project: Path, folder: Path) -> None:
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix=f".{folder.name}.") as parent:
        obtained = Path(parent, folder.name)
        if shutil.which("mvn"):
            _get_by_maven(project, obtained)
        else:
            _get_by_stanza(_version(project), obtained)
            _compare_with_first(obtained, folder.with_name(f"{folder.name}.obtained.sha256"))
        if not _has_models(obtained):
            raise InputError(f"CoreNLP came without its models ({jars(obtained)}); {OBTAIN_YOURSELF}")
        try:
            obtained.rename(folder)
        except OSError:  # a folder that is not empty is never replaced
            if not _has_models(folder):
                raise
            logger.info("another process has got %s meanwhile", folder)


def _has_models(folder: Path) -> bool:
    """True if CoreNLP's own jar and those of both models are there."""
    return len(jars(folder)) >= 3


def _get_by_maven(project: Path, folder: Path) -> None:
    try:
        copy_jars(project, folder)
    except InputError as error:
        raise InputError(f"Maven could not get CoreNLP; {OBTAIN_YOURSELF}\n{error}") from error


def _get_by_stanza(version: str, folder: Path) -> None:
    import stanza  # here, as it imports torch, which scoring sentences does without

    logger.info("getting CoreNLP %s by stanza's installer, as there is no Maven (mvn)", version)
    try:
        stanza.install_corenlp(dir=str(folder), version=version)
        stanza.download_corenlp_models("english-extra", version=version, dir=str(folder))
    except RuntimeError as error:
        raise InputError(f"stanza could not get CoreNLP {version} ({error}); {OBTAIN_YOURSELF}") from error


def _version(project: Path) -> str:
    """The version of CoreNLP that a pom.xml names."""
    found = re.search(r"<corenlp.version>([^<]+)<", project.read_text(encoding="utf-8"))
    if found is None:
        raise InputError(f"{project}: no <corenlp.version> in it.")
    return found[1]


def jars(home: str | Path) -> list[str]:
    """The names of Stanford's jars in a folder, which show CoreNLP's version and its models."""
    return sorted(jar.name for jar in Path(home).glob("stanford-corenlp-*.jar"))


def copy_jars(project: Path, folder: Path) -> None:
    """Copies the jars that `project` (a pom.xml) names, with all their dependencies, into `folder`.

    Raises `InputError` with Maven's output if that fails, or if they are not the jars of `LOCK` beside `project`.
    """
    command = ["mvn", "-q", "-B", "-f", str(project), "--strict-checksums"]
    command += ["dependency:copy-dependencies", f"-DoutputDirectory={folder}"]
    logger.info("getting jars: %s", shlex.join(command))
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise InputError(f"Maven could not get what {project} names:\n{(done.stdout + done.stderr)[-2000:]}")
    check_jars(folder, project.with_name(LOCK))


def check_jars(folder: Path, lock: Path) -> None:
    """Raises `InputError` unless the jars in `folder` are those of `lock`, a file that `sha256sum *.jar` writes."""
    expected, found = lock.read_text(encoding="utf-8").splitlines(), _digests(folder)
    if wrong := sorted({line.split()[-1] for line in {*expected} ^ {*found}}):
        raise InputError(
            f"{folder}: {lock} lists other jars; compare {', '.join(wrong)}. Delete them from Maven's store "
            "(~/.m2/repository), and try again. If another version is wanted, run `sha256sum *.jar` in a folder of its "
            "jars, and write the lines into that file."
        )


def _compare_with_first(folder: Path, record: Path) -> None:
    if record.exists():
        check_jars(folder, record)
    else:
        write_text("".join(f"{line}\n" for line in _digests(folder)), record)


def _digests(folder: Path) -> list[str]:
    return [f"{checksum(jar)}  {jar.name}" for jar in sorted(folder.glob("*.jar"))]


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
