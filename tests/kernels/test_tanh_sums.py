"""Sums of tanh over units for many pairs, against literal loops."""

import os
import subprocess
import sys

import pytest
import torch

from densevse.kernels import blocks_of_tanh_sums, tanh_sums
from densevse.kernels.pairs import Grouped
from tests.gradients import assert_same
from tests.kernels import definitions


@pytest.fixture(params=["compiled", "blocks", "fused"])
def way(request, monkeypatch, interpreted):
    """The loops of a CPU; and both ways of a GPU, with Triton's interpreter in place of its compiler."""
    monkeypatch.setattr(tanh_sums, "_is_compiled", lambda keys: request.param == "compiled")
    monkeypatch.setattr(blocks_of_tanh_sums, "numbers_at_once", lambda device, on_cpu: 30)
    if request.param == "fused":
        kernels = interpreted("fused_tanh_sums")
        monkeypatch.setattr(tanh_sums, "_gpu_module", lambda: kernels)
    else:
        monkeypatch.setattr(tanh_sums, "_gpu_module", lambda: blocks_of_tanh_sums)
    return request.param


@pytest.mark.parametrize("limit", [tanh_sums.TANH_LIMIT, 1.0])
@pytest.mark.parametrize("units", [1, 5, 6])
def test_sums_over_units_and_their_gradient(monkeypatch, way, limit, units):
    """Also where the terms under the tanh are limited."""
    monkeypatch.setattr(tanh_sums, "TANH_LIMIT", limit)
    torch.manual_seed(0)
    image = torch.tensor([2, 0, 2, 2, 0])
    pairs = Grouped.from_owners(image)
    sizes = (3, 2, units), (5, units), (units,)
    x, y, weight = (torch.randn(size, dtype=torch.double, requires_grad=True) for size in sizes)

    def sums(x, y, weight):
        return tanh_sums.tanh_sums(tanh_sums.exponential(x), tanh_sums.exponential(y), weight, pairs)

    literal = definitions.tanh_sums(x.clamp(-limit, limit), y.clamp(-limit, limit), weight, pairs.owner)
    assert_same(sums(x, y, weight), literal, [x, y, weight])
    if way != "fused":  # which takes a while to interpret
        assert torch.autograd.gradcheck(sums, (x, y, weight))


@pytest.mark.usefixtures("way")
def test_sums_over_units_of_all_sizes_in_single_precision():
    """The largest exponentials share a division with others: neither is lost where their product is large."""
    pairs = Grouped.from_owners(torch.tensor([0]))
    x, weight = torch.tensor([[[100.0, 100, 5, -100]]]), torch.tensor([1.0, 2, 4, 8])
    for y in ([100.0, 100, 0, -100], [100.0, -100, 0, 100], [0.0, 0, 0, 0]):
        queries = torch.tensor([y])
        expected = torch.tanh(x[0].clamp(-10, 10) + queries.clamp(-10, 10)) @ weight  # of 10, it is 1
        found = tanh_sums.tanh_sums(tanh_sums.exponential(x), tanh_sums.exponential(queries), weight, pairs)
        torch.testing.assert_close(found, expected.view(1, 1))


SUMS_IN_A_PROCESS = """
import sys, torch
from densevse.kernels import tanh_sums
from densevse.kernels.pairs import Grouped
torch.set_num_threads(int(sys.argv[1]))
torch.manual_seed(0)
x, y, weight = (torch.randn(size, requires_grad=True) for size in ((20, 16, 32), (400, 32), (32,)))
pairs = Grouped.from_owners(torch.arange(20).repeat_interleave(20))
sums = tanh_sums.tanh_sums(tanh_sums.exponential(x), tanh_sums.exponential(y), weight, pairs)
sums.backward(torch.randn_like(sums))
print([tensor.detach().numpy().tobytes().hex() for tensor in (sums, x.grad, y.grad, weight.grad)])
print(sum(tanh_sums._forward.stats.cache_hits.values()))
"""


@pytest.mark.long
def test_sums_are_the_same_bits_in_the_process_that_compiles_and_in_the_next(tmp_path):
    """And with any number of threads, as each pair's sum is one thread's."""

    def run(threads):
        command = [sys.executable, "-c", SUMS_IN_A_PROCESS, str(threads)]
        environment = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path)}
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
        return done.stdout.splitlines()

    (compiled, hits), (loaded, later_hits), (by_three, _) = run(1), run(1), run(3)
    assert (hits, later_hits) == ("0", "1")
    assert compiled == loaded
    assert compiled == by_three
