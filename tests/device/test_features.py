"""Features on their way to the tested device: those of the CPU, whichever way they go."""

import numpy as np
import pytest
import torch

from densevse.data.inputs import Inputs
from densevse.methods.moving import Packed, to_device
from densevse.runtime.on_gpu import feature_limit, loader_threads
from densevse.runtime.project import JOBS_PER_GPU, LOADER_THREADS, PLAIN_ON_GPU
from tests.data.test_batches import correspondences
from tests.device.chosen import DEVICE, REAL
from tests.device.files import files_of

WAYS = {"to_device": to_device, "packed": lambda item, device: Packed(item, pin=REAL).to(device)}
PLENTY = 2**40


def images_of(pairs, move):
    """The values and masks of some batches of a split, on the CPU."""
    images = [move(pairs.batch(rows).images, DEVICE) for rows in (np.array([5, 0, 4, 7]), np.arange(9))]
    return [part.cpu() for some in images for part in (*some.views.values(), some.present)]


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("most", [0, PLENTY], ids=["copied", "kept"])
@pytest.mark.parametrize(
    ("views", "regions"),
    [(["whole", "grid"], "all"), (["regions"], "all"), (["regions"], "assigned"), (["crops"], "all")],
)
def test_batches_on_the_device_are_those_of_the_cpu(made, views, regions, most, way):
    files = files_of(made, views, ["words", "trees"], "enhanced", False)
    if regions == "assigned":
        files = files.replace_inputs(correspondences=correspondences(made))
    expected = images_of(Inputs(files, ["words", "trees"]).pairs("train", regions), lambda item, _: item)
    pairs = Inputs(files, ["words", "trees"]).pairs("train", regions)
    kept = pairs.send_to(DEVICE, most)
    assert (kept > 0) == (most > 0 and views != ["crops"])
    for found, wanted in zip(images_of(pairs, WAYS[way]), expected, strict=True):
        assert torch.equal(found, wanted)


def test_features_have_a_third_of_a_job_s_memory_at_most(monkeypatch):
    whole = feature_limit(DEVICE)
    monkeypatch.setenv(JOBS_PER_GPU, "2")
    assert feature_limit(DEVICE) == whole // 2 > 0
    monkeypatch.setenv(PLAIN_ON_GPU, "recurrent,features")
    assert feature_limit(DEVICE) == 0


def test_loader_threads_are_the_cores_shared_by_the_jobs_on_gpus(monkeypatch):
    monkeypatch.setattr("os.sched_getaffinity", lambda _: range(16))
    monkeypatch.setattr("torch.cuda.device_count", lambda: 2)
    assert loader_threads(2) == 8
    monkeypatch.setenv(JOBS_PER_GPU, "6")
    assert [loader_threads(threads) for threads in (1, 4)] == [2, 4]
    monkeypatch.setenv(LOADER_THREADS, "1")
    assert loader_threads(4) == 1
