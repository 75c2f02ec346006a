"""SCO's multi-regional multi-label CNN (section 3.2): a classifier with one output for each concept.

Each of its K outputs z_c is the logit of a concept's probability. Of an image they are, for each concept, the largest
over its regions ("element-wise max-pooling across these score vectors").
"""

import torch
from torch import Tensor, nn
from torch.nn import functional


def multi_label_loss(logits: Tensor, present: Tensor) -> Tensor:
    """(N,) Eq 1, repaired: the sum over concepts of log(1 + exp(-y_c z_c)), of (N, K) logits z.

    `present` (N, K) bool says which concepts an image has: y is +1 where it has one and -1 where not. With the y of 0
    and 1 that the paper states, an absent concept would cost log 2 whatever the network says.
    """
    signs = 2 * present.to(logits.dtype) - 1
    return functional.softplus(-signs * logits).sum(dim=1)


def best_of_regions(logits: Tensor, present: Tensor) -> Tensor:
    """(N, K) largest logits of each image's regions, of (N, R, K); `present` (N, R) bool says which regions exist."""
    return logits.masked_fill(~present.unsqueeze(2), -torch.inf).amax(dim=1)


def last_linear(network: nn.Module) -> tuple[str, nn.Linear]:
    """The name and layer of a classifier's scores. Raises `ValueError` if its last layer with weights is not linear."""
    layers = [(name, part) for name, part in network.named_modules() if isinstance(part, nn.Linear | nn.Conv2d)]
    name, last = layers[-1]
    if not isinstance(last, nn.Linear):
        raise ValueError(
            f"its last layer {name} is a convolution; expected a linear one, whose outputs are the classes"
        )
    return name, last


def with_outputs(network: nn.Module, share: Tensor) -> nn.Module:
    """Replace a classifier's last layer by one with an output for each concept; see `head`."""
    name, last = last_linear(network)
    network.set_submodule(name, head(last.in_features, share))
    return network


def head(inputs: int, share: Tensor) -> nn.Linear:
    """The last layer, (N, inputs) to (N, K). It begins by what is known without looking: each concept's `share` (K,).

    Shares are those of training images that have the concept, above 0 and below 1.
    """
    layer = nn.Linear(inputs, len(share))
    nn.init.normal_(layer.weight, std=0.01)
    with torch.no_grad():
        layer.bias.copy_(torch.logit(share))
    return layer
