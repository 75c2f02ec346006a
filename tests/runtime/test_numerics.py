"""The precision and the instructions that a processor computes with."""

import os

import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode

from densevse.runtime import numerics


@pytest.fixture
def processor(monkeypatch):
    """A function that makes this machine's processor one of a vendor, with or without bf16; no limit is set."""
    monkeypatch.delenv(numerics.ISA_LIMIT, raising=False)
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)

    def make(vendor="GenuineIntel", bf16=True, matrices=True, vectors="AVX512"):
        monkeypatch.setattr(numerics, "_vendor", lambda: vendor)
        monkeypatch.setattr(torch.cpu, "_is_avx512_bf16_supported", lambda: bf16)
        monkeypatch.setattr(torch.cpu, "_is_amx_tile_supported", lambda: matrices)
        monkeypatch.setattr(torch.backends.cpu, "get_cpu_capability", lambda: vectors)

    return make


@pytest.mark.parametrize(
    ("vendor", "bf16", "matrices", "expected"),
    [
        ("AuthenticAMD", True, False, "bf16"),
        ("AuthenticAMD", False, False, "fp32"),
        ("GenuineIntel", True, True, "bf16"),
        ("GenuineIntel", True, False, "fp32"),
    ],
)
def test_bf16_only_where_it_was_measured_to_be_faster(processor, vendor, bf16, matrices, expected):
    processor(vendor, bf16, matrices)
    assert numerics.fastest_precision() == expected


@pytest.mark.parametrize(
    ("limit", "amd", "intel"),
    [
        ("SSE41", "fp32", "fp32"),
        ("AVX2", "fp32", "fp32"),
        ("AVX512_CORE_VNNI", "fp32", "fp32"),
        ("AVX512_CORE_FP16", "bf16", "fp32"),
        ("AVX512_CORE_AMX", "bf16", "bf16"),
        ("ALL", "bf16", "bf16"),
    ],
)
def test_a_limit_on_instructions_is_respected(processor, monkeypatch, limit, amd, intel):
    monkeypatch.setenv(numerics.ISA_LIMIT, limit)
    for vendor, expected in (("AuthenticAMD", amd), ("GenuineIntel", intel)):
        processor(vendor)
        assert numerics.fastest_precision() == expected


@pytest.mark.parametrize(
    ("vendor", "vectors", "expected"),
    [("AuthenticAMD", "AVX512", True), ("GenuineIntel", "AVX512", False), ("AuthenticAMD", "DEFAULT", False)],
)
def test_products_by_onednn_where_that_was_measured_to_be_faster(processor, vendor, vectors, expected):
    processor(vendor, vectors=vectors)
    assert numerics.is_onednn_faster() is expected


class Calls(TorchDispatchMode):
    """Collects operations and the numbers of values that they are given."""

    def __init__(self):
        super().__init__()
        self.found = []

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        self.found.append((function._schema.name.removeprefix("aten::"), [getattr(arg, "shape", ()) for arg in args]))
        return function(*args, **(kwargs or {}))


def test_set_up_calls_each_function_of_mkl_once_in_one_thread():
    with Calls() as calls:
        numerics.set_up_processor(threads=2)
    for name in ("exp", "tanh", "log", "sqrt"):
        assert (name, [(1,)]) in calls.found


def test_set_up_computes_products_in_full_precision():
    numerics.set_up(threads=1)
    assert torch.get_num_threads() == 1
    generator = torch.Generator().manual_seed(0)
    left, right = (torch.randn(512, 512, generator=generator) for _ in range(2))
    exact = left.double() @ right.double()
    assert float(((left @ right).double() - exact).norm() / exact.norm()) < 5e-6


@pytest.fixture(scope="module")
def set_up_for_a_whole_file():
    torch.backends.mkldnn.matmul.fp32_precision = "bf16"


@pytest.mark.parametrize("_", range(2))
def test_settings_outlive_neither_a_test_nor_a_fixture_of_a_file(set_up_for_a_whole_file, _):
    assert torch.backends.mkldnn.matmul.fp32_precision == "none"
    torch.backends.mkldnn.matmul.fp32_precision = "bf16"


def test_two_jobs_of_one_seed_differ():
    drawn = []
    for name in ("a", "b", "a"):
        numerics.seed_everything(0, name)
        drawn.append(torch.rand(()).item())
    assert drawn[0] == drawn[2] != drawn[1]


@pytest.fixture
def matrix_units(monkeypatch):
    """A processor that announces matrix units, without a limit by the user or the machine."""
    monkeypatch.delenv(numerics.ISA_LIMIT, raising=False)
    monkeypatch.setattr(torch.cpu, "_is_amx_tile_supported", lambda: True)
    yield
    os.environ.pop(numerics.ISA_LIMIT, None)


def test_instructions_that_kill_a_process_are_avoided(matrix_units, monkeypatch):
    monkeypatch.setattr(numerics, "_survives", lambda: False)
    numerics.avoid_illegal_instructions()
    assert os.environ[numerics.ISA_LIMIT] == numerics.WITHOUT_MATRIX_UNITS


def test_instructions_that_work_are_used(matrix_units, monkeypatch):
    monkeypatch.setattr(numerics, "_survives", lambda: True)
    numerics.avoid_illegal_instructions()
    assert numerics.ISA_LIMIT not in os.environ


def test_what_the_user_set_stays(matrix_units, monkeypatch):
    monkeypatch.setattr(numerics, "_survives", lambda: False)
    monkeypatch.setenv(numerics.ISA_LIMIT, "AVX2")
    numerics.avoid_illegal_instructions()
    assert os.environ[numerics.ISA_LIMIT] == "AVX2"


def test_a_child_that_dies_is_noticed(monkeypatch):
    def die(self, other):
        os.abort()

    monkeypatch.setattr(torch.Tensor, "__matmul__", die)
    assert not numerics._survives()


def test_a_child_that_lives_is_noticed(monkeypatch):
    monkeypatch.setattr(torch.Tensor, "__matmul__", lambda self, other: self)
    assert numerics._survives()
