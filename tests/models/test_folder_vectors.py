"""Encoders in folders: what the library must not see, and vectors that are those of its own `encode`."""

import shutil
import socket

import numpy as np
import pytest
from safetensors.torch import load_file, save_file

from densevse.config.model_folders import has_several_vectors, model_files
from densevse.config.networks import NetworkConfig, NetworkSettings
from densevse.models.folder_vectors import _encode_sentences, _fill_up
from snakeproof.errors import InputError
from snakeproof.strict import validate
from tests import encoders

sentence_transformers = pytest.importorskip("sentence_transformers", minversion="6")
from densevse.vision.architectures import sentence_transformers_networks as networks  # noqa: E402 (needs it)

SENTENCES = ["a dog", "the red ball on the grass", "a cat runs"]
WHOLE = {"layers": {"whole": "pooled"}}


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    """The folder of each kind of model, made once."""
    made, top = {}, tmp_path_factory.mktemp("encoders")
    return lambda kind: made.get(kind) or made.setdefault(kind, getattr(encoders, kind)(top / kind))


@pytest.fixture
def copied(folders, tmp_path):
    """A folder that a test may change."""
    return shutil.copytree(folders("metaclip2"), tmp_path / "model")


@pytest.fixture(autouse=True)
def offline(monkeypatch):
    def refuse(*_):
        raise AssertionError("something would be fetched")

    monkeypatch.setattr(socket.socket, "connect", refuse)


def load(folder, **settings):
    architecture = f"sentence_transformers:{folder}"
    return networks.encoder(NetworkSettings(architecture=architecture, **WHOLE, **settings), folder)


def pictures():
    random = np.random.default_rng(0)
    return [random.integers(256, size=(*size, 3), dtype=np.uint8) for size in ((40, 60), (64, 32), (90, 90))]


def own_vectors(folder, several, padded, in_batch):
    """What the library's own encode gives, with full padding where the model was trained so."""
    kind = sentence_transformers.MultiVectorEncoder if several else sentence_transformers.SentenceTransformer
    model = kind(str(folder), device="cpu", local_files_only=True)
    if padded:
        model[0].processing_kwargs = {"text": {"padding": "max_length"}}
    images = [networks.Image.fromarray(one) for one in pictures()]
    options = {"batch_size": in_batch, "convert_to_numpy": True}
    return model.encode_query(SENTENCES, **options), model.encode_document(images, **options)


@pytest.mark.parametrize(
    ("kind", "several"),
    [
        ("metaclip2", False),
        pytest.param("siglip2", False, marks=pytest.mark.long),
        pytest.param("embedding_gemma2", False, marks=pytest.mark.long),
        pytest.param("colpali", True, marks=pytest.mark.long),
    ],
)
def test_vectors_are_those_of_the_library(folders, kind, several):
    # Without a chat template, the processor of EmbeddingGemma 2 takes several images for those of one input.
    in_batch = 1 if kind == "embedding_gemma2" else 64
    encoder = load(folders(kind), batch_size=in_batch)
    assert encoder.several == has_several_vectors(str(folders(kind))) == several
    sides = encoder.encode_sentences(SENTENCES), encoder.encode_images(pictures())
    for found, expected in zip(sides, own_vectors(folders(kind), several, kind == "siglip2", in_batch), strict=True):
        for one, other in zip(found, expected, strict=True):
            assert one.ndim == 1 + several
            np.testing.assert_allclose(one, other, atol=1e-6)


@pytest.mark.long
def test_a_sentence_of_siglip_does_not_change_with_those_beside_it(folders):
    encoder = load(folders("siglip2"))
    assert encoder.describe()["sentences padded"] == "all with 8 tokens"
    (alone,) = encoder.encode_sentences(SENTENCES[:1])
    np.testing.assert_allclose(encoder.encode_sentences(SENTENCES)[0], alone, atol=1e-5)


def test_equal_sentences_are_encoded_once_and_padding_is_zeros():
    class Counting:
        def encode_sentences(self, sentences):
            self.asked = sentences
            return [np.full((len(one), 2), number, np.float32) for number, one in enumerate(sentences, 1)]

    encoder = Counting()
    found = _fill_up(_encode_sentences(encoder, ["ab", "c", "ab"]))
    assert encoder.asked == ["ab", "c"]
    assert found.shape == (3, 2, 2)
    assert found[:, :, 0].tolist() == [[1, 1], [2, 0], [1, 1]]
    assert not _fill_up([np.ones(3, np.float32), None])[1].any()


def test_sentences_that_are_cut_are_counted_and_prompts_are_named(copied):
    prompts = {"query": "", "photo": "a photo : "}
    model = sentence_transformers.SentenceTransformer(str(copied), prompts=prompts, local_files_only=True)
    model.save_pretrained(str(copied))
    encoder = load(copied, prompts={"sentences": "photo", "images": "document"})
    assert encoder.describe()["prompt of sentences"] == "photo 'a photo : '"
    assert encoder.count_cut(["a dog", "the red ball on the grass"]) == 1, "of 8 tokens, with the prompt's"
    (prompted,) = encoder.encode_sentences(["a dog"])
    np.testing.assert_allclose(prompted, load(copied).encode_sentences(["a photo : a dog"])[0], atol=1e-5)
    with pytest.raises(InputError, match="has no prompt 'caption'; its prompts are query, document, photo"):
        load(copied, prompts={"sentences": "caption", "images": "document"})


def test_images_are_a_view_of_any_method(folders):
    folder = folders("metaclip2")
    made = networks.network(NetworkSettings(architecture=f"sentence_transformers:{folder}", **WHOLE), folder)
    batch = made.blank_batch(3, 1)
    for place, pixels in enumerate(pictures()):
        batch[place] = made.crops(pixels, None)
    np.testing.assert_allclose(made.image_vectors(batch), np.stack(load(folder).encode_images(pictures())), atol=1e-6)


@pytest.mark.parametrize(
    ("file", "content", "said"),
    [
        ("pytorch_model.bin", "", "pytorch_model.bin: such files may hold code and are never read; remove it"),
        ("1_Dense/weights.pt", "", "weights.pt: such files may hold code"),
        ("modeling_mine.py", "", "modeling_mine.py: the folder holds code, which is never run"),
        ("adapter_config.json", "{}", "an adapter needs a model that is elsewhere"),
        ("config.json", '{"auto_map": {"AutoModel": "modeling_mine.Mine"}}', "auto_map asks for code"),
        ("config.json", '{"text_config": {"auto_map": {"AutoConfig": "a.B"}}}', "auto_map asks for code"),
        ("sentence_bert_config.json", '{"model_kwargs": {"trust_remote_code": true}}', "trust_remote_code asks for"),
        ("modules.json", '[{"idx": 0, "path": "", "type": "mine.Mine"}]', "modules.json: type asks for code"),
        ("router_config.json", '{"types": {"a": "os.path.join"}}', "types asks for code"),
        ("2_Dense/config.json", '{"activation_function": "torch.hub.load"}', "activation_function asks for code"),
        ("modules.json", "no JSON", "modules.json: not JSON"),
        ("config_sentence_transformers.json", '{"model_type": "CrossEncoder"}', "a CrossEncoder makes no vectors"),
    ],
)
def test_the_library_does_not_see_what_may_be_code(copied, monkeypatch, file, content, said):
    monkeypatch.setattr(networks, "SentenceTransformer", None)
    (copied / file).parent.mkdir(exist_ok=True)
    (copied / file).write_text(content)
    with pytest.raises(InputError, match="(?s)" + said.replace(".", r"\.")):
        load(copied)


def test_a_folder_without_weights_in_safetensors_is_refused(copied):
    (copied / "model.safetensors").unlink()
    with pytest.raises(InputError, match="it has no weights in safetensors; name the folder of a model"):
        load(copied)
    with pytest.raises(InputError, match="there is no such folder"):
        model_files(str(copied / "none"))


def test_notes_and_hidden_files_are_no_part_of_a_model(copied):
    for file in ("README.md", ".gitattributes", ".cache/mine.py"):
        (copied / file).parent.mkdir(exist_ok=True)
        (copied / file).write_text("")
    assert not [file for file in model_files(str(copied)) if "README" in file or "/." in file]


def test_weights_that_are_missing_are_not_random(copied):
    weights = load_file(copied / "model.safetensors")
    weights.pop("visual_projection.weight")
    save_file(weights, copied / "model.safetensors", {"format": "pt"})
    with pytest.raises(InputError, match="weights of the model are not in the folder, so they are random"):
        load(copied)


@pytest.mark.parametrize(
    ("key", "value", "said"),
    [
        ("mean", [0.5, 0.5, 0.5], "mean: sentence_transformers:m brings its own preprocessing; remove this key"),
        ("size", 256, "size: sentence_transformers:m brings its own preprocessing"),
        ("local", "w.safetensors", "local: the folder m has everything; remove this key"),
        ("options", {"a": 1}, "options: the folder m has everything"),
        ("tokenizer", {"local": "t.json"}, "tokenizer: sentence_transformers:m encodes no"),
        ("precision", "bf16", "precision: sentence_transformers:m is computed in fp32; remove this key"),
        ("layers", {"grid": "patches"}, "makes the view whole alone"),
        ("prompts", {"words": "query"}, "prompts.words"),
    ],
)
def test_what_the_folder_decides_is_no_key(key, value, said):
    with pytest.raises(InputError, match=said):
        validate(NetworkConfig, {"architecture": "sentence_transformers:m", **WHOLE, key: value}, "networks.mine")
    with pytest.raises(InputError, match="prompts: open_clip:RN50 has none; remove the key"):
        validate(NetworkConfig, {"architecture": "open_clip:RN50", **WHOLE, "prompts": {}}, "networks.mine")
