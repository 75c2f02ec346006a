"""The workflow on an S3 server, with each job in an empty folder, and a server that is stopped in the middle."""

import time

import pytest

from tests.projects import SMALL
from tests.system.bucket.places import in_empty_folders, on_server

pytestmark = pytest.mark.long

TABLE = "results/tables/scenes.md"
TOKENS = "results/scenes/tokens.parquet"


def made(path):
    """Whether an artifact has the same bytes in each run: a history holds seconds."""
    return (
        path.suffix in (".parquet", ".safetensors", ".md", ".html", ".tex", ".csv") and path.name != "history.parquet"
    )


def test_jobs_in_empty_folders_make_the_same_bytes(checkout, server, finished, tmp_path, monkeypatch):
    plain = finished.folder
    project = checkout(SMALL, on_server())
    code = [project.folder / name for name in ("Snakefile", "workflow", "config", "profiles", "envs", "densevse")]
    project.storage += in_empty_folders(tmp_path / "cluster", map(str, [*code, project.folder / "test.yaml"]))
    monkeypatch.setenv("PATH", str(tmp_path / "cluster/bin"), prepend=":")
    project.run(TABLE)
    objects = server.objects()
    expected = {
        str(path.relative_to(plain)): path.read_bytes() for path in (plain / "results").rglob("*") if made(path)
    }
    assert len(expected) > 12
    assert {name: name in objects for name in expected} == dict.fromkeys(expected, True)
    assert [name for name, content in expected.items() if objects[name] != content] == []
    assert not [name for name in objects if name.endswith(".part")]
    print({name: (count, len(objects[name])) for name, count in server.read.items() if name in objects})


def test_a_server_that_is_stopped_in_the_middle_loses_nothing(checkout, server):
    project = checkout(SMALL, [*on_server(), "--storage-s3-retries=1"])
    run = project.start(TOKENS)
    end = time.monotonic() + 120
    while "results/scenes/images.parquet" not in server.read and not _has(server, "resources/scenes/scenes.zip"):
        assert run.poll() is None
        assert time.monotonic() < end
        time.sleep(0.05)
    server.stop()
    assert run.wait(timeout=300)
    text = (project.folder / "run.log").read_text()
    assert "Could not connect to the endpoint URL" in text
    refused = project.run("--dry-run", TOKENS, check=False)
    assert refused.returncode
    assert "the bucket does not answer" in refused.stdout

    server.start()
    assert "make_scenes" not in project.planned(TOKENS)
    project.run(TOKENS)
    assert project.planned(TOKENS) == {}
    assert "results/.run.json" not in server.objects()


def _has(server, name):
    try:
        return name in server.objects()
    except ValueError:
        return False
