"""A model's encoders as ONNX files, which onnxruntime runs to the same vectors."""

import json
import shutil

import numpy as np
import pytest
import torch

import densevse
from densevse.inference.onnx_files import OnnxRecurrent, Rows, _write_encoder, export_onnx
from densevse.kernels.recurrent import Recurrent
from densevse.methods.interface import Images
from densevse.models.spaces import encode_words, pad_words
from densevse.vision.views import load_extraction, planes
from tests.inference.models import METHODS, folder_of
from tests.inference.test_recipes import programs
from tests.miniature import KNOWN

onnxruntime = pytest.importorskip("onnxruntime", reason="onnxruntime, of envs/locks/dev.txt, is not installed")
onnx = pytest.importorskip("onnx", reason="onnx, of envs/locks/onnx.txt, is not installed")
onnx.reference = pytest.importorskip("onnx.reference")
quantization = pytest.importorskip("onnxruntime.quantization")
SIZES = [(1, 1), (1, 50), (7, 1), (7, 50), (7, 9)]
"""Sentences of a batch, and the words of the longest."""


@pytest.fixture(scope="module", params=METHODS)
def exported(request, project, tmp_path_factory):
    """A model, and the folder of its ONNX files."""
    folder = tmp_path_factory.mktemp("exported") / "round0"
    shutil.copytree(folder_of(project, request.param), folder)
    shutil.copytree(project / "results/mine/vocabulary", folder / "vocabulary")
    for name in ("preprocessing.json", "LICENCES.md"):
        (folder / name).write_text(json.dumps({"images": {"whole": {"size": 64}}}))
    output = folder.parent / "onnx"
    export_onnx(str(folder), str(project / "resources/tiny/tiny.pth"), str(output), threads=1)
    return request.param, output


@pytest.mark.slow
def test_both_files_give_the_vectors_of_the_model(exported, project):
    variant, folder = exported
    model = densevse.load(folder_of(project, variant))
    sentences = onnxruntime.InferenceSession(folder / "sentences.onnx")
    random = np.random.default_rng(0)
    for count, longest in SIZES:
        lengths = random.integers(1, longest + 1, count)
        lengths[0] = longest
        numbers = [random.integers(1, len(KNOWN) + 2, length).tolist() for length in lengths]
        (found,) = sentences.run(None, {"words": pad_words(numbers)})
        read = [sentence[: getattr(model.method.hyperparameters, "longest_sentence", 50)] for sentence in numbers]
        np.testing.assert_allclose(found, encode_words(model.method, read).vectors.numpy(), atol=1e-5)
    images = onnxruntime.InferenceSession(folder / "images.onnx")
    for count in (1, 7):
        squares = random.integers(256, size=(count, 64, 64, 3), dtype=np.uint8)
        view = load_extraction(model.view)
        crops = np.stack([view.crops(square, 64, 64) for square in squares])
        features = model.network.features(planes(crops), "pooled").unflatten(0, crops.shape[:2]).mean(dim=1)
        present = torch.ones(count, 0, dtype=torch.bool)
        expected = model.method.eval().encode_images(Images({model.view: features}, present)).vectors
        (found,) = images.run(None, {"pixels": crops})
        np.testing.assert_allclose(found, expected.detach().numpy(), atol=1e-5)


def run_by_onnxruntime(file):
    session = onnxruntime.InferenceSession(file)
    return lambda words: session.run(None, {"words": words})[0]


def run_by_reference(file):
    evaluator = onnx.reference.ReferenceEvaluator(str(file))
    return lambda words: evaluator.run(None, {"words": words})[0]


def run_by_openvino(file):
    openvino = pytest.importorskip("openvino", reason="openvino, of 59 MB, is not installed")
    compiled = openvino.Core().compile_model(file, "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
    return lambda words: compiled({"words": words})["vectors"]


@pytest.mark.slow
@pytest.mark.parametrize("runtime", [run_by_onnxruntime, run_by_reference, run_by_openvino])
def test_a_padded_sentence_has_the_vector_of_the_sentence_alone_in_every_runtime(runtime, exported, project):
    """Of the three, only onnxruntime heeds lengths that the operator LSTM is given."""
    variant, folder = exported
    method = densevse.load(folder_of(project, variant)).method
    encode = runtime(folder / "sentences.onnx")
    sentences = [[2, 3, 4, 5, 6, 7], [3], [4, 2, 5]]
    together = encode(pad_words(sentences))
    for sentence, vector in zip(sentences, together, strict=True):
        np.testing.assert_allclose(vector, encode(np.array([sentence]))[0], atol=1e-5)
        np.testing.assert_allclose(vector, encode_words(method, [sentence]).vectors[0].numpy(), atol=1e-5)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["lstm", "gru"])
def test_weights_of_a_recurrence_are_constants_that_can_be_quantised(kind, tmp_path):
    """onnxruntime quantises the weights of an LSTM only if the graph has them as they are; of a GRU it does not."""
    torch.manual_seed(0)
    encoder = RecurrentEncoder(Recurrent(kind, 64, 128))
    plain, quantised = tmp_path / "plain.onnx", tmp_path / "quantised.onnx"
    _write_encoder(encoder, torch.full((2, 3), 1), plain)
    graph = onnx.load(plain).graph
    (operator,) = (node for node in graph.node if node.op_type == kind.upper())
    constants = {one.name for one in graph.initializer}
    assert len(operator.input) == 4, "no lengths"
    assert set(operator.input[1:]) <= constants
    if kind == "lstm":
        quantization.quantize_dynamic(plain, quantised)
        assert quantised.stat().st_size < 0.3 * plain.stat().st_size
        words = pad_words([[2, 3, 4, 5], [3]])
        one, other = (run_by_onnxruntime(file)(words) for file in (plain, quantised))
        assert (one * other).sum(1) == pytest.approx(
            np.linalg.norm(one, axis=1) * np.linalg.norm(other, axis=1), rel=1e-3
        )


class RecurrentEncoder(torch.nn.Module):
    """The last states of a recurrence over words that are vectors of one table."""

    reads, dynamic = "words", ("sentences", "longest")

    def __init__(self, recurrent):
        super().__init__()
        self.table, self.recurrent = torch.nn.Embedding(20, recurrent.weight_input.shape[1]), OnnxRecurrent(recurrent)

    def forward(self, words):
        return self.recurrent(self.table(words.flatten()), Rows(words.flatten(), (words != 0).sum(dim=1)))


@pytest.mark.slow
def test_the_folder_is_whole(exported):
    _, folder = exported
    names = {path.name for path in folder.iterdir()}
    assert names == {"images.onnx", "sentences.onnx", "words.json", "preprocessing.json", "LICENCES.md"}
    assert json.loads((folder / "words.json").read_text()) == {word: number for number, word in enumerate(KNOWN, 2)}


@pytest.mark.slow
def test_the_program_of_the_page_scores_as_the_model_does(exported, project, photographs, monkeypatch):
    variant, folder = exported
    if variant != "vse":
        pytest.skip("the program of docs/models.md is for the view whole")
    monkeypatch.chdir(project)
    (program,) = (one for one in programs("models.md") if "import onnxruntime" in one)
    variables = {}
    program = program.replace("results/mine/onnx/vse/seed0/round0", str(folder))
    exec(compile(program, "docs/models.md", "exec"), variables)
    model = densevse.load(folder_of(project, variant))
    expected = model.score(model.encode_images(photographs[:1]), model.encode_sentences(["a small red box"]))
    assert variables["score"] == pytest.approx(expected.item(), abs=1e-4)
