"""PyTorch's matrix products, exp, log, tanh and square root of real numbers through NumPy, in exact jobs.

PyTorch computes them by MKL. Of MKL's settings only `MKL_CBWR=COMPATIBLE` holds on processors of AMD and Intel alike.
It takes three to eight times as long, and its log and square root begin with an estimate by the processor, which has
other bits on AMD's than on Intel's. NumPy's OpenBLAS and functions compute by AVX2 on all. What is left to MKL, such as
products with one vector and decompositions, has that setting.
"""

from collections.abc import Callable
from functools import cache, partial
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from snakeproof.errors import InputError

_REAL = (torch.float32, torch.float64)
_as_torch = np.errstate(all="ignore")  # PyTorch gives infinities and NaN without a warning


@cache
def replace_kernels() -> torch.library.Library:
    """Lets NumPy compute in the place of PyTorch's kernels, below autograd; returns what keeps this so.

    Raises `InputError` unless PyTorch has chosen AVX2 for its other kernels.
    """
    chosen = torch.backends.cpu.get_cpu_capability()
    if chosen != "AVX2":
        raise InputError(f"exact: PyTorch computes with {chosen} and not with AVX2. Run without `exact`.")
    library = torch.library.Library("aten", "IMPL")
    for name in ("mm", "bmm"):
        for form in ("", ".out"):
            _register(library, name + form, multiply, _agree)
    for name in ("addmm", "baddbmm"):
        for form, compute in (("", add_product), (".out", add_product), ("_", add_product_)):
            _register(library, name + form, compute, lambda added, *factors: _agree(*factors))
    for name, function in (("exp", np.exp), ("log", np.log), ("tanh", np.tanh), ("sqrt", np.sqrt)):
        for form, apply in (("", apply_function), (".out", apply_function), ("_", apply_function_)):
            _register(library, name + form, partial(apply, function), lambda x: True)
    return library


def _register(
    library: torch.library.Library, name: str, compute: Callable[..., Tensor], fits: Callable[..., bool]
) -> None:
    """Registers a kernel for real numbers of one type in tensors that fit; others go to PyTorch's own."""
    own: Any = torch.library.get_kernel(f"aten::{name}", "CPU")

    def choose(keys: Any, *given: Any, **named: Any) -> Any:
        tensors = [one for one in (*given, *named.values()) if isinstance(one, Tensor)]
        kinds = {one.dtype for one in tensors}
        if len(kinds) == 1 and kinds.issubset(_REAL) and fits(*given):
            return compute(*given, **named)
        return own.call_boxed(keys, *given, **named)

    library.impl(name, choose, "CPU", with_keyset=True, allow_override=True)


def _agree(a: Tensor, b: Tensor) -> bool:
    return a.ndim == b.ndim and a.shape[-1] == b.shape[-2] and a.shape[:-2] == b.shape[:-2]


@_as_torch
def multiply(a: Tensor, b: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The product of two matrices, or of each of two stacks of them."""
    shape = (*a.shape[:-1], b.shape[-1])
    found = a.new_empty(shape) if out is None else out if out.shape == shape else out.resize_(shape)
    np.matmul(_factor(a), _factor(b), out=found.detach().numpy())
    return found


def _factor(tensor: Tensor) -> NDArray[Any]:
    """The numbers of a matrix or stack: in its memory, unless OpenBLAS cannot read them there."""
    rows, columns = tensor.stride()[-2:]
    height, width = tensor.shape[-2:]
    in_rows, in_columns = columns == 1 and rows >= width, rows == 1 and columns >= height
    return (tensor if in_rows or in_columns else tensor.contiguous()).detach().numpy()


def add_product(
    added: Tensor, a: Tensor, b: Tensor, *, beta: float = 1, alpha: float = 1, out: Tensor | None = None
) -> Tensor:
    """The sum of beta * added and alpha * (a @ b); a beta of 0 leaves `added` out, whatever it has."""
    found = multiply(a, b)
    if alpha != 1:
        found.mul_(alpha)
    if beta != 0:
        found.add_(added, alpha=beta)
    return found if out is None else out.resize_(found.shape).copy_(found)


def add_product_(added: Tensor, a: Tensor, b: Tensor, *, beta: float = 1, alpha: float = 1) -> Tensor:
    """The same in the place of `added`."""
    return added.copy_(add_product(added, a, b, beta=beta, alpha=alpha))


@_as_torch
def apply_function(function: Callable[..., Any], x: Tensor, *, out: Tensor | None = None) -> Tensor:
    """A function of each number."""
    found = torch.empty_like(x) if out is None else out if out.shape == x.shape else out.resize_(x.shape)
    function(x.detach().numpy(), out=found.detach().numpy())
    return found


def apply_function_(function: Callable[..., Any], x: Tensor) -> Tensor:
    """The same in the place of `x`."""
    return apply_function(function, x, out=x)
