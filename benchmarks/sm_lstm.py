"""sm-LSTM's scores of all pairs and its training step, against their bare matrix products, at the paper's sizes.

The time for all 1,000 x 5,000 pairs is extrapolated from a tile; everything that depends on one side only is computed
before. Two other ways run on pairs of the same tile: the model batched in the usual way, where a batch of pairs goes
through every layer, the sentences' encoders included (its scores are checked to be equal); and the scores of SCAN (Lee
et al., ECCV 2018) as its authors write them, one sentence after the other. A training step is measured in its worst
case: every mismatched pair has a hinge, so that all pairs are computed twice forwards and once backwards. Its memory is
that of the paper's batch, 128 pairs with 100 mismatched ones each.
"""

from collections.abc import Callable
from typing import NamedTuple

import torch
from torch import Tensor, nn

from benchmarks._memory import extra_memory
from benchmarks._timing import seconds
from benchmarks.scan import WAYS, scores_of_port
from densevse.kernels.cross_attention import AttentionSide
from densevse.kernels.recurrent import Recurrent
from densevse.methods.interface import Batch, Images, Moment, Sentences, Shapes
from densevse.methods.parameters.sm_lstm import Parameters
from densevse.methods.sm_lstm import SMLSTM, Selection
from densevse.methods.structures import Words
from densevse.runtime.numerics import set_up

VOCABULARY, IMAGES, SENTENCES = 8000, 1000, 5000


class Sizes(NamedTuple):
    """Sizes of the model and its inputs, of the tile, of the pairs in the usual way, and of both training batches."""

    parameters: Parameters
    cells: int
    cell: int
    context: int
    embedding: int
    tile: int
    pairs_as_usual: int
    batch: int
    paper_batch: int
    repeats: int


FULL = Sizes(
    Parameters(),
    cells=196,
    cell=512,
    context=4096,
    embedding=1024,
    tile=45,
    pairs_as_usual=64,
    batch=64,
    paper_batch=128,
    repeats=3,
)
SMALL = Parameters(
    hidden=6,
    word_hidden=5,
    word_dimension=4,
    context_dimension=5,
    context_word_dimension=4,
    attention_units=6,
    similarity=7,
    score_units=5,
)
TOY = Sizes(SMALL, cells=3, cell=4, context=5, embedding=6, tile=3, pairs_as_usual=4, batch=3, paper_batch=4, repeats=1)


def rows(sizes: Sizes = FULL) -> list[tuple[str, str, float, str]]:
    """Rows of name, target, ratio or result, and note."""
    set_up(torch.get_num_threads())
    torch.manual_seed(0)
    model = SMLSTM(sizes.parameters, Shapes({"grid": sizes.cell, "whole": sizes.context}, VOCABULARY))
    return [*rows_of_all_pairs(model, sizes), *rows_of_training(model, sizes)]


def rows_of_all_pairs(model: SMLSTM, sizes: Sizes) -> list[tuple[str, str, float, str]]:
    """Scoring: a tile of ours against its products, and against other ways, per pair."""
    batch, tile = made_batch(sizes, sizes.tile), sizes.tile
    with torch.inference_mode():
        images, sentences = model.encode_batch(batch)
        usual = UsualModel(model, batch)
        pairs = torch.arange(sizes.pairs_as_usual)
        some = pairs % tile, pairs * 7 % tile
        torch.testing.assert_close(usual(*some), model.compare(images, sentences, *some), atol=1e-4, rtol=1e-3)
        lengths = batch.sentences["words"].lengths.tolist()
        cells, words = (torch.randn(tile, count, sizes.embedding) for count in (sizes.cells, max(lengths)))
        of_scan = (
            AttentionSide(cells, torch.ones(cells.shape[:2], dtype=torch.bool)),
            AttentionSide(words, batch.sentences["words"].index != 0),
        )
        seconds_of_all = best_of(
            sizes.repeats,
            lambda: model.score(images, sentences),
            products_of(model, sizes.cells, lengths, tile * tile, tile),
            lambda: usual(*some),
            lambda: scores_of_port(*of_scan, WAYS["t-i LSE"]),
        )
    counts = tile * tile, tile * tile, len(pairs), tile * tile
    ours, products, as_usual, scan = (time / count for time, count in zip(seconds_of_all, counts, strict=True))
    what = f"sm-LSTM, T = 3, {sizes.cells} cells, {IMAGES:,} x {SENTENCES:,} pairs"
    minutes = ours * IMAGES * SENTENCES / 60
    note = f"{1000 * ours:.3f} ms for a pair"
    return [
        (f"{what} / their bare products", "<= 2.5", ours / products, f"{note} / {1000 * products:.3f} ms"),
        (f"{what}, batched in the usual way / ours", ">= 20", as_usual / ours, f"{1000 * as_usual:.2f} ms / {note}"),
        (f"{what}: minutes, extrapolated from a tile", "", minutes, note),
        ("SCAN's scores as its authors write them / sm-LSTM's", "", scan / ours, f"{1000 * scan:.3f} ms / {note}"),
    ]


def rows_of_training(model: SMLSTM, sizes: Sizes) -> list[tuple[str, str, float, str]]:
    """A training step with hinges of all pairs, against three times its products; memory at the paper's batch."""
    size = sizes.batch
    batch, paper = made_batch(sizes, size), made_batch(sizes, sizes.paper_batch)
    lengths = batch.sentences["words"].lengths.tolist()
    step, products = best_of(
        sizes.repeats,
        lambda: training_step(model, batch),
        products_of(model, sizes.cells, lengths, size * size, size, backward=True),
    )
    memory = extra_memory(lambda: training_step(model, paper)) / 1024
    note = f"{step:.2f} s / {products:.2f} s for {size} x {size} pairs, all of which have hinges"
    return [
        ("sm-LSTM training step / its bare products", "<= 2.5", step / products, note),
        (
            f"sm-LSTM training step, {sizes.paper_batch} x 101 pairs: extra memory, GB",
            "<= 8",
            memory,
            "peak above that before",
        ),
    ]


def training_step(model: SMLSTM, batch: Batch) -> None:
    """Loss and gradient, with a margin so large that every pair has a hinge."""
    model.zero_grad()
    moment = Moment(1, "main", model.hyperparameters.model_copy(update={"margin": 100.0}))
    model.loss(*model.encode_batch(batch), batch, moment).backward()


def made_batch(sizes: Sizes, size: int) -> Batch:
    """Random images, and sentences of 8 to 20 words."""
    generator = torch.Generator().manual_seed(size)
    lengths = torch.randint(8, 21, (size,), generator=generator)
    index = torch.randint(2, VOCABULARY, (size, 20), generator=generator)
    index = index.masked_fill(torch.arange(20) >= lengths.unsqueeze(1), 0)[:, : int(lengths.max())]
    views = {
        "grid": torch.rand(size, sizes.cells, sizes.cell, generator=generator),
        "whole": torch.rand(size, sizes.context, generator=generator),
    }
    sentences = Sentences({"words": Words(index, lengths)})
    return Batch(Images(views, torch.ones(size, 0, dtype=torch.bool)), sentences, torch.eye(size, dtype=torch.bool))


def products_of(
    model: SMLSTM, cells: int, lengths: list[int], pairs: int, owners: int, backward: bool = False
) -> Callable[[], None]:
    """The products that pairs require, each as one large one; backward: those of both gradients too.

    For each pair and step: gates of s_t and of the state, the state's share of both attentions, the weights' sum under
    the softmax, Eq 3 on both sides; and Eq 5. At the first step there is no state.
    """
    p = model.hyperparameters
    linear = [
        (1, p.similarity, 4 * p.hidden),
        (p.steps - 1, p.similarity + p.hidden, 4 * p.hidden),
        (2 * (p.steps - 1), p.hidden, p.attention_units),
        (1, p.hidden, p.score_units),
    ]
    operands = [(times, torch.randn(pairs, k), torch.randn(k, n)) for times, k, n in linear]
    sums = [
        (torch.randn(count, pairs // owners, size), torch.randn(count, size, p.similarity))
        for count, size in [(owners, cells), *((lengths.count(length), length) for length in sorted(set(lengths)))]
    ]
    units = torch.randn(256, p.attention_units), torch.randn(p.attention_units)
    logits = pairs * cells + pairs // owners * sum(lengths)

    def multiply() -> None:
        with torch.inference_mode():
            for times, left, right in operands:
                for _ in range(times):
                    product(left, right, backward)
            for _ in range(p.steps - 1):
                for left, right in sums:
                    product(left, right, backward)
                for _ in range(logits // len(units[0]) * (3 if backward else 1)):
                    torch.mv(*units)

    return multiply


def product(left: Tensor, right: Tensor, backward: bool) -> None:
    found = left @ right
    if backward:
        found @ right.mT
        left.mT @ found


class UsualModel:
    """The same model for a batch of pairs, as usually written: no layer exploits what pairs share."""

    def __init__(self, model: SMLSTM, batch: Batch) -> None:
        self.model, self.steps = model, model.hyperparameters.steps
        self.cells, self.image_context = (scaled(batch.images.views[view]) for view in ("grid", "whole"))
        self.words: Words = batch.sentences["words"]
        self.lstms = [as_pytorch(layer) for layer in (model.blstm.forwards, model.blstm.backwards, model.context)]

    def __call__(self, image: Tensor, sentence: Tensor) -> Tensor:
        model = self.model
        words, sentence_context, present = self.encoded(sentence)
        cells, image_context = self.cells[image], self.image_context[image]
        hidden = cell = cells.new_zeros(len(image), model.hyperparameters.hidden)
        for _ in range(self.steps):
            a = self.attended(
                model.image, cells, torch.ones_like(cells[:, :, 0], dtype=torch.bool), image_context, hidden
            )
            w = self.attended(model.sentence, words, present, sentence_context, hidden)
            i, f, o, g = model.gates(torch.cat((scaled(a) * scaled(w), hidden), dim=1)).chunk(4, dim=1)
            cell = torch.sigmoid(f) * cell + torch.sigmoid(i) * torch.tanh(g)
            hidden = torch.sigmoid(o) * torch.tanh(cell)
        return model.mlp(hidden).squeeze(1)

    def encoded(self, sentence: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Each pair's words by the BLSTM, its context by the LSTM, and where it has words."""
        index, lengths = self.words.index[sentence], self.words.lengths[sentence]
        last = lengths.unsqueeze(1) - 1 - torch.arange(index.shape[1])
        turned = index.gather(1, last.clamp(min=0)).masked_fill(last < 0, 0)
        forwards, backwards = (
            lstm(self.model.words(words))[0] for lstm, words in zip(self.lstms[:2], (index, turned), strict=True)
        )
        backwards = backwards.gather(1, last.clamp(min=0).unsqueeze(2).expand_as(backwards))
        states = self.lstms[2](self.model.context_words(index))[0]
        context = states[torch.arange(len(states)), lengths - 1]
        present = index != 0
        of_words = torch.cat((forwards, backwards), dim=2).masked_fill(~present.unsqueeze(2), 0)
        mean_square = of_words.square().sum(dim=(1, 2), keepdim=True) / (lengths.view(-1, 1, 1) * of_words.shape[2])
        return of_words * torch.rsqrt(mean_square), scaled(context), present

    @staticmethod
    def attended(side: Selection, candidates: Tensor, present: Tensor, context: Tensor, hidden: Tensor) -> Tensor:
        attention = side.attention
        total = attention.candidate(candidates) + (attention.context(context) + attention.hidden(hidden)).unsqueeze(1)
        weights = (torch.tanh(total) @ attention.weight).masked_fill(~present, -torch.inf).softmax(dim=1)
        return side.projection((weights.unsqueeze(2) * candidates).sum(dim=1))


def as_pytorch(layer: Recurrent) -> nn.LSTM:
    """PyTorch's LSTM with the same weights; it stacks gates as input, forget, candidate, output."""
    gates, inputs = layer.weight_input.shape
    lstm = nn.LSTM(inputs, gates // 4, batch_first=True)
    given = {"weight_ih_l0": layer.weight_input, "weight_hh_l0": layer.weight_hidden, "bias_ih_l0": layer.bias_input}
    with torch.no_grad():
        for name, weight in given.items():
            getattr(lstm, name).copy_(torch.cat([weight.chunk(4)[gate] for gate in (0, 1, 3, 2)]))
        lstm.bias_hh_l0.zero_()
    return lstm


def scaled(x: Tensor) -> Tensor:
    return x * torch.rsqrt(x.square().mean(dim=tuple(range(1, x.dim())), keepdim=True))


def best_of(repeats: int, *works: Callable[[], object]) -> list[float]:
    """The best of alternating runs, in seconds, after one unmeasured run each."""
    for work in works:
        work()
    times = [[seconds(work) for work in works] for _ in range(repeats)]
    return [min(column) for column in zip(*times, strict=True)]
