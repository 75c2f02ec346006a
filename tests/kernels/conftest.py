import importlib

import pytest

from densevse.kernels import bidirectional, recurrent


@pytest.fixture(params=["ours", "library"])
def ours_and_library(request, monkeypatch):
    """A test runs twice: as on a CPU, and as on a GPU, where one call of a library computes all steps."""
    for module in (bidirectional, recurrent):
        monkeypatch.setattr(module, "uses_library", lambda device: request.param == "library")


@pytest.fixture
def interpreted(monkeypatch):
    """A function that gives a module of kernels in Triton, whose interpreter runs them on the CPU."""
    monkeypatch.setenv("TRITON_INTERPRET", "1")

    def load(name):
        interpreter = pytest.importorskip("triton.runtime.interpreter", reason="Triton is for Linux")
        patch = interpreter._patch_lang_tensor

        def with_index(tensor, scope):
            patch(tensor, scope)
            scope.set_attr(tensor, "__index__", lambda self: self.handle.data.item())  # which NumPy 2.4 wants

        monkeypatch.setattr(interpreter, "_patch_lang_tensor", with_index)
        return importlib.reload(importlib.import_module(f"densevse.kernels.{name}"))

    return load
