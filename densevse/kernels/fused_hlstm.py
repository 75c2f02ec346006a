"""The steps of an H-LSTM's level on a GPU: kernels in Triton, one for each step. Imported only where a GPU is.

The functions take the same as those of hlstm_steps.py. Each program adds in a fixed order and writes what no other one
writes, so two runs give the same bits.
"""

import triton
import triton.language as tl
from torch import Tensor

UNITS = 256  # of a node, in one program
# Triton would compile a kernel again for sizes and addresses that are multiples of 16, and levels have all sizes.
_COUNTS = ["count", "total"]
_LISTS = ["children", "parents", "offsets"]


def open_gates(
    of_leaves: Tensor | None,
    children: Tensor,
    offsets: Tensor,
    sent: Tensor,
    b: Tensor,
    c: Tensor,
    tanh_c: Tensor,
    h: Tensor,
) -> Tensor:
    """Eq 2 and 5-8 for the n nodes of a level: writes their c, tanh(c) and h, and returns the gates i, o, u (n, 3H)."""
    count, size = h.shape
    gates = h.new_empty(count, 3 * size) if of_leaves is None else of_leaves
    given = gates, children, offsets, sent, b, c, tanh_c, h, count, len(children), size
    _open_gates[count, triton.cdiv(size, UNITS)](*given, LEAVES=of_leaves is not None, UNITS=UNITS)
    return gates


def send(message: Tensor, b_f: Tensor, c: Tensor) -> Tensor:
    """Eq 3, 4 and 7 for n messages: puts f c in place of the terms of f, and returns f (n, H)."""
    count, size = c.shape
    f = c.new_empty(count, size)
    _send[count, triton.cdiv(size, UNITS)](message, b_f, c, f, size, UNITS=UNITS)
    return f


def receive(
    parents: Tensor, offsets: Tensor, of_nodes: Tensor, f: Tensor, c: Tensor, of_c: Tensor, out: Tensor
) -> None:
    """The gradients (n, 4H) of n messages, from those of their receivers; adds to the gradients of the senders' c."""
    count, size = c.shape
    given = parents, offsets, of_nodes, f, c, of_c, out, count, len(parents), size
    _receive[count, triton.cdiv(size, UNITS)](*given, UNITS=UNITS)


def close_gates(gates: Tensor, of_h: Tensor, of_c: Tensor, tanh_c: Tensor, of_nodes: Tensor) -> None:
    """The gradients (n, 4H) of a level's i, o, u before their nonlinearities, and of what children remember."""
    count, size = tanh_c.shape
    _close_gates[count, triton.cdiv(size, UNITS)](gates, of_h, of_c, tanh_c, of_nodes, size, UNITS=UNITS)


@triton.jit
def _sigmoid(x):
    return 1 / (1 + tl.exp(-x))


@triton.jit(do_not_specialize=_COUNTS, do_not_specialize_on_alignment=_LISTS)
def _open_gates(
    gates,
    children,
    offsets,
    sent,
    b,
    c,
    tanh_c,
    h,
    count,
    total,
    size,
    LEAVES: tl.constexpr,
    UNITS: tl.constexpr,
):
    node = tl.program_id(0).to(tl.int64)
    unit = tl.program_id(1) * UNITS + tl.arange(0, UNITS)
    there = unit < size
    own = gates + node * 3 * size + unit
    if LEAVES:
        i = tl.load(own, mask=there, other=0)
        o = tl.load(own + size, mask=there, other=0)
        u = tl.load(own + 2 * size, mask=there, other=0)
        remembered = tl.full((UNITS,), 0, gates.dtype.element_ty)
    else:
        i = tl.full((UNITS,), 0, gates.dtype.element_ty)
        o = tl.full((UNITS,), 0, gates.dtype.element_ty)
        u = tl.full((UNITS,), 0, gates.dtype.element_ty)
        remembered = tl.full((UNITS,), 0, gates.dtype.element_ty)
        stop = tl.load(offsets + node + 1, mask=node + 1 < count, other=total)
        for place in range(tl.load(offsets + node), stop):
            message = sent + tl.load(children + place) * 4 * size + unit
            i += tl.load(message, mask=there, other=0)
            o += tl.load(message + size, mask=there, other=0)
            u += tl.load(message + 2 * size, mask=there, other=0)
            remembered += tl.load(message + 3 * size, mask=there, other=0)
    i = _sigmoid(i + tl.load(b + unit, mask=there, other=0))
    o = _sigmoid(o + tl.load(b + size + unit, mask=there, other=0))
    u = 2 * _sigmoid(2 * (u + tl.load(b + 2 * size + unit, mask=there, other=0))) - 1
    memory = i * u + remembered
    squashed = 2 * _sigmoid(2 * memory) - 1
    tl.store(own, i, mask=there)
    tl.store(own + size, o, mask=there)
    tl.store(own + 2 * size, u, mask=there)
    tl.store(c + node * size + unit, memory, mask=there)
    tl.store(tanh_c + node * size + unit, squashed, mask=there)
    tl.store(h + node * size + unit, o * squashed, mask=there)


@triton.jit
def _send(message, b_f, c, f, size, UNITS: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    unit = tl.program_id(1) * UNITS + tl.arange(0, UNITS)
    there = unit < size
    own = message + row * 4 * size + 3 * size + unit
    forget = _sigmoid(tl.load(own, mask=there, other=0) + tl.load(b_f + unit, mask=there, other=0))
    tl.store(f + row * size + unit, forget, mask=there)
    tl.store(own, forget * tl.load(c + row * size + unit, mask=there, other=0), mask=there)


@triton.jit(do_not_specialize=_COUNTS, do_not_specialize_on_alignment=_LISTS)
def _receive(
    parents,
    offsets,
    of_nodes,
    f,
    c,
    of_c,
    out,
    count,
    total,
    size,
    UNITS: tl.constexpr,
):
    row = tl.program_id(0).to(tl.int64)
    unit = tl.program_id(1) * UNITS + tl.arange(0, UNITS)
    there = unit < size
    of_i = tl.full((UNITS,), 0, of_nodes.dtype.element_ty)
    of_o = tl.full((UNITS,), 0, of_nodes.dtype.element_ty)
    of_u = tl.full((UNITS,), 0, of_nodes.dtype.element_ty)
    of_kept = tl.full((UNITS,), 0, of_nodes.dtype.element_ty)
    stop = tl.load(offsets + row + 1, mask=row + 1 < count, other=total)
    for place in range(tl.load(offsets + row), stop):
        parent = of_nodes + tl.load(parents + place) * 4 * size + unit
        of_i += tl.load(parent, mask=there, other=0)
        of_o += tl.load(parent + size, mask=there, other=0)
        of_u += tl.load(parent + 2 * size, mask=there, other=0)
        of_kept += tl.load(parent + 3 * size, mask=there, other=0)
    forget = tl.load(f + row * size + unit, mask=there, other=0)
    memory = of_c + row * size + unit
    tl.store(memory, tl.load(memory, mask=there, other=0) + of_kept * forget, mask=there)
    of_forget = of_kept * tl.load(c + row * size + unit, mask=there, other=0) * forget * (1 - forget)
    own = out + row * 4 * size + unit
    tl.store(own, of_i, mask=there)
    tl.store(own + size, of_o, mask=there)
    tl.store(own + 2 * size, of_u, mask=there)
    tl.store(own + 3 * size, of_forget, mask=there)


@triton.jit
def _close_gates(gates, of_h, of_c, tanh_c, of_nodes, size, UNITS: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    unit = tl.program_id(1) * UNITS + tl.arange(0, UNITS)
    there = unit < size
    own = gates + row * 3 * size + unit
    i = tl.load(own, mask=there, other=0)
    o = tl.load(own + size, mask=there, other=0)
    u = tl.load(own + 2 * size, mask=there, other=0)
    squashed = tl.load(tanh_c + row * size + unit, mask=there, other=0)
    of_hidden = tl.load(of_h + row * size + unit, mask=there, other=0)
    of_memory = tl.load(of_c + row * size + unit, mask=there, other=0) + of_hidden * o * (1 - squashed * squashed)
    out = of_nodes + row * 4 * size + unit
    tl.store(out, of_memory * u * i * (1 - i), mask=there)
    tl.store(out + size, of_hidden * squashed * o * (1 - o), mask=there)
    tl.store(out + 2 * size, of_memory * i * (1 - u * u), mask=there)
    tl.store(out + 3 * size, of_memory, mask=there)
