"""CoreNLP's jars, obtained by stand-ins of Maven and of stanza's installer."""

import hashlib
import os
import re
import shutil
from pathlib import Path

import pytest
import stanza

from densevse.language import corenlp_jars
from densevse.language.corenlp_jars import get_corenlp, get_jars
from snakeproof.errors import InputError
from tests.projects import ROOT


def test_without_java_it_says_at_once_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(corenlp_jars.time, "sleep", lambda _: pytest.fail("no further attempt would help"))
    with pytest.raises(InputError, match="apt-get install default-jre"):
        get_corenlp(tmp_path / "pom.xml", tmp_path / "corenlp")


def executable(path, script):
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)


EMPTY = hashlib.sha256(b"").hexdigest()
NAMES = ["stanford-corenlp-4-models-english.jar", "stanford-corenlp-4-models.jar", "stanford-corenlp-4.jar"]


def project(tmp_path, jars=NAMES):
    """A pom.xml, and beside it the list of its jars, which are empty."""
    (tmp_path / "pom.xml").write_text("<project><corenlp.version>4.5.10</corenlp.version></project>")
    (tmp_path / "jars.sha256").write_text("".join(f"{EMPTY}  {name}\n" for name in jars))
    return tmp_path / "pom.xml"


def test_jars_come_by_maven_whole_or_not_at_all(tmp_path, monkeypatch):
    tools = tmp_path / "bin"
    tools.mkdir()
    executable(tools / "java", "exit 0")
    # As the real one does, it starts from the folder of the project: mvn -q -B -f <project> ... -DoutputDirectory=...
    fake = 'cd "${4%/*}"; for each; do folder=${each#-DoutputDirectory=}; done; '
    fake += '/bin/mkdir -p "$folder"; cd "$folder" && '
    names = "stanford-corenlp-4.jar stanford-corenlp-4-models.jar"
    monkeypatch.setenv("PATH", str(tools))
    monkeypatch.chdir(tmp_path)
    home = Path("a folder", "corenlp")
    executable(tools / "mvn", f"echo attempt >> {tmp_path}/attempts; {fake} /usr/bin/touch {names}; exit 1")
    with pytest.raises(InputError, match="Maven could not"):
        get_corenlp(project(tools), home, wait=0)
    assert (tmp_path / "attempts").read_text().count("attempt") == corenlp_jars.ATTEMPTS
    executable(tools / "mvn", f"{fake} /usr/bin/touch {names}")
    with pytest.raises(InputError, match=r"jars.sha256 lists other jars; compare stanford-corenlp-4-models-english"):
        get_corenlp(project(tools), home, wait=0)
    with pytest.raises(InputError, match="without its models"):
        get_corenlp(project(tools, names.split()), home, wait=0)
    assert not home.exists()
    executable(tools / "mvn", f"{fake} /usr/bin/touch {names} stanford-corenlp-4-models-english.jar")
    get_corenlp(project(tools), home)
    assert len(corenlp_jars.jars(home)) == 3
    assert [path.name for path in home.parent.iterdir()] == ["corenlp"]


@pytest.mark.parametrize("harm", ["echo x > stanford-corenlp-4.jar", "/usr/bin/touch another.jar"])
def test_a_jar_that_is_not_the_listed_one_is_refused(tmp_path, monkeypatch, harm):
    fake = 'for each; do folder=${each#-DoutputDirectory=}; done; /bin/mkdir -p "$folder"; cd "$folder" && '
    executable(tmp_path / "mvn", f"{fake} /usr/bin/touch {' '.join(NAMES)}; {harm}")
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(InputError, match=r"jars.sha256 lists other jars; compare (stanford-corenlp-4|another).jar"):
        get_jars(project(tmp_path), tmp_path / "jars")
    assert not (tmp_path / "jars").exists()


@pytest.mark.parametrize("name", ["corenlp", "spice"])
def test_every_jar_that_maven_gets_is_listed(name):
    folder = ROOT / "envs" / name
    listed = [line.split() for line in (folder / "jars.sha256").read_text().splitlines()]
    assert all(re.fullmatch("[0-9a-f]{64}", digest) and jar.endswith(".jar") for digest, jar in listed)
    versions = set(re.findall(r"<(?:corenlp\.)?version>([\d.]{3,})<", (folder / "pom.xml").read_text()))
    assert all(any(f"-{version}" in jar for _, jar in listed) for version in versions)


def test_of_two_that_get_the_jars_at_once_the_second_keeps_those_of_the_first(tmp_path, monkeypatch):
    """As the workers of the tests do on a machine that has no jars yet."""
    monkeypatch.setattr(corenlp_jars, "require_java", lambda *memory_mb: None)
    monkeypatch.setattr(corenlp_jars.shutil, "which", lambda _: "mvn")
    names = ("stanford-corenlp-4.jar", "stanford-corenlp-4-models.jar", "stanford-corenlp-4-models-english.jar")
    home = tmp_path / "corenlp"

    def while_another_does_too(_, folder):
        for place in (folder, home):
            place.mkdir()
            for name in names:
                (place / name).write_text(str(place))

    monkeypatch.setattr(corenlp_jars, "copy_jars", while_another_does_too)
    get_corenlp(project(tmp_path), home)
    assert {path.name: path.read_text() for path in home.iterdir()} == dict.fromkeys(names, str(home))


def test_jars_come_by_stanza_where_there_is_no_maven(tmp_path, monkeypatch):
    executable(tmp_path / "java", "exit 0")
    monkeypatch.setenv("PATH", str(tmp_path))
    asked = []

    def install(dir, version):
        asked.append(version)
        Path(dir).mkdir()
        for name in ("stanford-corenlp-4.jar", "stanford-corenlp-4-models.jar"):
            Path(dir, name).touch()

    def models(model, version, dir):
        asked.append(model)
        Path(dir, "stanford-corenlp-4-models-english-extra.jar").touch()

    monkeypatch.setattr(stanza, "install_corenlp", install)
    monkeypatch.setattr(stanza, "download_corenlp_models", models)
    get_corenlp(project(tmp_path), tmp_path / "corenlp")
    assert asked == ["4.5.10", "english-extra"]
    assert len(corenlp_jars.jars(tmp_path / "corenlp")) == 3
    record = tmp_path / "corenlp.obtained.sha256"
    assert record.read_text().count(f"{EMPTY}  ") == 3
    record.write_text(record.read_text().replace(EMPTY, "0" * 64, 1))
    shutil.rmtree(tmp_path / "corenlp")
    with pytest.raises(InputError, match=r"corenlp.obtained.sha256 lists other jars; compare stanford-corenlp-4"):
        get_corenlp(project(tmp_path), tmp_path / "corenlp", wait=0)


def java(folder, script, monkeypatch):
    """A program that is found as `java`."""
    program = folder / "java"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(folder), prepend=os.pathsep)
    monkeypatch.setenv("JAVA_TOOL_OPTIONS", "-Dx=1 -Duser.language=de")


def test_a_java_that_cannot_start_is_named_with_its_own_words(tmp_path, monkeypatch):
    java(tmp_path, "echo Could not reserve enough space for $1 >&2; exit 1", monkeypatch)
    with pytest.raises(InputError, match=r"Java cannot start:\nCould not reserve enough space for -Xmx3000m"):
        corenlp_jars.require_java(3000)


def test_a_java_that_hangs_is_not_waited_for(tmp_path, monkeypatch):
    java(tmp_path, "exec sleep 100", monkeypatch)
    monkeypatch.setattr(corenlp_jars, "JAVA_SECONDS", 0.1)
    with pytest.raises(InputError, match="does not end in"):
        corenlp_jars.require_java()


def test_every_java_has_a_locale_of_its_own(tmp_path, monkeypatch):
    """A German one writes METEOR's scores as 0,5."""
    java(tmp_path, "exit 0", monkeypatch)
    for _ in range(2):
        corenlp_jars.require_java()
        assert os.environ["JAVA_TOOL_OPTIONS"] == ("-Dx=1 -Duser.language=de -Duser.language=en -Duser.country=US")
