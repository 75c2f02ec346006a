"""The profile `kubernetes`, with a pretended cluster: each pod is a process in an empty folder."""

import importlib.util
import re
import subprocess

import pytest

from tests.projects import SMALL
from tests.system.bucket.places import BUCKET
from tests.system.bucket.pods import Cluster

pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(
        importlib.util.find_spec("snakemake_executor_plugin_kubernetes") is None,
        reason="needs the executor plugin kubernetes, which slows each start of Snakemake: `make pods`",
    ),
]

RULE = re.compile(r"--target-jobs '?(\w+):")
GRANTED = {"memory": "4000M", "nvidia.com/gpu": "1"}
FEATURES = "results/scenes/features/scenes_net/whole/00-of-01.parquet"


@pytest.fixture
def cluster(tmp_path, monkeypatch):
    cluster = Cluster(tmp_path / "cluster")
    monkeypatch.setenv("KUBECONFIG", str(cluster.config))
    yield cluster
    cluster.stop()


def test_pods_get_the_code_and_what_their_rules_ask_for(checkout, server, cluster):
    """Jobs with a GPU ask for one, and are an error here, where none is visible."""
    storage = ["--workflow-profile=profiles/kubernetes", f"--default-storage-prefix=s3://{BUCKET}/here"]
    project = checkout(SMALL | {"gpu": 1}, [*storage, "--container-image=densevse", "--retries=0"])
    for command in (["init", "--quiet"], ["add", "--all"]):
        subprocess.run(["git", *command], cwd=project.folder, check=True)
    done = project.run(FEATURES, check=False)
    assert done.returncode
    objects = server.objects()
    assert {"results/scenes/images.parquet", "results/scenes/captions.parquet"} <= objects.keys(), done.stdout[-6000:]
    asked = {RULE.search(container["args"][1])[1]: container for container in cluster.jobs.values()}
    assert asked.keys() == {"make_scenes", "read_dataset", "extract_features"}
    assert {container["image"] for container in asked.values()} == {"densevse"}
    assert asked["read_dataset"]["resources"]["limits"]["memory"] == "2000M"
    features = asked["extract_features"]["resources"]
    assert {name: features["limits"][name] for name in ("memory", "nvidia.com/gpu")} == GRANTED
    assert FEATURES not in objects
