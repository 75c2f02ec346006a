"""DeepVS: deep visual-semantic alignments (Karpathy, Fei-Fei, CVPR 2015), the model that aligns regions with words.

An image is the whole image and its detections. A word is read in its sentence by a bidirectional recurrent network
(BRNN), with f = ReLU. Each word t of a sentence l takes the region i of an image k that it fits best:

    v_i = W_m CNN(I_b) + b_m                                                                     (1)
    x_t = W_w 1_t,  e_t = f(W_e x_t + b_e)                                                       (2), (3)
    h^f_t = f(e_t + W_f h^f_(t-1) + b_f)                                                         (4)
    h^b_t = f(e_t + W_b h^b_(t+1) + b_b)                                                         (5)
    s_t = f(W_d (h^f_t + h^b_t) + b_d)                                                           (6)
    S_kl = sum_{t in g_l} max_{i in g_k} v_i . s_t                                               (8)
    C = sum_k [ sum_l max(0, S_kl - S_kk + 1) + sum_l max(0, S_lk - S_kk + 1) ]                  (9)

As chosen here: W_f and W_b start orthogonal, as the weights of our other recurrent networks do. The Markov random field
of section 3.1.4, which smooths a sentence's regions for the paper's captions, is left out, as no score has it.
"""

import torch
from torch import Tensor, nn
from torch.nn import functional

from densevse.kernels.fragment_sums import existing_fragments, sums_of_all_pairs, sums_of_scores
from densevse.methods.fragments import Fragments
from densevse.methods.global_ranking import FixedNorm, GlobalRanking
from densevse.methods.interface import Batch, Images, Method, Moment, Saliency, Sentences, Shapes
from densevse.methods.parameters.deepvs import Parameters
from densevse.methods.parts import word_vectors


class DeepVS(Method):
    """The best region of each word of a BRNN. Encodings are the v of regions and the s of words."""

    images_as = Fragments

    hyperparameters: Parameters

    def __init__(self, parameters: Parameters, shapes: Shapes) -> None:
        """Raises `ValueError` if the view is not regions alone."""
        super().__init__(parameters, shapes)
        if set(shapes.features) != {"regions"}:
            raise ValueError(f"deepvs reads the view regions alone, not {sorted(shapes.features)}")
        self.fixed_norm = FixedNorm(parameters.feature_norm)
        self.image = nn.Linear(shapes.features["regions"], parameters.dimension)
        self.words = word_vectors(parameters.word_vectors, parameters.word_dimension, shapes)
        self.sentence = BRNN(self.words.embedding_dim, parameters.hidden, parameters.dimension)
        self.dropout = nn.Dropout(parameters.dropout)
        self.ranking = GlobalRanking(parameters.negatives, parameters.temperature)

    @torch.no_grad()
    def measure(self, images: Images) -> None:
        """Measures the norm of the regions' vectors."""
        if self.fixed_norm.norm is not None:
            self.fixed_norm.measure(images.views["regions"][images.present])

    def encode_images(self, images: Images) -> Fragments:
        """(I, R, dimension) v of the regions, Eq 1."""
        vectors = self.image(self.dropout(self.fixed_norm(images.views["regions"])))
        return Fragments(vectors * images.present.unsqueeze(2), images.present)

    def encode_sentences(self, sentences: Sentences) -> Fragments:
        """(S, longest, dimension) s of the words, Eq 6."""
        words = sentences["words"]
        vectors = self.sentence(self.dropout(self.words(words.index)), words.lengths)
        present = words.index != 0
        return Fragments(vectors * present.unsqueeze(2), present)

    def score(self, images: Fragments, sentences: Fragments) -> Tensor:
        """(I, S) S_kl of Eq 8."""
        return sums_of_all_pairs(*images, *sentences, best_region=True)

    def loss(self, images: Fragments, sentences: Fragments, batch: Batch, moment: Moment) -> Tensor:
        """C of Eq 9, or the mean of its terms: a scalar."""
        in_image, in_sentence = batch.images.present_on_host(), batch.sentences["words"].index_on_host() != 0
        regions, image = existing_fragments(images.vectors, in_image)
        words, sentence = existing_fragments(sentences.vectors, in_sentence)
        of_pairs = sums_of_scores(regions @ words.T, in_image, image, sentence, len(in_sentence), best_region=True)
        return self.ranking(of_pairs, batch.positives, moment.parameters)  # type: ignore[no-any-return]

    def saliency(self, images: Fragments, sentences: Fragments, image: Tensor, sentence: Tensor) -> Saliency:
        """The best region of each word, for pairs given by their rows, (P,) each. A step is a word."""
        regions, present = (part[image] for part in images)
        words, said = (part[sentence] for part in sentences)
        scores = torch.einsum("prd,pld->lpr", regions, words).masked_fill(~present, -torch.inf)
        best = functional.one_hot(scores.argmax(dim=2), regions.shape[1]) * said.T.unsqueeze(2)
        themselves = torch.diag_embed(said.to(words.dtype)).transpose(0, 1)
        return Saliency("regions", best.to(words.dtype), themselves)


class BRNN(nn.Module):
    """A bidirectional recurrent network whose directions read the same e_t and are added, with ReLU (Eq 3 to 6)."""

    def __init__(self, inputs: int, hidden: int, outputs: int) -> None:
        super().__init__()
        self.input = nn.Linear(inputs, hidden)  # W_e, b_e
        self.weight = nn.Parameter(torch.empty(2, hidden, hidden))  # W_f and W_b, transposed
        self.bias = nn.Parameter(torch.zeros(2, 1, hidden))  # b_f and b_b
        self.output = nn.Linear(hidden, outputs)  # W_d, b_d
        for direction in self.weight.data:
            nn.init.orthogonal_(direction)

    def forward(self, vectors: Tensor, lengths: Tensor) -> Tensor:
        """(S, longest, outputs) s of sentences of (S,) `lengths`, from (S, longest, inputs); any value at padding."""
        e = self.input(vectors).relu()
        both = torch.stack((e, _reverse_words(e, lengths)))
        state = torch.zeros_like(both[:, :, 0])
        states = []
        for step in (both + self.bias.unsqueeze(1)).unbind(dim=2):
            state = torch.baddbmm(step, state, self.weight).relu()
            states.append(state)
        forwards, backwards = torch.stack(states, dim=2)
        return self.output(forwards + _reverse_words(backwards, lengths)).relu()  # type: ignore[no-any-return]


def _reverse_words(rows: Tensor, lengths: Tensor) -> Tensor:
    """(S, longest, H) with the words of each sentence in reverse order, and its padding as it is."""
    place = torch.arange(rows.shape[1], device=rows.device)
    turned = lengths.unsqueeze(1) - 1 - place
    return rows.take_along_dim(torch.where(turned >= 0, turned, place).unsqueeze(2), dim=1)


METHOD = DeepVS
