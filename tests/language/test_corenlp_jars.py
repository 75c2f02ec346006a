"""CoreNLP's jars, obtained by stand-ins of Maven and of stanza's installer."""

from pathlib import Path

import pytest

from densevse.language import corenlp_jars
from densevse.language.corenlp_jars import get_corenlp
from densevse.runtime.errors import InputError


def test_without_java_it_says_at_once_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(corenlp_jars.time, "sleep", lambda _: pytest.fail("no further attempt would help"))
    with pytest.raises(InputError, match="apt-get install default-jre"):
        get_corenlp(tmp_path / "pom.xml", tmp_path / "corenlp")


def executable(path, script):
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)


def project(tmp_path):
    (tmp_path / "pom.xml").write_text("<project><corenlp.version>4.5.10</corenlp.version></project>")
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
    with pytest.raises(InputError, match="without its models"):
        get_corenlp(project(tools), home, wait=0)
    assert not home.exists()
    executable(tools / "mvn", f"{fake} /usr/bin/touch {names} stanford-corenlp-4-models-english.jar")
    get_corenlp(project(tools), home)
    assert len(corenlp_jars.jars(home)) == 3
    assert [path.name for path in home.parent.iterdir()] == ["corenlp"]


def test_of_two_that_get_the_jars_at_once_the_second_keeps_those_of_the_first(tmp_path, monkeypatch):
    """As the workers of the tests do on a machine that has no jars yet."""
    monkeypatch.setattr(corenlp_jars, "require_java", lambda: None)
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

    monkeypatch.setattr(corenlp_jars.stanza, "install_corenlp", install)
    monkeypatch.setattr(corenlp_jars.stanza, "download_corenlp_models", models)
    get_corenlp(project(tmp_path), tmp_path / "corenlp")
    assert asked == ["4.5.10", "english-extra"]
    assert len(corenlp_jars.jars(tmp_path / "corenlp")) == 3
