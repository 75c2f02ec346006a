"""A trained model that is loaded in a program: vectors of sentences and photographs, scores and searches."""

import shutil
import subprocess
import sys

import cv2
import numpy as np
import pytest
import torch
from PIL import Image

import densevse
from densevse.artifacts.schemas.sentences import WORDS
from densevse.methods.interface import DualEncoder, Embeddings, Images, Shapes
from densevse.models.files import build_method, save_model
from densevse.models.spaces import encode_words
from densevse.vision.networks import load_network
from densevse.vision.views import load_extraction
from snakeproof import schema
from snakeproof.errors import InputError
from tests.inference.models import METHODS, NETWORK, folder_of
from tests.projects import ROOT

SENTENCES = ["a red dog runs", "The small cat sleeps.", "a blue dog"]
NUMBERS = [[2, 7, 3, 5], [1, 9, 4, 6, 10], [2, 8, 3]]
"""The numbers of their words."""


@pytest.mark.parametrize("variant", METHODS)
def test_vectors_are_those_of_the_method(project, photographs, variant):
    model = densevse.load(folder_of(project, variant))
    assert isinstance(model.method, DualEncoder)
    sentences, images = model.encode_sentences(SENTENCES), model.encode_images(photographs)
    np.testing.assert_allclose(sentences, encode_words(model.method, NUMBERS).vectors.numpy(), atol=1e-6)
    _, view, _ = METHODS[variant]
    network = load_network({**NETWORK, "layers": {view: "pooled"}, "nodes": {"pooled": "features"}}, weights(project))
    for photograph, vector in zip(photographs, images, strict=True):
        crops = load_extraction(view).crops(pixels(photograph), 72, 64)
        features = network.features(torch.from_numpy(crops.copy()).permute(0, 3, 1, 2), "pooled").mean(0, keepdim=True)
        expected = model.method.eval().encode_images(model_images(view, features)).vectors[0]
        np.testing.assert_allclose(vector, expected.detach().numpy(), atol=1e-5)
    scores = model.method.score(*(Embeddings(torch.from_numpy(side)) for side in (images, sentences)))
    np.testing.assert_allclose(model.score(images, sentences), scores.detach().numpy(), atol=1e-6)


def weights(project):
    return project / "resources/tiny/tiny.pth"


def pixels(path):
    return cv2.imread(str(path))[:, :, ::-1]


def model_images(view, features):
    return Images({view: features}, torch.ones(len(features), 0, dtype=torch.bool))


@pytest.fixture
def model(project):
    return densevse.load(folder_of(project, "vse"))


def test_images_are_paths_pixels_or_images_of_pillow(model, photographs):
    expected = model.encode_images(photographs)
    for given in (map(str, photographs), map(pixels, photographs), map(Image.open, photographs)):
        np.testing.assert_array_equal(model.encode_images(list(given)), expected)


def test_an_image_of_pillow_is_turned_upright_and_has_a_white_background(model, tmp_path):
    picture = Image.fromarray(np.random.default_rng(0).integers(256, size=(40, 80, 4), dtype=np.uint8), "RGBA")
    exif = Image.Exif()
    exif[0x0112] = 6
    picture.save(tmp_path / "turned.png", exif=exif)
    by_path = model.encode_images([tmp_path / "turned.png"])
    np.testing.assert_array_equal(model.encode_images([Image.open(tmp_path / "turned.png")]), by_path)


def test_a_search_finds_the_best_in_both_directions(model, photographs):
    images, sentences = model.encode_images(photographs), model.encode_sentences(SENTENCES)
    scores = model.score(images, sentences)
    found = model.search(images, sentences, top=2)
    assert list(found) == ["query", "rank", "answer", "score"]
    assert found["query"].tolist() == [0, 0, 1, 1, 2, 2]
    assert found["rank"].tolist() == [1, 2] * 3
    assert found["answer"].tolist() == (-scores).argsort(axis=0, kind="stable")[:2].T.ravel().tolist()
    asked = model.search(images, sentences, asked="photographs", top=1)
    assert asked["answer"].tolist() == scores.argmax(axis=1).tolist()


def test_vectors_may_be_any_view_or_tensor(model):
    images, sentences = np.eye(3, 16, dtype=np.float32), np.ones((2, 16), np.float32)
    expected = model.score(images, sentences)
    assert np.array_equal(model.score(images[::-1], sentences)[::-1], expected)
    assert np.array_equal(model.score(torch.tensor(images, requires_grad=True), sentences.tolist()), expected)


def test_sentences_without_a_known_word_are_told(model, caplog):
    model.encode_sentences(["a dog"])
    assert not caplog.records
    model.encode_sentences(["a dog", "qwerty", ""])
    assert "does not know the words 'qwerty', in 1 of 3 sentences" in caplog.text
    assert "knows no word of 2 sentences, the first is 'qwerty'" in caplog.text


def test_unknown_words_are_named_once_and_counted_beyond_five(model, caplog):
    rare = [f"rare{number}" for number in range(7)]
    model.encode_sentences([f"a dog {word}" for word in rare] + ["a rare6"])
    (said,) = caplog.messages
    named = "'rare6', 'rare0', 'rare1', 'rare2', 'rare3' and 2 others"
    assert said == f"the model does not know the words {named}, in 8 of 8 sentences"


WRONG = {
    "one sentence": (lambda model: model.encode_sentences("a dog"), "sentences: expected a list, found one str"),
    "no sentence": (lambda model: model.encode_sentences([]), "sentences: the list is empty"),
    "a list as text": (
        lambda model: model.encode_sentences(["a", "['b', 'c']"]),
        r"sentences: row 1 .*: its text is a list of sentences",
    ),
    "a number": (lambda model: model.encode_sentences(["a", 1]), r"sentences\[1\]: expected a text, found int"),
    "one image": (lambda model: model.encode_images("a.png"), "images: expected a list, found one str"),
    "no file": (lambda model: model.encode_images(["none.png"]), "none.png: cannot read the image"),
    "reals": (lambda model: model.encode_images([np.ones((9, 9, 3))]), r"images\[0\]: .*found float64 \(9, 9, 3\)"),
    "no pixel": (lambda model: model.encode_images([np.ones((9, 0, 3), np.uint8)]), r"found uint8 \(9, 0, 3\)"),
    "no pixel of Pillow": (lambda model: model.encode_images([Image.new("L", (0, 0))]), "found Image of 0 x 0"),
    "no image": (lambda model: model.score(np.ones((0, 4)), np.ones((2, 4))), r"at least one each, found \(0, 4\) and"),
    "no query": (lambda model: model.search(np.ones((2, 4)), np.ones((0, 4))), r"found \(2, 4\) and \(0, 4\)"),
    "another side": (
        lambda model: model.search(np.ones((2, 4)), np.ones((2, 4)), asked="images"),
        "asked: expected sentences or photographs, found 'images'",
    ),
    "another length": (
        lambda model: model.search(np.ones((2, 3)), np.ones((2, 4))),
        r"found \(2, 3\) and \(2, 4\)",
    ),
    "a part of an answer": (
        lambda model: model.search(np.ones((2, 16)), np.ones((2, 16)), top=2.5),
        "top: 2.5 answers",
    ),
    "masked numbers": (
        lambda model: model.search(np.ma.masked_less(np.eye(2, 16), 1), np.ones((2, 16))),
        "images: expected vectors of real numbers, none masked, found float64",
    ),
    "complex numbers": (lambda model: model.score(np.ones((2, 16)), 1j * np.ones((2, 16))), "sentences: .*complex128"),
    "too large for float32": (
        lambda model: model.score(np.ones((2, 16)), 1e300 * np.ones((2, 16))),
        "sentences: row 0 has a number that is not finite",
    ),
    "too small for float32": (
        lambda model: model.score(np.ones((2, 16)), 1e-300 * np.ones((2, 16))),
        "sentences: row 0 is zero, which has no cosine",
    ),
    "no answer": (lambda model: model.search(np.ones((2, 16)), np.ones((2, 16)), top=0), "top: 0 answers"),
}


@pytest.mark.parametrize("what", WRONG)
def test_wrong_input_is_named(model, what):
    wrong, message = WRONG[what]
    with pytest.raises(InputError, match=message):
        wrong(model)


def test_a_folder_without_a_model_is_refused(tmp_path):
    with pytest.raises(InputError, match=r"there is no model\.safetensors in it; name the folder of a training"):
        densevse.load(tmp_path)


def test_a_method_that_compares_parts_is_refused(tmp_path):
    parameters = {"word_vectors": "learned", "word_dimension": 8}
    method = build_method("devise", parameters, Shapes({"regions": 6}, 9))
    save_model(method, "devise", ["words"], tmp_path / "model.safetensors")
    with pytest.raises(InputError, match=r"method devise, which reads regions of images.*densevse search"):
        densevse.load(tmp_path)


def copied(project, tmp_path):
    """A copy of the model and its vocabulary far from the project's resources."""
    folder = tmp_path / "copy/mine/models/vse/seed0/round0"
    shutil.copytree(folder_of(project, "vse"), folder)
    shutil.copytree(project / "results/mine/vocabulary", folder / "vocabulary")
    return folder


def test_a_copied_folder_encodes_sentences_and_asks_for_weights(project, photographs, model, tmp_path, monkeypatch):
    folder = copied(project, tmp_path)
    monkeypatch.chdir(tmp_path)
    far = densevse.load(folder)
    np.testing.assert_array_equal(far.encode_sentences(SENTENCES), model.encode_sentences(SENTENCES))
    with pytest.raises(InputError, match=r"weights of the network tiny with the sha256 \w{64}.*weights=\.\.\."):
        far.encode_images(photographs)
    given = densevse.load(folder, weights=weights(project))
    np.testing.assert_array_equal(given.encode_images(photographs), model.encode_images(photographs))
    monkeypatch.chdir(project)
    densevse.load(folder).encode_images(photographs[:1])


def test_another_vocabulary_is_refused(project, tmp_path):
    folder = copied(project, tmp_path)
    words = folder / "vocabulary/words.parquet"
    rows = schema.read(words, WORDS)
    schema.write(rows.assign(word=rows["word"] + "s"), WORDS, words)
    with pytest.raises(InputError, match="the vocabulary that the model was trained with is neither in its folder"):
        densevse.load(folder)


def test_the_light_package_names_the_extra_that_loading_needs(monkeypatch):
    monkeypatch.setitem(sys.modules, "densevse.inference.model", None)
    monkeypatch.setattr("densevse.config.environment.find_spec", lambda module: None)
    with pytest.raises(
        InputError, match=r"densevse\.load needs torch, which is not installed\. Run `make environment` in"
    ) as error:
        _ = densevse.load
    assert error.value.__context__ is None, "so that no other traceback stands above the message"


def test_to_import_densevse_imports_no_torch():
    code = "import sys, densevse; assert 'torch' not in sys.modules; assert callable(densevse.load)"
    assert subprocess.run([sys.executable, "-c", code], cwd=ROOT).returncode == 0
