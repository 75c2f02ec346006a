import importlib.util
import shutil

import pytest

from tests.projects import copy_code
from tests.system.bucket.places import SECRET, BucketProject, S3Server, in_folder

PLUGINS = (
    "snakemake_storage_plugin_fs",
    "snakemake_storage_plugin_s3",
    "snakemake_executor_plugin_cluster_generic",
    "moto",
)


def pytest_collection_modifyitems(items):
    missing = [name for name in PLUGINS if importlib.util.find_spec(name) is None]
    missing += [] if shutil.which("rsync") else ["rsync"]
    if missing:
        reason = f"{', '.join(missing)} not installed; `make bucket` installs the packages and runs these tests"
        for item in items:
            if "/system/bucket/" in str(item.path):
                item.add_marker(pytest.mark.skip(reason=reason))


@pytest.fixture(scope="session")
def checkout(tmp_path_factory):
    """A function that makes a checkout whose results lie in a bucket, by the options that name it."""

    def make(values, storage):
        project = BucketProject(copy_code(tmp_path_factory.mktemp("checkout")), storage)
        project.configure(values)
        return project

    return make


@pytest.fixture
def folder(tmp_path):
    """A folder that serves as a bucket, and the options that name it."""
    return tmp_path / "bucket", in_folder(tmp_path / "bucket")


@pytest.fixture
def server(monkeypatch):
    """An S3 server on this machine."""
    server = S3Server()
    for name, value in (("ENDPOINT_URL", server.address), ("ACCESS_KEY", SECRET), ("SECRET_KEY", SECRET)):
        monkeypatch.setenv(f"SNAKEMAKE_STORAGE_S3_{name}", value)
    yield server
    server.stop()
