import os
import shutil
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def corenlp_home():
    """CoreNLP's jars: the user's, or those that the workflow's function gets once for all test runs."""
    if shutil.which("java") is None:
        pytest.skip("CoreNLP needs Java, and there is no `java` on the PATH")
    if os.environ.get("CORENLP_HOME"):
        return Path(os.environ["CORENLP_HOME"])
    from densevse.language.corenlp_jars import get_corenlp, jars

    home = Path.home() / ".cache" / "densevse" / "corenlp"
    if not jars(home):
        if shutil.which("mvn") is None:
            pytest.skip("no CORENLP_HOME, and without Maven (`mvn`) on the PATH its jars are not fetched for a test")
        get_corenlp(Path(__file__).parents[2] / "envs" / "corenlp" / "pom.xml", home)
    return home
