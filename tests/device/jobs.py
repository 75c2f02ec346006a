"""Fixtures for tests that compare a job on the tested device with the same job on the CPU."""

import pytest
import torch

from densevse.data.inputs import Inputs
from densevse.models.files import build_method, save_model
from tests.device.chosen import CPU, DEVICE, computed
from tests.device.conftest import compute_on, made, same_draws
from tests.device.files import files_of
from tests.device.test_methods import assert_alike

__all__ = ["compute_on", "made", "same_draws"]

VSE = {"dimension": 8, "word_dimension": 8, "encoder": "lstm"}


@pytest.fixture
def on_both(tmp_path, compute_on, same_draws):
    """A function that compares a job's results, given a folder, on the tested device with those on the CPU."""

    def compare(job):
        found = {}
        for place in (CPU, DEVICE):
            compute_on(place)
            torch.manual_seed(0)
            (tmp_path / place.type).mkdir()
            found[place] = job(tmp_path / place.type)
        assert computed()
        assert_alike(found[DEVICE], found[CPU])

    return compare


def untrained(made, folder, method, structures, views, **parameters):
    """An untrained model as a file, with the files of a job that reads it."""
    files = files_of(made, views, structures, "enhanced", False)
    inputs = Inputs(files, structures)
    torch.manual_seed(0)
    model = build_method(method, parameters, inputs.shapes())
    path = folder / f"{method}.safetensors"
    save_model(model, method, structures, path, features=inputs.feature_settings(), device="cpu")
    return files, path
