"""Writes the encoders of a trained model as ONNX files, which a runtime runs without this package.

Both graphs are traced from the code that encodes in the workflow, in float32. Only a recurrence is replaced, by ONNX's
own operator: the workflow computes beginnings that sentences share once, by loops over lists.
"""

import json
import shutil
from pathlib import Path
from typing import Any, NamedTuple, cast

import torch
from torch import Tensor, nn

from densevse.inference.folder import ModelFolder
from densevse.inference.model import check_readable
from densevse.kernels.recurrent import Recurrent
from densevse.language.words import UNKNOWN, Vocabulary
from densevse.methods.interface import DualEncoder, Images, Sentences, module_device
from densevse.methods.sco import SCO, PlannedWords
from densevse.methods.structures import Words
from densevse.models.files import load_model
from densevse.runtime.numerics import set_up_processor
from densevse.vision.extract import blank_batch
from densevse.vision.networks import Network, load_network
from snakeproof.files import whole_folder

IMAGES, SENTENCES, VOCABULARY = "images.onnx", "sentences.onnx", "words.json"
_BESIDE = ("preprocessing.json", "LICENCES.md")


def export_onnx(exported: str, weights: str, output: str, threads: int) -> None:
    """The job that writes an exported model's encoders as ONNX, with its preprocessing, vocabulary and licences.

    `weights` is the file of the network that computes the features of images. Raises `InputError` for a model without
    one vector of the whole image and one of the words.
    """
    set_up_processor(threads)
    folder = ModelFolder(exported)
    check_readable(folder)
    (view,) = folder.description["shapes"]["features"]
    network = load_network({**folder.network_settings(view), "precision": "fp32"}, weights)
    method = cast(DualEncoder, load_model(folder.model)).to(network.device)
    vocabulary = {word: number for number, word in enumerate(Vocabulary.read(folder.words()).words, UNKNOWN + 1)}
    with whole_folder(Path(output)) as temporary:
        _write_encoder(
            ImageEncoder(method, network, view), torch.from_numpy(blank_batch(network, view)[:2]), temporary / IMAGES
        )
        _write_encoder(SentenceEncoder(method), torch.full((2, 3), UNKNOWN), temporary / SENTENCES)
        (temporary / VOCABULARY).write_text(f"{json.dumps(vocabulary, ensure_ascii=False)}\n", encoding="utf-8")
        for name in _BESIDE:
            shutil.copyfile(folder.path / name, temporary / name)


def _write_encoder(encoder: "ImageEncoder | SentenceEncoder", example: Tensor, path: Path) -> None:
    """Writes an encoder as one file, for inputs with the dimensions of the `example` but for those that it names."""
    with torch.no_grad():
        program: Any = torch.onnx.export(
            encoder.eval(),
            (example.to(module_device(encoder)),),
            dynamo=True,
            dynamic_shapes=(dict(enumerate(encoder.dynamic)),),
            input_names=[encoder.reads],
            output_names=["vectors"],
            verbose=False,
        )
    program.save(path, external_data=False)


class Rows(NamedTuple):
    """Sentences as rows of words, in the place of `Prefixes`: no beginning is shared."""

    distinct: Tensor  # (S * longest,) the words of all rows, padding too
    lengths: Tensor  # (S,) the number of words of each sentence


class OnnxRecurrent(Recurrent):
    """A recurrence as ONNX's operator LSTM or GRU. It computes only in an exported graph.

    Its weights have ONNX's order from the start, so that they are constants of the graph: some runtimes take no others.
    """

    weights: Tensor  # (1, gates * hidden, inputs)
    recurrence: Tensor  # (1, gates * hidden, hidden)
    biases: Tensor  # (1, 2 * gates * hidden)

    def __init__(self, ours: Recurrent) -> None:
        self.size = ours.weight_hidden.shape[1]
        super().__init__(ours.kind, ours.weight_input.shape[1], self.size)
        unused = torch.zeros_like(ours.bias_input)  # of the gates' states, of which only a GRU's candidate has a bias
        if ours.kind == "gru":
            unused[2 * self.size :] = ours.bias_hidden
        biases = [self._reorder_gates(bias) for bias in (ours.bias_input, unused)]
        self.register_buffer("weights", self._reorder_gates(ours.weight_input))
        self.register_buffer("recurrence", self._reorder_gates(ours.weight_hidden))
        self.register_buffer("biases", torch.cat(biases, dim=1))

    def forward(self, vectors: Tensor, rows: Any) -> Tensor:
        """(S, hidden) hidden states of the `Rows` after their last words; words have `vectors` (S * longest, inputs).

        They are taken from the states after all words, as only onnxruntime stops where `sequence_lens` says.
        """
        steps = vectors.unflatten(0, (rows.lengths.shape[0], -1)).transpose(0, 1)
        attributes: dict[str, Any] = {
            "hidden_size": self.size,
            **({"linear_before_reset": 1} if self.kind == "gru" else {}),
        }
        last = (1, rows.lengths.shape[0], self.size)
        states, _ = torch.onnx.ops.symbolic_multi_out(
            self.kind.upper(),
            (steps, self.weights, self.recurrence, self.biases),
            attributes,
            dtypes=(vectors.dtype, vectors.dtype),
            shapes=((steps.shape[0], *last), last),
        )
        place = (rows.lengths - 1).view(1, -1, 1).expand(1, -1, self.size)
        found: Tensor = states.squeeze(1).gather(0, place).squeeze(0)
        return found

    def _reorder_gates(self, weight: Tensor) -> Tensor:
        """(1, gates * hidden, ...): an LSTM's gates as input, output, forget, candidate; a GRU's update first."""
        order = [0, 2, 1, 3] if self.kind == "lstm" else [1, 0, 2]
        ordered: Tensor = weight.detach().unflatten(0, (-1, self.size))[order].flatten(0, 1)[None]
        return ordered


class SentenceEncoder(nn.Module):
    """The encoder of sentences, from the numbers of their words."""

    reads, dynamic = "words", ("sentences", "longest")

    def __init__(self, method: DualEncoder) -> None:
        """Replaces each `Recurrent` of the method."""
        super().__init__()
        self.method = method
        for name, part in list(method.named_children()):
            if isinstance(part, Recurrent):
                setattr(method, name, OnnxRecurrent(part))

    def forward(self, words: Tensor) -> Tensor:
        """(S, dimension) vectors of (S, longest) numbers of words, padded with 0."""
        if isinstance(self.method, SCO):
            words = words[:, : self.method.hyperparameters.longest_sentence]
        lengths = (words != 0).sum(dim=1)
        rows = Rows(words.flatten(), lengths)
        plan = PlannedWords(rows, None) if isinstance(self.method, SCO) else rows  # type: ignore[arg-type]
        return self.method.encode_sentences(Sentences({"words": Words(words, lengths)}, plan)).vectors


class ImageEncoder(nn.Module):
    """The encoder of images, from their pixels."""

    reads, dynamic = "pixels", ("images",)

    def __init__(self, method: DualEncoder, network: Network, view: str) -> None:
        super().__init__()
        self.method, self.view = method, view
        self._network, self._layer = network, network.layer(view)
        self(torch.from_numpy(blank_batch(network, view)[:1]))  # a network is cut behind its layer when it first runs

    def forward(self, pixels: Tensor) -> Tensor:
        """(I, dimension) vectors of the crops (I, crops, size, size, 3) of a view, uint8."""
        planes = pixels.flatten(0, 1).permute(0, 3, 1, 2)
        crops = self._network.features(planes, self._layer).unflatten(0, (-1, pixels.shape[1]))
        images = Images(
            {self.view: crops.mean(dim=1)}, torch.ones(pixels.shape[0], 0, dtype=torch.bool, device=crops.device)
        )
        return self.method.encode_images(images).vectors
