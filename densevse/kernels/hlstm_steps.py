"""The steps of an H-LSTM's level by PyTorch's operators, as on a CPU. The gates stand side by side: i, o, u and f."""

import torch
from torch import Tensor
from torch.nn.functional import embedding_bag

from densevse.kernels.recurrent import sigmoid_, sigmoid_gradient, tanh_gradient


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
    """Eq 2 and 5-8 for the n nodes of a level: writes their c, tanh(c) and h, and returns the gates i, o, u (n, 3H).

    `of_leaves` (n, 3H) are the terms W x_j of leaves, which become the gates. Other nodes have the messages (M, 4H)
    that are `sent` to them, `children` from each of the `offsets` on.
    """
    size = h.shape[1]
    if of_leaves is None:
        received = embedding_bag(children, sent, offsets, mode="sum")  # Eq 2, and the sums of Eq 7
        iou, remembered = received[:, : 3 * size], received[:, 3 * size :]
    else:
        iou, remembered = of_leaves, None
    iou += b[: 3 * size]
    sigmoid_(iou[:, : 2 * size])  # Eq 5: i_j, Eq 6: o_j
    i, o, u_j = torch.split(iou, size, dim=1)
    u_j.tanh_()  # Eq 7: u_j
    torch.mul(i, u_j, out=c)  # Eq 7: c_j
    if remembered is not None:
        c += remembered
    torch.tanh(c, out=tanh_c)
    torch.mul(o, tanh_c, out=h)  # Eq 8
    return iou


def send(message: Tensor, b_f: Tensor, c: Tensor) -> Tensor:
    """Eq 3, 4 and 7 for n messages: puts f c in place of the terms of f, and returns f (n, H).

    `message` (n, 4H) are the terms U h of the senders, and `c` (n, H) their memories.
    """
    size = c.shape[1]
    f = sigmoid_(message[:, 3 * size :] + b_f)  # Eq 3 and 4: f_jk, f_jl
    torch.mul(f, c, out=message[:, 3 * size :])  # Eq 7: f c
    return f


def receive(
    parents: Tensor, offsets: Tensor, of_nodes: Tensor, f: Tensor, c: Tensor, of_c: Tensor, out: Tensor
) -> None:
    """The gradients (n, 4H) of n messages, from those of their receivers; adds to the gradients of the senders' c.

    The receivers are `parents` from each of the `offsets` on, and `of_nodes` (N, 4H) the gradients of all nodes.
    """
    size = c.shape[1]
    d = embedding_bag(parents, of_nodes, offsets, mode="sum")
    d_kept = d[:, 3 * size :]
    of_c.addcmul_(d_kept, f)
    torch.mul(sigmoid_gradient(d_kept, f), c, out=d_kept)
    out.copy_(d)


def close_gates(gates: Tensor, of_h: Tensor, of_c: Tensor, tanh_c: Tensor, of_nodes: Tensor) -> None:
    """The gradients (n, 4H) of a level's i, o, u before their nonlinearities, and of what children remember.

    `of_h` and `of_c` (n, H) are the gradients of the nodes' states and memories.
    """
    size = tanh_c.shape[1]
    i, o, u_j = torch.split(gates, size, dim=1)
    d_i, d_o, d_u, d_memory = torch.split(of_nodes, size, dim=1)
    sigmoid_gradient(of_h * tanh_c, o, out=d_o)
    torch.add(of_c, tanh_gradient(of_h * o, tanh_c), out=d_memory)
    sigmoid_gradient(d_memory * u_j, i, out=d_i)
    tanh_gradient(d_memory * i, u_j, out=d_u)
