"""The heading and the note of a table of means over resplits."""

INTERVAL = (
    "Its interval covers the choice of training images and of test images together, as each resplit has others of "
    "both. It does not fully cover the seed of training, which is the same on all. It is Student's interval of the "
    "gains of the resplits, made wider because resplits share images (Nadeau and Bengio, 2003)."
)
"""Explains the 95% interval of a mean, as `interval_over_resplits` computes it; the mean is named before."""


def means_over(resplits: int, train: int, test: int) -> str:
    """Says over how many resplits means are taken; `train` and `test` are images of each."""
    return f"means over {resplits} random splits, each of {train:,} training and {test:,} test images"
