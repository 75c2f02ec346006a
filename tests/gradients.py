"""Two computations of one thing, compared by values and by gradients."""

import torch


def assert_same(ours, theirs, given):
    """Both are of the same values, and so are their gradients by the `given` tensors, for a random gradient."""
    torch.testing.assert_close(ours, theirs)
    weights = torch.randn(theirs.shape, dtype=theirs.dtype, generator=torch.Generator().manual_seed(0))
    found, expected = (
        torch.autograd.grad((values * weights).sum(), given, allow_unused=True, materialize_grads=True)
        for values in (ours, theirs)
    )
    for one, other in zip(found, expected, strict=True):
        torch.testing.assert_close(one, other)
