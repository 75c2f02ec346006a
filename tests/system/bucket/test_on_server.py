"""The workflow on an S3 server, with each job in an empty folder, and a server that is stopped in the middle."""

import time

import pytest

from tests.projects import CODE, SMALL
from tests.system.bucket.places import differing, in_empty_folders, on_server, results

pytestmark = pytest.mark.long

TABLE = "results/tables/scenes.md"
FEATURES = "results/scenes/features/scenes_net/whole/00-of-01.parquet"
TOKENS = "results/scenes/tokens.parquet"


def test_jobs_in_empty_folders_make_the_same_bytes(checkout, server, finished, tmp_path, monkeypatch):
    project = checkout(SMALL, on_server())
    code = [project.folder / name for name in CODE]
    project.storage += in_empty_folders(tmp_path / "cluster", map(str, [*code, project.folder / "test.yaml"]))
    monkeypatch.setenv("PATH", str(tmp_path / "cluster/bin"), prepend=":")
    project.run(TABLE)
    expected = {f"results/{name}": content for name, content in results(finished.folder / "results").items()}
    objects = server.objects()
    assert len(expected) > 12
    assert expected.keys() - objects.keys() == set()
    assert differing(expected, objects) == []
    # A job fetches what it reads and nothing else: features are read by two trainings and two retrievals.
    assert server.read[FEATURES] == 4 * len(objects[FEATURES])


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
