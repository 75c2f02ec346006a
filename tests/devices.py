"""A pretended device: tensors that say they are elsewhere, hold CPU data, and refuse to meet CPU tensors as a GPU's do.

`PRETENDED` is the device. A tensor on it is a `Placed`, which computes with the CPU tensor that it holds; so results
are the CPU's, and only the place of computation differs. Every operator on it is counted in `COUNTS`:

- launches: operators that would start a kernel; views and the reservation of memory do not;
- waits: operations that make the host wait for the device: reading a value or an array from it, a result whose size
only the device knows (`nonzero`, a boolean index, `unique`, `bincount`, ...), and a copy to it without `non_blocking`;
- pageable: copies to the device from memory that is not pinned, which are made in pieces while the host waits;
- to_host: the bytes that are copied to the host.

A recurrence of the library (`torch.lstm`, `torch.gru`) is one launch each way, as cuDNN's is one call.

It is stricter than a GPU, which silently copies indices from the CPU: here they are refused.

Limits: it uses backends in Python, which PyTorch calls experimental. There is one device and one stream, nothing is
asynchronous, and memory has no limit, so races and a lack of memory stay unseen, and so do a GPU's own kernels and
their rounding. One draw of random numbers serves both devices. An operator that computes several kernels counts as one.
`torch.inference_mode` gives way to `torch.no_grad`, as inference tensors cannot hold others, and autocast does nothing
there.
"""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from types import ModuleType, SimpleNamespace
from typing import Any

import torch
from torch import Tensor
from torch.utils import backend_registration
from torch.utils._python_dispatch import _disable_current_modes
from torch.utils._pytree import TreeSpec, tree_flatten, tree_leaves, tree_map, tree_unflatten

from densevse.kernels import blocks_of_tanh_sums, hlstm, hlstm_steps, tanh_sums
from densevse.runtime.on_gpu import is_plain

NAME = "pretended"
aten = torch.ops.aten
LIBRARY = torch.library.Library("aten", "IMPL")


class Module(backend_registration._DummyBackendModule):
    """The functions of `torch.pretended`, like those of `torch.cuda`."""

    def get_amp_supported_dtype(self) -> list[torch.dtype]:
        return [torch.bfloat16, torch.float16]

    def get_device_properties(self, device: Any = None) -> Any:
        return SimpleNamespace(total_memory=80 << 30)

    def get_rng_state(self, device: Any = None) -> Tensor:
        return torch.get_rng_state()

    def set_rng_state(self, state: Tensor, device: Any = None) -> None:
        """It draws from the CPU's numbers, whose state is restored by itself."""


backend_registration._setup_privateuseone_for_python_backend(NAME, Module())
PRETENDED = torch.device(NAME, 0)


@dataclass
class Counts:
    """Counts of operations on the device since they were cleared."""

    launches: int = 0
    waits: Counter[str] = field(default_factory=Counter)  # by operator
    pageable: int = 0
    to_host: int = 0  # bytes
    operators: Counter[str] = field(default_factory=Counter)  # the launches, by operator

    def clear(self) -> None:
        self.launches, self.pageable, self.to_host = 0, 0, 0
        self.waits.clear()
        self.operators.clear()

    def launch(self, operator: Any) -> None:
        self.launches += 1
        self.operators[str(operator)] += 1

    def wait(self, operator: Any, given: int = 0) -> None:
        self.waits[str(operator)] += 1
        self.to_host += given


COUNTS = Counts()

COPIES = {aten.copy_.default, aten._to_copy.default}
INDEXING = {aten.index.Tensor, aten.index_put.default, aten.index_put_.default, aten._index_put_impl_.default}
RESERVING = {
    aten.empty.memory_format,
    aten.empty_strided.default,
    aten.empty_like.default,
    aten.new_empty.default,
    aten.new_empty_strided.default,
}
SIZED_BY_VALUES = {
    aten.nonzero.default,
    aten.masked_select.default,
    aten._unique2.default,
    aten.unique_consecutive.default,
    aten.unique_dim.default,
    aten.bincount.default,
    aten.equal.default,
}


class Placed(torch.Tensor):
    """A tensor on the pretended device."""

    held: Tensor
    __torch_function__ = torch._C._disabled_torch_function_impl

    @staticmethod
    def __new__(cls, held: Tensor) -> "Placed":
        made = torch.Tensor._make_wrapper_subclass(
            cls,
            held.size(),
            strides=held.stride(),
            storage_offset=held.storage_offset(),
            dtype=held.dtype,
            layout=held.layout,
            device=PRETENDED,
        )
        made.held = held
        return made

    @classmethod
    def __torch_dispatch__(cls, operator: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return compute(operator, args, kwargs or {})

    def numpy(self, *_: Any, **__: Any) -> Any:
        raise TypeError(f"can't convert a tensor on {PRETENDED} to numpy: use Tensor.cpu() first")

    __array__ = numpy

    def tolist(self) -> Any:
        COUNTS.wait("tolist", self.held.nbytes)
        return self.held.tolist()

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        copied: Any = Placed(self.held.clone())
        if isinstance(self, torch.nn.Parameter):
            copied = torch.nn.Parameter(copied, self.requires_grad)
        memo[id(self)] = copied
        return copied

    def __reduce_ex__(self, protocol: Any) -> Any:
        COUNTS.wait("saved", self.held.nbytes)  # as torch.save writes a GPU's tensors; `load` needs a map_location
        return self.held.__reduce_ex__(protocol)

    def __repr__(self, **_: Any) -> str:
        return f"Placed({self.held})"


def compute(operator: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """An operator's result, computed on the CPU, on the device where a GPU's would be."""
    tensors = [leaf for leaf in tree_leaves((args, kwargs)) if isinstance(leaf, Tensor)]
    placed = [tensor for tensor in tensors if isinstance(tensor, Placed)]
    if operator not in COPIES:
        check_together(operator, tensors)
    target = kwargs.get("device")
    goes = bool(placed) if target is None else torch.device(target).type == NAME
    if operator is aten.copy_.default:
        goes = isinstance(args[0], Placed)
    count(operator, args, kwargs, goes)
    own = {id(tensor.held): tensor for tensor in placed}
    with _disable_current_modes():
        found = operator(*tree_map(held, args), **tree_map(held, kwargs))
    if not goes:
        return found

    def place(leaf: Any) -> Any:
        if not isinstance(leaf, Tensor):
            return leaf
        if id(leaf) not in own:
            return Placed(leaf)
        same = own[id(leaf)]  # what is computed in place, or with `out`, stays the same tensor
        if same.shape != leaf.shape:
            raise NotImplementedError(f"{operator} changed the size of a tensor on {PRETENDED}")
        return same

    return tree_map(place, found)


def held(leaf: Any) -> Any:
    """The CPU's stand-in for a tensor on the device, or for the device."""
    if isinstance(leaf, Placed):
        return leaf.held
    return torch.device("cpu") if isinstance(leaf, torch.device) and leaf.type == NAME else leaf


def check_together(operator: Any, tensors: list[Tensor]) -> None:
    """Raises for tensors on both devices, except single numbers, which a kernel takes by value."""
    apart = [tensor for tensor in tensors if not isinstance(tensor, Placed) and tensor.dim()]
    if apart and len(apart) < len(tensors):
        shapes = [f"{tuple(tensor.shape)} on {tensor.device.type}" for tensor in tensors]
        raise RuntimeError(f"Expected all tensors to be on the same device: {operator} was given {', '.join(shapes)}")


def count(operator: Any, args: tuple[Any, ...], kwargs: dict[str, Any], goes: bool) -> None:
    if operator in COPIES:
        source = args[1] if operator is aten.copy_.default else args[0]
        blocking = not (args[2] if len(args) > 2 else kwargs.get("non_blocking"))
        if isinstance(source, Placed) and not goes:
            COUNTS.wait("to host", source.held.nbytes)
        elif goes and not isinstance(source, Placed) and source.dim():
            COUNTS.pageable += not getattr(source, "pinned", False)
            if blocking:
                COUNTS.wait("to device")
    elif operator is aten._local_scalar_dense.default:
        COUNTS.wait("item", args[0].held.nbytes)
        return
    elif operator in SIZED_BY_VALUES or (operator is aten.repeat_interleave.Tensor and not kwargs.get("output_size")):
        COUNTS.wait(operator)
    elif operator in INDEXING and any(index is not None and index.dtype == torch.bool for index in args[1]):
        COUNTS.wait(f"{operator} by booleans")
    if not operator.is_view and operator not in RESERVING:
        COUNTS.launch(operator)


def pin_memory(tensor: Tensor, device: Any = None) -> Tensor:
    """What `Tensor.pin_memory` does for the device: a copy that says so itself; its views do not."""
    copied: Any = tensor.clone()
    copied.pinned = True
    return copied


class Recurrence(torch.autograd.Function):
    """A recurrence of the library as one launch each way, where torch would compute it step by step."""

    @staticmethod
    def forward(ctx: Any, operator: Any, structure: TreeSpec, *leaves: Any) -> tuple[Tensor, ...]:
        COUNTS.launch(operator)
        placed = [isinstance(leaf, Placed) for leaf in leaves]
        given = [
            leaf.held.detach().requires_grad_(leaf.requires_grad) if moved else leaf
            for leaf, moved in zip(leaves, placed, strict=True)
        ]
        with torch.enable_grad(), _disable_current_modes():
            found = operator(*tree_unflatten(given, structure))
        ctx.operator, ctx.found = operator, found
        ctx.given = [leaf if moved and leaf.requires_grad else None for leaf, moved in zip(given, placed, strict=True)]
        ctx.set_materialize_grads(False)
        return tuple(Placed(part.detach()) for part in found)

    @staticmethod
    def backward(ctx: Any, *gradients: Any) -> tuple[Any, ...]:
        COUNTS.launch(f"{ctx.operator} backward")
        known = [
            (part, held(gradient)) for part, gradient in zip(ctx.found, gradients, strict=True) if gradient is not None
        ]
        outputs, grads = zip(*known, strict=True)
        found = iter(torch.autograd.grad(outputs, [leaf for leaf in ctx.given if leaf is not None], grads))
        return None, None, *(None if leaf is None else Placed(next(found)) for leaf in ctx.given)


def recurrence(operator: Any) -> Callable[..., tuple[Tensor, ...]]:
    def compute_whole(*args: Any) -> tuple[Tensor, ...]:
        leaves, structure = tree_flatten(args)
        check_together(operator, [leaf for leaf in leaves if isinstance(leaf, Tensor) and leaf is not args[1]])
        return Recurrence.apply(operator, structure, *leaves)  # type: ignore[no-any-return, no-untyped-call]

    return compute_whole


for _operator in (aten.lstm.input, aten.lstm.data, aten.gru.input, aten.gru.data):
    LIBRARY.impl(_operator.name().removeprefix("aten::"), recurrence(_operator), "AutogradPrivateUse1")


# Factories have no tensor among their arguments, by which Python would be asked. Most reserve memory by one of the
# first two and fill it; the others here would find its size only then.
FACTORIES = (aten.empty.memory_format, aten.empty_strided.default)
FACTORIES += (aten.arange.default, aten.arange.start, aten.arange.start_step, aten.eye.default, aten.linspace.default)


def factory(operator: Any) -> Callable[..., Tensor]:
    def make(*args: Any, **kwargs: Any) -> Tensor:
        count(operator, args, kwargs, goes=True)
        with _disable_current_modes():
            return Placed(operator(*args, **{**kwargs, "device": torch.device("cpu"), "pin_memory": None}))

    return make


for _operator in FACTORIES:
    LIBRARY.impl(_operator.name().removeprefix("aten::"), factory(_operator), "PrivateUse1")


def _copy_from(source: Tensor, target: Tensor, non_blocking: bool = False) -> Tensor:
    with _disable_current_modes():
        held(target).copy_(held(source))
    return target


LIBRARY.impl("_copy_from", _copy_from, "PrivateUse1")
AUTOCAST = torch.library.Library("_", "IMPL")
AUTOCAST.fallback(torch.library.fallthrough_kernel, "AutocastPrivateUse1")


def as_one_launch(name: str, function: Callable[..., Any], *given: Any) -> Any:
    """What a function computes, as one launch of this name."""
    before, operators = COUNTS.launches, COUNTS.operators.copy()
    found = function(*given)
    COUNTS.launches, COUNTS.operators = before, operators
    COUNTS.launch(name)
    return found


def fused(module: ModuleType, *names: str) -> SimpleNamespace:
    """In place of kernels in Triton: the same functions by PyTorch, each as one launch."""
    functions = {name: partial(as_one_launch, f"fused {name}", getattr(module, name)) for name in names}
    return SimpleNamespace(**functions)


FUSED_SUMS = fused(blocks_of_tanh_sums, "compute_sums", "compute_gradients")
FUSED_STEPS = fused(hlstm_steps, "open_gates", "send", "receive", "close_gates")


def steps_of(device: torch.device) -> Any:
    """The H-LSTM's steps on a device, as densevse/kernels/hlstm.py chooses them."""
    return hlstm_steps if device.type == "cpu" or is_plain("hlstm") else FUSED_STEPS


hlstm._steps = steps_of
tanh_sums._gpu_module = lambda: blocks_of_tanh_sums if is_plain("tanh_sums") else FUSED_SUMS  # type: ignore[assignment, return-value]
