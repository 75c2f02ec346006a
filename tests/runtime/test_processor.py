import os

import pytest
import torch

from densevse.runtime import numerics as processor


@pytest.fixture
def matrix_units(monkeypatch):
    """A processor that announces matrix units, without a limit by the user or the machine."""
    monkeypatch.delenv(processor.ISA_LIMIT, raising=False)
    monkeypatch.setattr(torch.cpu, "_is_amx_tile_supported", lambda: True)
    yield
    os.environ.pop(processor.ISA_LIMIT, None)


def test_instructions_that_kill_a_process_are_avoided(matrix_units, monkeypatch):
    monkeypatch.setattr(processor, "_survives", lambda: False)
    processor.avoid_illegal_instructions()
    assert os.environ[processor.ISA_LIMIT] == processor.WITHOUT_MATRIX_UNITS


def test_instructions_that_work_are_used(matrix_units, monkeypatch):
    monkeypatch.setattr(processor, "_survives", lambda: True)
    processor.avoid_illegal_instructions()
    assert processor.ISA_LIMIT not in os.environ


def test_what_the_user_set_stays(matrix_units, monkeypatch):
    monkeypatch.setattr(processor, "_survives", lambda: False)
    monkeypatch.setenv(processor.ISA_LIMIT, "AVX2")
    processor.avoid_illegal_instructions()
    assert os.environ[processor.ISA_LIMIT] == "AVX2"


def test_a_child_that_dies_is_noticed(monkeypatch):
    def die(self, other):
        os.abort()

    monkeypatch.setattr(torch.Tensor, "__matmul__", die)
    assert not processor._survives()


def test_a_child_that_lives_is_noticed(monkeypatch):
    monkeypatch.setattr(torch.Tensor, "__matmul__", lambda self, other: self)
    assert processor._survives()
