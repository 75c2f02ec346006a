"""Networks like SigLIP, whose tokenizer is a file: a made one, beside open_clip's own encoding with random weights."""

import json
import logging
from pathlib import Path

import open_clip
import pytest
import torch
from safetensors.torch import save_file

from densevse.models.files import described, load_model
from densevse.models.untrained import write_untrained_model
from snakeproof.errors import InputError
from tests.tiny_networks import CLIP_OPTIONS

pytest.importorskip("transformers", reason="open_clip reads a tokenizer's file by transformers")
tokenizers = pytest.importorskip("tokenizers")

TEXTS = ["A dog, running!", "ein Hund läuft am Strand entlang", "two_dogs and a ball " * 8, "", "un chien"]
SIGLIP = {
    "embed_dim": 32,
    "vision_cfg": CLIP_OPTIONS["vision_cfg"],
    "text_cfg": {
        **CLIP_OPTIONS["text_cfg"],
        "vocab_size": 80,
        "hf_tokenizer_name": "timm/ViT-B-16-SigLIP",
        "tokenizer_kwargs": {"clean": "canonicalize"},
        "no_causal_mask": True,
        "proj_bias": True,
        "pool_type": "last",
    },
}
NETWORK = {"architecture": "open_clip:ViT-B-16-SigLIP", "options": SIGLIP}


def write_tokenizer(folder: Path, pad: str) -> Path:
    """A tokenizer as the Hub has it: pieces of words, an end of each sentence, and the token that fills up."""
    made = tokenizers.Tokenizer(tokenizers.models.BPE(unk_token="<unk>"))
    made.pre_tokenizer = tokenizers.pre_tokenizers.Metaspace()
    special = ["<pad>", "</s>", "<unk>"]
    made.train_from_iterator(TEXTS, tokenizers.trainers.BpeTrainer(vocab_size=80, special_tokens=special))
    made.post_processor = tokenizers.processors.TemplateProcessing(single="$A </s>", special_tokens=[("</s>", 1)])
    folder.mkdir()
    made.save(str(folder / "tokenizer.json"))
    about = {"tokenizer_class": "PreTrainedTokenizerFast", "pad_token": pad, "eos_token": "</s>", "unk_token": "<unk>"}
    (folder / "tokenizer_config.json").write_text(json.dumps(about))
    return folder / "tokenizer.json"


@pytest.fixture
def model(monkeypatch):
    monkeypatch.setattr(logging.root.manager, "disable", logging.WARNING)
    torch.manual_seed(0)
    return open_clip.create_model("ViT-B-16-SigLIP", **SIGLIP).eval()


def written(folder, model, pad, tokenizer):
    weights = {name: value.contiguous() for name, value in model.state_dict().items()}
    save_file(weights, folder / "weights.safetensors")
    networks = {"whole": {"network": "siglip", **NETWORK}}
    path = folder / "model.safetensors"
    file = None if tokenizer is None else str(tokenizer)
    write_untrained_model("clip", {"prompt": "{}"}, networks, folder / "weights.safetensors", path, 1, file, pad)
    return path


@pytest.mark.parametrize("pad", ["<pad>", "</s>"])
def test_vectors_are_those_of_open_clip(model, tmp_path, pad):
    from densevse.vision.architectures.open_clip_networks import Tokenizer

    file = write_tokenizer(tmp_path / "tokenizer", pad)
    path = written(tmp_path, model, pad, file)
    file.unlink()  # the model has it
    tokenizer = Tokenizer({**described(path)["text_encoder"], "model": str(path)})
    tokens, cut = tokenizer.tokens(TEXTS)
    write_tokenizer(tmp_path / "again", pad)
    expected = open_clip.tokenizer.HFTokenizer(str(tmp_path / "again"), context_length=16, clean="canonicalize")(TEXTS)
    assert tokens.tolist() == expected.tolist()
    assert cut == 1, "the third has more than 16 tokens"
    with torch.inference_mode():
        found = load_model(path).text_encoder(tokens)
        torch.testing.assert_close(found, model.encode_text(expected), rtol=1e-5, atol=1e-5)


def test_a_file_that_does_not_fit_is_named(model, tmp_path):
    file = write_tokenizer(tmp_path / "tokenizer", "<pad>")
    with pytest.raises(InputError, match=r"tokenizer\.json: it has no token '<fill>'; name the one"):
        written(tmp_path, model, "<fill>", file)
    file.write_text("{}")
    with pytest.raises(InputError, match=r"tokenizer\.json: not a tokenizer \(.*name the file tokenizer\.json"):
        written(tmp_path, model, "<pad>", file)
