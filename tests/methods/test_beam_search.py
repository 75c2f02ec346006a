"""The beam search against all possible sentences, for each generator, in double precision."""

from itertools import product

import pytest
import torch

from densevse.methods.generators.beam_search import UNKNOWN, beam_search
from densevse.methods.generators.lstm_captioner import LSTMCaptioner
from densevse.methods.generators.sc_nlm import SCNLM
from densevse.methods.interface import Shapes
from densevse.methods.parameters.generators import lstm_captioner, sc_nlm
from densevse.methods.structures import Tags, Words

WORDS, TAGS, CONTENT, LONGEST = 6, 5, 4, 3
SHAPES = Shapes({"content": CONTENT}, WORDS, sizes={"tags": TAGS})
KINDS = ("none", "content", "structure_and_content", "lstm")


def make(kind):
    torch.manual_seed(0)
    if kind == "lstm":
        model = LSTMCaptioner(lstm_captioner.Parameters(dimension=5, word_dimension=3), SHAPES)
    else:
        sizes = {"word_context": 2, "tag_context": 2, "dimension": 3, "factors": 6, "attribute_dimension": 5}
        model = SCNLM(sc_nlm.Parameters(attributes=kind, **sizes), SHAPES)
    with torch.no_grad():
        for weight in model.parameters():
            weight.copy_(torch.randn_like(weight))
    return model.double().eval()


def log_probability(model, content, words, tags):
    index, lengths = torch.tensor([words]), torch.tensor([len(words)])
    sentences = Tags(index, torch.tensor([tags]), lengths) if model.structure == "tags" else Words(index, lengths)
    return -model.negative_log_likelihood(content[None], sentences).item()


def every_sentence(model, content, tags):
    """All sentences with their log probabilities, the most likely first."""
    lengths = [len(tags)] if model.follows_tags else range(1, LONGEST + 1)
    known = [word for word in range(1, WORDS) if word != UNKNOWN]
    found = [
        (log_probability(model, content, words, tags[: len(words)]), words)
        for length in lengths
        for words in product(known, repeat=length)
    ]
    return sorted(found, reverse=True)


def search(model, contents, tags, beam):
    along = torch.tensor([tags] * len(contents)) if model.follows_tags else None
    with torch.inference_mode():
        return beam_search(model, contents, along, beam, LONGEST)


@pytest.mark.parametrize("kind", KINDS)
def test_a_wide_beam_finds_the_most_likely_sentences_of_all(kind):
    model, tags = make(kind), [3, 2, 4]
    contents = torch.randn(3, CONTENT, dtype=torch.double, generator=torch.Generator().manual_seed(1))
    found = search(model, contents, tags, beam=64)
    for row, content in enumerate(contents):
        every = every_sentence(model, content, tags)
        likelihood_of = {words: likelihood for likelihood, words in every}
        sentences = [tuple(word for word in words if word) for words in found.words[row].tolist()][:20]
        assert len(set(sentences)) == 20
        for found_one, words, (likelihood, _) in zip(
            found.log_likelihood[row].tolist(), sentences, every, strict=False
        ):
            assert found_one == pytest.approx(likelihood_of[words], abs=1e-9) == pytest.approx(likelihood, abs=1e-9)


@pytest.mark.parametrize("kind", KINDS)
def test_a_narrow_beam_is_a_plain_loop_over_its_hypotheses(kind):
    model, tags = make(kind), [3, 2, 4]
    content = torch.randn(1, CONTENT, dtype=torch.double, generator=torch.Generator().manual_seed(2))
    found = search(model, content, tags, beam=2)
    assert [[word for word in words if word] for words in found.words[0].tolist()] == plain_loop(model, content, tags)


def plain_loop(model, content, tags):
    """The two hypotheses that stay, one word and one hypothesis after the other."""
    begun, state = model.begin(content, torch.tensor([tags]) if model.follows_tags else None)
    hypotheses = [(0.0, [], state, False)]
    for number in range(LONGEST + 1):
        continued = []
        for total, words, state, ended in hypotheses:
            if ended:
                continued.append((total, words, state, True))
                continue
            logits, after = model.step(begun, number, torch.tensor([[words[-1] if words else 0]]), state)
            for word, log_probability in enumerate(logits[0, 0].log_softmax(dim=0).tolist()):
                early = word == 0 and number < (len(tags) if model.follows_tags else 1)
                late = word != 0 and number == LONGEST
                if word != UNKNOWN and not early and not late:
                    continued.append((total + log_probability, words + [word] * (word > 0), after, word == 0))
        hypotheses = sorted(continued, key=lambda entry: -entry[0])[:2]
    return [words for _, words, _, _ in hypotheses]


def test_equal_contents_have_equal_sentences_whatever_stands_beside_them():
    model = make("structure_and_content")
    contents = torch.randn(2, CONTENT, dtype=torch.double)[[0, 1, 0]]
    words = search(model, contents, [2, 2, 3], beam=3).words
    assert words[0].tolist() == words[2].tolist()


@pytest.mark.parametrize("tags", [torch.zeros(1, 0, dtype=torch.long), torch.zeros(1, 2, dtype=torch.long), None])
def test_an_empty_tag_sequence_is_refused(tags):
    with pytest.raises(ValueError, match="at least one tag"):
        make("structure_and_content").begin(torch.zeros(1, CONTENT, dtype=torch.double), tags)


def test_a_tag_that_training_never_had_says_nothing():
    sizes = {"word_context": 2, "tag_context": 1, "dimension": 3, "factors": 6, "attribute_dimension": 5}
    torch.manual_seed(0)
    model = SCNLM(sc_nlm.Parameters(**sizes), SHAPES)
    content = torch.randn(1, CONTENT)
    begun, _ = model.begin(content, torch.tensor([[1]]))
    assert torch.allclose(begun[0, 0], model.w_fd(model.contents(content).relu())[0])


def test_a_captioner_learns_sentences_that_the_image_decides():
    model, contents = make("lstm").train(), torch.eye(CONTENT, dtype=torch.double)
    written = torch.tensor([[2, 3], [3, 2], [4, 5], [5, 4]])
    optimizer = torch.optim.Adam(model.parameters(), 0.05)
    for _ in range(150):
        optimizer.zero_grad()
        model.negative_log_likelihood(contents, Words(written, torch.full((4,), 2))).sum().backward()
        optimizer.step()
    assert search(model.eval(), contents, None, beam=3).words[:, 0, :2].tolist() == written.tolist()
