"""A model's encoders as ONNX files, which onnxruntime runs to the same vectors."""

import json
import shutil

import numpy as np
import pytest
import torch

import densevse
from densevse.inference.onnx_files import export_onnx
from densevse.methods.interface import Images
from densevse.models.spaces import encode_words, pad_words
from densevse.vision.views import load_extraction, planes
from tests.inference.models import METHODS, folder_of
from tests.inference.test_recipes import programs
from tests.miniature import KNOWN

onnxruntime = pytest.importorskip("onnxruntime", reason="onnxruntime, of envs/locks/dev.txt, is not installed")
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
    expected = model.score(model.encode_images(photographs[:1]), model.encode_sentences(["a small red dog"]))
    assert variables["score"] == pytest.approx(expected.item(), abs=0.02)  # its pixels differ by rounding
