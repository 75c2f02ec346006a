import pytest
import torch

from tests.device.chosen import DEVICE, REAL, begin, draw_alike
from tests.device.miniature import write_everything

if not REAL:
    from tests.devices import pin_memory


@pytest.fixture(scope="session")
def made(tmp_path_factory):
    """The folder of the miniature data set."""
    folder = tmp_path_factory.mktemp("everything")
    write_everything(folder)
    return folder


@pytest.fixture
def compute_on(monkeypatch):
    """A function that lets jobs compute on a device from here on."""

    def choose(device):
        torch.set_num_threads(1)
        monkeypatch.setattr("densevse.runtime.numerics.usable_device", lambda: device)
        if device == DEVICE and not REAL:
            monkeypatch.setattr(torch.Tensor, "pin_memory", pin_memory)
            monkeypatch.setattr(torch, "inference_mode", lambda mode=True: torch.no_grad())
        begin()
        return device

    return choose


@pytest.fixture
def same_draws(monkeypatch):
    """The device and the CPU draw the same random numbers."""
    draw_alike(monkeypatch)
