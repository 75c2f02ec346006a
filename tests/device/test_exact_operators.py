"""An exact training computes only by operators that were shown to have the same bits on every processor.

They were shown by `make any-cpu`, and one by one on emulated processors. A new one is added here when it was.
"""

import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode

from tests.device.chosen import CPU
from tests.device.test_methods import METHODS, Trained

MOVING = """
__and__ __rshift__ _local_scalar_dense _to_copy _unique2 _unsafe_view alias all amax any arange argmax argsort
bernoulli bitwise_and bitwise_left_shift bitwise_not bitwise_or bitwise_right_shift bitwise_xor cartesian_prod
cat chunk clone column_stack constant_pad_nd copy count_nonzero detach diag_embed diagonal diagonal_backward
diagonal_copy dropout embedding empty empty_like eq expand expand_as eye fill flatten full full_like gather ge
gt index index_copy index_put index_select is_nonzero item le lift_fresh linspace logical_and lt masked_fill max
ne new_empty new_full new_zeros nonzero normal numpy_T one_hot ones ones_like pad permute repeat
repeat_interleave resolve_conj resolve_neg scalar_tensor scatter select set slice slice_backward sort split
split_with_sizes squeeze stack t take_along_dim to topk transpose unbind uniform unique_consecutive unsqueeze
view where zero zeros zeros_like
"""
"""Operators that move, compare, order or draw numbers."""
COMPUTING = """
_embedding_bag_forward_only _foreach_add _fused_adam _fused_sgd _linalg_eigh _linalg_svd _log_softmax
_log_softmax_backward_data _softmax _softmax_backward_data abs add addcmul addmm baddbmm batch_norm bmm clamp
clamp_min cross_entropy_loss div einsum embedding_bag embedding_dense_backward exp index_add layer_norm
leaky_relu leaky_relu_backward lerp linalg_qr linalg_vector_norm linear log log_softmax logsumexp matmul mean mm
mul native_batch_norm native_batch_norm_backward native_layer_norm neg nll_loss_backward nll_loss_forward pow
reciprocal relu remainder round rsqrt rsub scatter_add scatter_reduce sigmoid sigmoid_backward sign softmax
special_entr sqrt square std sub sum tanh tanh_backward threshold_backward var_mean
"""
EQUAL = {*MOVING.split(), *COMPUTING.split()}


class Seen(TorchDispatchMode):
    """Notes the operators that PyTorch is asked for, without their forms: `exp` for exp_ and exp.out."""

    def __init__(self):
        super().__init__()
        self.operators = set()

    def __torch_dispatch__(self, operator, types, args=(), kwargs=None):
        if operator.namespace == "aten":
            name = operator.overloadpacket.__name__
            self.operators.add(name if name.startswith("__") else name.rstrip("_"))
        return operator(*args, **(kwargs or {}))


@pytest.mark.parametrize("name", METHODS)
def test_a_training_uses_no_operator_that_was_not_shown_equal(name, made, tmp_path, compute_on):
    compute_on(CPU)
    with Seen() as seen:
        trained = Trained(made, tmp_path, name)
        trained.retrieval()
    assert {"mm", "sqrt", "exp"} & seen.operators
    assert seen.operators - EQUAL == set()


def test_another_operator_is_noticed_also_behind_a_gradient():
    weight = torch.ones(3, 3, requires_grad=True)
    with Seen() as seen:
        torch.linalg.cholesky(weight + 3 * torch.eye(3)).sum().backward()
    assert {"linalg_cholesky_ex", "linalg_solve_triangular"} <= seen.operators - EQUAL
