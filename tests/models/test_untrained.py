"""Zero-shot CLIP by a small untrained network: the same vectors as the library's, from tokens to a model's file."""

import logging

import numpy as np
import open_clip
import pandas as pd
import pytest
import torch
from torch.nn import functional

from densevse.artifacts.schemas.datasets import CAPTIONS, IMAGES
from densevse.artifacts.schemas.features import IMAGE_FEATURES
from densevse.data.files import Files
from densevse.data.inputs import Inputs
from densevse.methods.interface import Shapes
from densevse.models.encoding import encode_images, encode_sentences
from densevse.models.files import build_method, described, open_model, text_encoder
from densevse.models.retrieval import encode_test
from densevse.models.untrained import write_untrained_model
from snakeproof import schema
from snakeproof.errors import InputError
from snakeproof.files import checksum
from snakeproof.store import FeatureWriter
from tests.tiny_networks import CLIP, CLIP_OPTIONS, clip_model, save

NETWORK = {"architecture": CLIP["architecture"], "options": CLIP_OPTIONS}
LONG = " ".join(["dog"] * 30)
TEXTS = ["A red dog.", "two cats, sleeping", " ".join(["dog"] * 14), " ".join(["dog"] * 15), LONG]


@pytest.fixture(scope="module")
def model():
    return clip_model()


@pytest.fixture(scope="module")
def weights(model, tmp_path_factory):
    return save(model, tmp_path_factory.mktemp("clip") / "clip.safetensors")


@pytest.fixture
def files(tmp_path, weights):
    """Captions of one image, and its vector by the network."""
    rows = pd.DataFrame({"caption_id": [f"a#{n}" for n in range(len(TEXTS))], "image_id": "a", "text": TEXTS})
    captions = rows.assign(position=range(len(TEXTS)), split="test")
    schema.write(captions, CAPTIONS, tmp_path / "captions.parquet")
    image = {"image_id": "a", "split": "test", "source": "images", "file": "a", "width": 8, "height": 8, "sha256": ""}
    images = pd.DataFrame([{**image, "captions": len(TEXTS), "family": "a", "status": "ok"}])
    schema.write(images, IMAGES, tmp_path / "images.parquet")
    seen = {"network": "mine", **NETWORK, "weights_sha256": checksum(weights), "layers": {"whole": "pooled"}}
    with FeatureWriter(tmp_path / "whole.parquet", IMAGE_FEATURES, (32,), np.float32, **seen) as file:
        file.append(images[["image_id"]], np.arange(32, dtype=np.float32)[None])
    names = {"image_table": "images", "caption_table": "captions", "view_whole": "whole"}
    return Files({name: str(tmp_path / f"{file}.parquet") for name, file in names.items()})


def written(weights, path, prompt="{}"):
    write_untrained_model(
        "clip", {"prompt": prompt}, {"whole": {"network": "mine", **NETWORK}}, weights, path, threads=1
    )
    return path


def reference(model, texts):
    tokens = open_clip.SimpleTokenizer(context_length=16)(texts)
    with torch.inference_mode():
        return functional.normalize(model.encode_text(tokens), dim=1)


def test_a_model_of_the_network_scores_as_the_library_does(model, weights, files, tmp_path, caplog):
    path = written(weights, tmp_path / "model.safetensors")
    with caplog.at_level(logging.INFO):
        inputs, method = open_model(files, path, torch.device("cpu"))
        pairs = inputs.pairs("test")
    assert "2 of 5 sentences have more than 16 tokens and are cut" in caplog.text
    assert encode_test({str(path): files}, threads=1).made_with["cut"] == "2 of 5"
    sentences = encode_sentences(method, pairs)
    torch.testing.assert_close(sentences.vectors, reference(model, TEXTS))
    images = encode_images(method, pairs)
    torch.testing.assert_close(images.vectors, functional.normalize(torch.arange(32.0)[None], dim=1))
    torch.testing.assert_close(method.score(images, sentences), images.vectors @ reference(model, TEXTS).T)
    known = described(path)
    assert (known["method"], known["sentences"], known["untrained"]) == ("clip", ["text"], True)
    assert not any(name.startswith("text_encoder.model.visual") for name in method.state_dict())


def test_a_sentence_stands_in_the_prompt(model, weights, files, tmp_path):
    inputs, method = open_model(
        files, written(weights, tmp_path / "m.safetensors", "a photo of {}"), torch.device("cpu")
    )
    found = encode_sentences(method, inputs.pairs("test")).vectors
    torch.testing.assert_close(found, reference(model, [f"a photo of {text}" for text in TEXTS]))


def test_images_by_other_weights_are_refused(weights, files, tmp_path):
    other = clip_model()
    with torch.no_grad():
        other.logit_scale += 1
    path = written(save(other, tmp_path / "other.safetensors"), tmp_path / "model.safetensors")
    with pytest.raises(InputError, match="features of another network"):
        open_model(files, path, torch.device("cpu"))


def test_weights_that_do_not_fit_are_named(tmp_path):
    small = clip_model(text_cfg={**CLIP_OPTIONS["text_cfg"], "width": 16})
    with pytest.raises(InputError, match=r"small\.safetensors: \S+: expected shape"):
        written(save(small, tmp_path / "small.safetensors"), tmp_path / "model.safetensors")
    assert not (tmp_path / "model.safetensors").exists()


@pytest.mark.parametrize("architecture", ["timm:test_vit", "vgg19"])
def test_a_network_without_a_text_side_is_named(architecture):
    with pytest.raises(InputError, match=f"{architecture} encodes no sentences; name a network of open_clip"):
        text_encoder({"architecture": architecture, "options": {}})


def test_a_tokenizer_that_would_be_downloaded_is_refused():
    from densevse.vision.architectures.open_clip_networks import Tokenizer

    with pytest.raises(
        InputError, match=r"ViT-B-16-SigLIP does not use CLIP's .* of timm/ViT-B-16-SigLIP as `tokenizer`"
    ):
        Tokenizer({"architecture": "open_clip:ViT-B-16-SigLIP", "options": {}})
    with pytest.raises(InputError, match="roberta-ViT-B-32 encodes sentences by a model of transformers"):
        text_encoder({"architecture": "open_clip:roberta-ViT-B-32", "options": {}})


def test_clip_needs_an_encoder_of_sentences_and_one_vector(weights):
    with pytest.raises(InputError, match="clip needs a network that encodes sentences"):
        build_method("clip", {}, Shapes({"whole": 32}, 0))
    encoder = text_encoder(NETWORK, weights)
    with pytest.raises(InputError, match=r"reads the view whole, not \['grid'\]"):
        build_method("clip", {}, Shapes({"grid": 32}, 0, text_encoder=encoder))


def test_sentences_are_cut_by_no_other_model(files):
    with pytest.raises(InputError, match="needs a network that encodes sentences; this model has none"):
        Inputs(files, ["text"]).pairs("test")
