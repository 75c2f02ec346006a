"""Exact jobs: what their processes begin with, and how PyTorch computes in them."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from densevse.runtime import exact
from densevse.runtime.through_numpy import replace_kernels
from snakeproof.errors import InputError

ROOT = Path(__file__).parents[2]
HERE = pytest.mark.skipif(exact.why_not_exact(0) is not None, reason="no exact jobs on this machine")
OTHERWISE = {
    "OPENBLAS_CORETYPE": "NEHALEM",
    "ATEN_CPU_CAPABILITY": "default",
    "MKL_CBWR": "AVX2",
    "MKL_ENABLE_INSTRUCTIONS": "SSE4_2",
    "ONEDNN_MAX_CPU_ISA": "SSE41",
    "NPY_DISABLE_CPU_FEATURES": "X86_V3 X86_V4",
    "NUMBA_CPU_NAME": "generic",
    "OMP_NUM_THREADS": "2",
}
"""Variables of a user, each of which changes last digits."""

BEGIN = f"import sys; sys.path.insert(0, {str(ROOT)!r}); from densevse.runtime import exact; exact.begin()"
COMPUTE = """
import hashlib, json
import numba, numpy as np, torch
from torch.nn import functional
from densevse.runtime.numerics import set_up_processor
set_up_processor(1)
random = np.random.default_rng(0)
found = []

def keep(*results):
    for one in results:
        found.append(hashlib.sha256(np.ascontiguousarray(torch.as_tensor(one).numpy()).tobytes()).hexdigest())

def draw(*shape):
    return torch.from_numpy(random.standard_normal(shape).astype(np.float32))

keep(*torch.linalg.qr(draw(200, 200)), draw(40, 300).log_softmax(1), (draw(300).abs() + 1).log())
keep(functional.conv2d(draw(2, 64, 24, 24), draw(64, 64, 3, 3)))
keep(draw(500, 300) @ draw(300, 400), draw(3, 400, 30).exp(), draw(700).tanh(), np.log1p(random.random(999)))
print(json.dumps(found))
"""
COMPARE = """
import warnings
import numpy as np, torch
from densevse.runtime.numerics import set_up_processor
set_up_processor(1)
torch.manual_seed(0)

def near(found, expected):
    torch.testing.assert_close(found, expected, rtol=1e-5, atol=1e-5)

def slow(a, b):  # a product without a product's operator
    return (a.unsqueeze(-1) * b.unsqueeze(-3)).sum(dim=-2)

for dtype in (torch.float32, torch.float64):
    def draw(*shape):
        return torch.randn(shape, dtype=dtype)
    for m, k, n in ((5, 7, 3), (1, 7, 3), (5, 1, 3), (5, 7, 1), (1, 1, 1), (0, 7, 3), (5, 0, 3)):
        tops = (draw(m, k), draw(k, m).t(), draw(m, 2 * k)[:, ::2], draw(1, k).expand(m, k), draw(m, k + 4)[:, :k])
        for a in tops:
            for b in (draw(k, n), draw(n, k).t(), draw(2 * k, n)[::2], draw(n, k + 1)[:, 1:].t()):
                near(a @ b, slow(a, b))
                near(torch.mm(a, b, out=torch.empty(0, dtype=dtype)), slow(a, b))
                wide = torch.zeros(m, 2 * n, dtype=dtype)
                near(torch.mm(a, b, out=wide[:, ::2]), slow(a, b))
                for added in (draw(m, n), draw(n), draw(m, 1)):
                    near(torch.addmm(added, a, b, beta=0.5, alpha=-2), 0.5 * added - 2 * slow(a, b))
                added = draw(m, n)
                near(torch.addmm(added, a, b, out=torch.empty(0, dtype=dtype)), added + slow(a, b))
                near(added.clone().addmm_(a, b, beta=0), slow(a, b))
        unknown = torch.full((m, n), torch.nan, dtype=dtype)
        near(unknown.addmm(a, b, beta=0), slow(a, b))
        a, b, added = draw(4, k, m).transpose(1, 2), draw(4, k, n), draw(4, m, n)
        near(torch.bmm(a, b), slow(a, b))
        near(torch.bmm(a, b, out=torch.empty(0, dtype=dtype)), slow(a, b))
        near(torch.baddbmm(added, a, b, beta=2, alpha=3), 2 * added + 3 * slow(a, b))
        near(torch.baddbmm(added, a, b, out=torch.empty(0, dtype=dtype)), added + slow(a, b))
        near(added.clone().baddbmm_(a, b), added + slow(a, b))
        vector, offset = draw(2 * k)[::2], draw(m)
        near(tops[2] @ vector, (tops[2] * vector).sum(1))
        near(torch.addmv(offset, tops[0], vector, beta=2, alpha=3), 2 * offset + 3 * (tops[0] * vector).sum(1))
        near(torch.mv(tops[0], vector, out=torch.empty(0, dtype=dtype)), (tops[0] * vector).sum(1))
        near(offset.clone().addmv_(tops[0], vector), offset + (tops[0] * vector).sum(1))
    for name, definition in (("exp", np.exp), ("log", np.log), ("tanh", np.tanh), ("sqrt", np.sqrt)):
        function = getattr(torch, name)
        matrix = draw(5, 7)
        for x in (matrix, matrix.t(), matrix[:, ::2], draw(1, 3).expand(4, 3), draw(0), matrix[0, 0], draw(2, 3, 4)):
            x = x.abs() if name in ("log", "sqrt") else x
            near(function(x), torch.from_numpy(np.asarray(definition(x.numpy()))))
            near(function(x, out=torch.empty(0, dtype=dtype)), function(x))
            near(getattr(x.clone(), f"{name}_")(), function(x))
    channels = draw(2, 3, 4, 4).to(memory_format=torch.channels_last)
    assert channels.tanh().is_contiguous(memory_format=torch.channels_last)

warnings.simplefilter("error")
np.seterr(all="raise")
huge = torch.full((2, 2), 1e30)
assert huge.exp().isinf().all() and (-huge).sqrt().isnan().all()
assert (huge @ huge).isinf().all() and ((huge * 1e30) @ (huge * 0)).isnan().all()

a, b = torch.randn(4, 5, requires_grad=True), torch.randn(5, 6, requires_grad=True)
torch.autograd.gradcheck(lambda a, b: (a @ b).tanh().exp(), (a.double(), b.double()))
with torch.inference_mode():
    near(a @ b, slow(a, b))
for dtype in (torch.int64, torch.bfloat16, torch.complex64):  # by PyTorch's own kernels
    ones = torch.ones(3, 3, dtype=dtype)
    assert (ones @ ones).tolist() == [[3] * 3] * 3 and (ones @ ones).dtype == dtype
assert torch.ones(3, dtype=torch.int64).exp().dtype == torch.float32
square, stack = torch.ones(2, 2), torch.ones(4, 2, 2)
for wrong in (
    lambda: torch.ones(2, 3) @ torch.ones(2, 3),
    lambda: square @ square.double(),
    lambda: torch.mm(square, square, out=torch.empty(2, 2, dtype=torch.float64)),
    lambda: torch.mm(square, square[0]),
    lambda: torch.bmm(stack, stack[:1]),
    lambda: torch.addmm(torch.ones(5), square, square),
):
    try:
        wrong()
    except RuntimeError:
        continue
    raise AssertionError("accepted")
assert np.array_equal(np.matmul(a.detach().numpy(), b.detach().numpy()), (a @ b).detach().numpy())
"""


def run(code, **variables):
    environment = {**os.environ, **variables, "PYTHONPATH": str(ROOT)}
    return subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=False)


@HERE
def test_a_users_variables_change_no_bit():
    plain, otherwise = (run(f"{BEGIN}\n{COMPUTE}", **given) for given in ({}, OTHERWISE))
    assert (plain.returncode, otherwise.returncode) == (0, 0), plain.stderr + otherwise.stderr
    assert json.loads(plain.stdout) == json.loads(otherwise.stdout)


@HERE
def test_pytorch_computes_every_form_of_a_product_as_defined():
    done = run(f"{BEGIN}\n{COMPARE}")
    assert done.returncode == 0, done.stderr


@HERE
def test_a_process_that_has_loaded_a_library_is_refused():
    done = run(f"import numpy\n{BEGIN}")
    assert "exact: numpy was loaded before the job began" in done.stderr


def test_kernels_are_replaced_only_where_the_others_compute_by_avx2(monkeypatch):
    monkeypatch.setattr(torch.backends.cpu, "get_cpu_capability", lambda: "DEFAULT")
    with pytest.raises(InputError, match="exact: PyTorch computes with DEFAULT and not with AVX2"):
        replace_kernels()


@pytest.mark.parametrize(
    ("machine", "system", "features", "gpu", "reason"),
    [
        ("aarch64", "linux", exact._FEATURES, 0, "on aarch64, and exact jobs need Linux on x86-64"),
        ("x86_64", "darwin", exact._FEATURES, 0, "exact jobs need Linux"),
        ("x86_64", "linux", exact._FEATURES - {"avx2", "fma"}, 0, "this processor has no avx2, fma"),
        ("x86_64", "linux", exact._FEATURES, 2, "jobs may use a GPU; `gpu: 0` keeps them from it"),
    ],
)
def test_another_machine_says_what_it_lacks(monkeypatch, machine, system, features, gpu, reason):
    monkeypatch.setattr("platform.machine", lambda: machine)
    monkeypatch.setattr("sys.platform", system)
    monkeypatch.setattr(exact, "_processor_features", lambda: set(features))
    assert reason in exact.why_not_exact(gpu)
    if gpu == 0:
        with pytest.raises(InputError, match="Run without `exact`"):
            exact.begin()
