import pytest

from densevse.kernels import bidirectional, recurrent


@pytest.fixture(params=["ours", "library"])
def ours_and_library(request, monkeypatch):
    """A test runs twice: as on a CPU, and as on a GPU, where one call of a library computes all steps."""
    for module in (bidirectional, recurrent):
        monkeypatch.setattr(module, "by_library", lambda device: request.param == "library")
