"""Decoding by SC-NLM: tag sequences a second with a beam of 5 over 8,002 words, against a loop over hypotheses.

The network has the default sizes of densevse/methods/parameters/generators/sc_nlm.py; a tag sequence has 11 tags, as
captions do.
"""

from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from benchmarks._timing import seconds, times_as_fast
from densevse.methods.generators.beam_search import UNKNOWN, beam_search
from densevse.methods.generators.sc_nlm import SCNLM
from densevse.methods.interface import Shapes
from densevse.methods.parameters.generators.sc_nlm import Parameters
from densevse.runtime.numerics import set_up

TAGS, BEAM = 40, 5


class Sizes(NamedTuple):
    """`together` sequences are decoded as a batch, `alone` by the loop."""

    parameters: Parameters
    words: int
    content: int
    length: int
    together: int
    alone: int
    repeats: int


FULL = Sizes(Parameters(), words=8002, content=1024, length=11, together=128, alone=2, repeats=2)
SMALL = Parameters(dimension=8, factors=8, attribute_dimension=8)
TOY = Sizes(SMALL, words=30, content=8, length=3, together=4, alone=1, repeats=1)


def rows(sizes: Sizes = FULL) -> list[tuple[str, str, float, str]]:
    """Rows of name, target, result and note."""
    set_up(torch.get_num_threads())
    torch.manual_seed(0)
    shapes = Shapes({"content": sizes.content}, sizes.words, sizes={"tags": TAGS})
    model = SCNLM(sizes.parameters, shapes).eval()
    content = torch.randn(sizes.together, sizes.content)
    tags = torch.randint(2, TAGS, (sizes.together, sizes.length))

    def decode() -> None:
        beam_search(model, content, tags, BEAM, sizes.length)

    with torch.inference_mode():
        fast = min(seconds(decode) for _ in range(sizes.repeats))
        # Both do the same work: a few sequences by the loop, and as many in batches.
        ratio = times_as_fast(
            decode, lambda: [plain(model, content[row], tags[row]) for row in range(sizes.alone)], sizes.repeats
        )
    note = f"beam {BEAM}, {sizes.words:,} words, {sizes.length} tags, {torch.get_num_threads()} threads"
    return [
        ("SC-NLM: tag sequences decoded a second", ">= 20", sizes.together / fast, note),
        (
            "SC-NLM: a plain loop / batched decoding, time of a tag sequence",
            ">= 4",
            ratio * sizes.together / sizes.alone,
            note,
        ),
    ]


def plain(model: SCNLM, content: Tensor, tags: Tensor) -> list[int]:
    """The same search, one sentence and one hypothesis at a time."""
    begun, state = model.begin(content[None], tags[None])
    hypotheses = [(0.0, [0], state)]
    for number in range(len(tags)):
        continued = []
        for total, words, before in hypotheses:
            logits, after = model.step(begun, number, torch.tensor([[words[-1]]]), before)
            likelihood = logits[0, 0].log_softmax(dim=0)
            likelihood[: UNKNOWN + 1] = -np.inf
            best, word = likelihood.topk(BEAM)
            continued += [(total + b, [*words, w], after) for b, w in zip(best.tolist(), word.tolist(), strict=True)]
        hypotheses = sorted(continued, key=lambda entry: -entry[0])[:BEAM]
    return hypotheses[0][1]
