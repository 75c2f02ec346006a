"""Finds a generator's most likely sentences by beam search, for many contents at once."""

from dataclasses import dataclass

import torch
from torch import Tensor

from densevse.methods.generators.interface import END, Generator
from densevse.methods.structures import UNKNOWN


@dataclass(frozen=True)
class Hypotheses:
    """The sentences found for each of R contents, the most likely first."""

    words: Tensor  # (R, B, steps) word numbers, END after the last word
    log_likelihood: Tensor  # (R, B) of the words and the end; minus infinity where fewer than B sentences exist


def beam_search(generator: Generator, content: Tensor, tags: Tensor | None, beam: int, longest: int) -> Hypotheses:
    """The `beam` best sentences of each content (R, D), of 1 to `longest` words.

    Each step continues every hypothesis by every word of the vocabulary and keeps the `beam` most likely continuations;
    a sentence that has ended stays as it is. With `tags` (R, T), none of them 0, each sentence has T words, one for
    each tag.
    """
    shortest, longest = (1, longest) if tags is None else (tags.shape[1], tags.shape[1])
    begun, state = generator.begin(content, tags)
    total = content.new_zeros(len(content), 1)
    words = torch.full((len(content), 1), END, device=content.device)
    written: list[Tensor] = []
    for number in range(longest + 1):
        logits, state = generator.step(begun, number, words, state)
        allowed_end, only_end = number >= shortest, number == longest
        ended = words == END if number else torch.zeros_like(words, dtype=torch.bool)
        best, word = _continuations(logits, ended, allowed_end, only_end, beam)
        total, place = (total.unsqueeze(2) + best).flatten(1).topk(min(beam, best[0].numel()), dim=1)
        parent = place // best.shape[2]
        words = word.flatten(1).gather(1, place)
        state = tuple(_parent_states(part, parent) for part in state)
        written = [part.gather(1, parent) for part in written] + [words]
        if allowed_end and bool((words == END).all()):
            break
    return Hypotheses(torch.stack(written, dim=2), total)


def _continuations(
    logits: Tensor, ended: Tensor, allowed_end: bool, only_end: bool, beam: int
) -> tuple[Tensor, Tensor]:
    """(R, B, beam) log probabilities and word numbers of each hypothesis's best continuations.

    No other continuation can be among the best of all hypotheses. A sentence that has ended continues with END only,
    with log probability 0.
    """
    normalizer = logits.logsumexp(dim=2, keepdim=True)
    if only_end:
        best, word = logits[:, :, END : END + 1], torch.full_like(logits[:, :, :1], END, dtype=torch.long)
    else:
        logits[:, :, UNKNOWN] = -torch.inf  # the unknown word is never written
        if not allowed_end:
            logits[:, :, END] = -torch.inf
        best, word = logits.topk(min(beam, logits.shape[2]), dim=2)
    best = best - normalizer
    if not bool(ended.any()):
        return best, word
    alone = torch.full_like(best[0, 0], -torch.inf)
    alone[0] = 0
    return torch.where(ended.unsqueeze(2), alone, best), word.masked_fill(ended.unsqueeze(2), END)


def _parent_states(part: Tensor, parent: Tensor) -> Tensor:
    """The states (R, B, ...) of the hypotheses that are continued: their parents are (R, beam)."""
    index = parent.view(*parent.shape, *(1 for _ in part.shape[2:])).expand(*parent.shape, *part.shape[2:])
    return part.gather(1, index)
