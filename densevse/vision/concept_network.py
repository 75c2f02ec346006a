"""SCO's multi-regional multi-label CNN (section 3.2): a classifier with one output for each concept.

Each of its K outputs z_c is the logit of a concept's probability. An image's logit of a concept is the largest over its
regions ("element-wise max-pooling across these score vectors").
"""

import torch
from torch import Tensor, nn
from torch.nn import functional


def multi_label_loss(logits: Tensor, present: Tensor) -> Tensor:
    """(N,) Eq 1, repaired: the sum over concepts of log(1 + exp(-y_c z_c)), for logits z (N, K).

    `present` (N, K) bool is true where an image has a concept, which means y = +1; elsewhere y = -1. With the y of 0
    and 1 that the paper states, an absent concept would always cost log 2.
    """
    signs = 2 * present.to(logits.dtype) - 1
    return functional.softplus(-signs * logits).sum(dim=1)


def max_pool_regions(logits: Tensor, present: Tensor) -> Tensor:
    """(N, K) largest logits of each image's regions (N, R, K); `present` (N, R) marks those that exist."""
    return logits.masked_fill(~present.unsqueeze(2), -torch.inf).amax(dim=1)


def last_linear(network: nn.Module) -> tuple[str, nn.Linear]:
    """Name and layer of a classifier's scores. Raises `ValueError` if its last layer with weights is not linear."""
    layers = [(name, part) for name, part in network.named_modules() if isinstance(part, nn.Linear | nn.Conv2d)]
    name, last = layers[-1]
    if not isinstance(last, nn.Linear):
        raise ValueError(
            f"its last layer {name} is a convolution; expected a linear one, whose outputs are the classes"
        )
    return name, last


def replace_head(network: nn.Module, share: Tensor) -> nn.Module:
    """Replaces a classifier's last layer by one with an output for each concept; see `head`."""
    name, last = last_linear(network)
    network.set_submodule(name, head(last.in_features, share))
    return network


def head(inputs: int, share: Tensor) -> nn.Linear:
    """The last layer, (N, inputs) to (N, K); its first bias predicts each concept's `share` (K,) of images.

    Shares are those of training images that have the concept, above 0 and below 1.
    """
    layer = nn.Linear(inputs, len(share))
    nn.init.normal_(layer.weight, std=0.01)
    with torch.no_grad():
        layer.bias.copy_(torch.logit(share))
    return layer
