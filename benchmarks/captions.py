"""Decoding by SC-NLM: tag sequences a second with a beam of 5 over 8,002 words, against a loop over single hypotheses.

Sizes are the defaults of densevse/methods/parameters/generators/sc_nlm.py; a tag sequence has 11 tags, as captions do.
"""

import numpy as np
import torch
from torch import Tensor

from benchmarks._timing import seconds, times_as_fast
from densevse.methods.generators.beam_search import UNKNOWN, beam_search
from densevse.methods.generators.sc_nlm import SCNLM
from densevse.methods.interface import Shapes
from densevse.methods.parameters.generators.sc_nlm import Parameters
from densevse.runtime.numerics import set_up

WORDS, TAGS, CONTENT, LENGTH = 8002, 40, 1024, 11
BEAM, TOGETHER, ALONE = 5, 256, 2


def rows() -> list[tuple[str, str, float, str]]:
    """What, the target, the figure, a note."""
    set_up(torch.get_num_threads())
    torch.manual_seed(0)
    model = SCNLM(Parameters(), Shapes({"content": CONTENT}, WORDS, sizes={"tags": TAGS})).eval()
    content, tags = torch.randn(TOGETHER, CONTENT), torch.randint(2, TAGS, (TOGETHER, LENGTH))
    with torch.inference_mode():
        fast = min(seconds(lambda: beam_search(model, content, tags, BEAM, LENGTH)) for _ in range(3))
        # Both do as much: a few sequences by the loop, and so many batches as hold as many.
        ratio = times_as_fast(
            lambda: beam_search(model, content, tags, BEAM, LENGTH),
            lambda: [plain(model, content[row], tags[row]) for row in range(ALONE)],
            3,
        )
    note = f"beam {BEAM}, {WORDS:,} words, {LENGTH} tags, {torch.get_num_threads()} threads"
    return [
        ("SC-NLM: tag sequences decoded a second", ">= 20", TOGETHER / fast, note),
        ("SC-NLM: a plain loop / batched decoding, time of a tag sequence", ">= 4", ratio * TOGETHER / ALONE, note),
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
