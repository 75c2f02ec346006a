"""What is applied to pixels and sentences, beside what the libraries' own tables say of all weights that they publish."""

import json
import warnings
from contextlib import contextmanager
from pathlib import Path

import open_clip
import pytest
import timm
import torch
from open_clip import factory
from safetensors.torch import save_file
from timm.data.config import resolve_data_config
from torchvision import models

from densevse.config.registries import OTHERS
from densevse.vision.architectures import open_clip_networks, timm_networks, torchvision_networks
from densevse.vision.architectures.open_clip_networks import TextEncoder, Tokenizer, _untrained_model
from densevse.vision.architectures.torchvision_classifiers import published_input
from snakeproof.errors import InputError
from tests.models.test_tokenizers import TEXTS, write_tokenizer

OPEN_CLIP, TIMM, TORCHVISION = open_clip_networks.TABLE, timm_networks.TABLE, torchvision_networks.TABLE
PIXELS = ("size", "mean", "std", "interpolation", "resize_mode", "fill_color")
UNKNOWN = Path("mine.safetensors")


def resolved(table, architecture, *places, options=None, file=UNKNOWN, entry="networks.mine"):
    return table.resolve(architecture, options or {}, file, places, entry)


def of_pixels(facts):
    return {key: tuple(value) if isinstance(value, list) else value for key, value in facts.items() if key in PIXELS}


def expected_of_open_clip(name, tag):
    size = open_clip.get_model_config(name)["vision_cfg"]["image_size"]
    known = open_clip.get_pretrained_cfg(name, tag)
    return of_pixels({"fill_color": 0, **known, "size": tuple(size) if isinstance(size, list) else size})


def test_every_tag_of_open_clip_is_applied_by_its_name_and_by_its_place():
    assert len(open_clip.list_pretrained()) > 150
    for name, tag in open_clip.list_pretrained():
        known = open_clip.get_pretrained_cfg(name, tag)
        architecture, expected = f"open_clip:{name}", expected_of_open_clip(name, tag)
        places = [known["hf_hub"].rpartition("/")[0], known["url"], known["url"].rpartition("/")[2]]
        for found in (
            resolved(OPEN_CLIP, f"{architecture}.{tag}"),
            *(resolved(OPEN_CLIP, architecture, place) for place in places[:2] if place),
        ):
            facts = OPEN_CLIP.applied(**found)
            assert of_pixels(facts) == expected, (name, tag, found)
            quick = open_clip.get_model_config(name).get("quick_gelu", False)
            assert facts["quick_gelu"] == known.get("quick_gelu", quick) or name.startswith("roberta"), (name, tag)


def test_what_is_applied_anyway_leaves_an_entry_as_it_is():
    """So the settings of its jobs are those of earlier versions, and nothing is extracted again."""
    for name, tag in open_clip.list_pretrained():
        plain = {"architecture": f"open_clip:{name}", "options": {}}
        hub = open_clip.get_pretrained_cfg(name, tag)["hf_hub"].rpartition("/")[0]
        same = OPEN_CLIP.applied(f"open_clip:{name}.{tag}", {}) == OPEN_CLIP.applied(**plain)
        assert (resolved(OPEN_CLIP, plain["architecture"], hub) == plain) == same, (name, tag)
    plain = {"architecture": "timm:deit_small_patch16_224", "options": {}}
    assert resolved(TIMM, plain["architecture"], file=Path("a/deit_small_patch16_224-cd65a155.pth")) == plain
    assert resolved(TORCHVISION, "torchvision:swin_t")["architecture"] == "torchvision:swin_t"


def test_every_tag_of_timm_is_applied_by_its_name_and_by_its_place():
    names = timm.list_pretrained()
    assert len(names) > 1000
    for full in names:
        name, tag = full.split(".")
        known = timm.get_pretrained_cfg(full)
        expected = resolve_data_config({}, vars(known))
        places = [place for place in (known.hf_hub_id, known.url) if place]
        for found in (resolved(TIMM, f"timm:{full}"), *(resolved(TIMM, f"timm:{name}", place) for place in places)):
            facts = TIMM.applied(**found)
            assert {key: facts[key] for key in expected} == expected, (full, found)
            assert facts["num_classes"] == known.num_classes


def test_every_member_of_torchvision_is_applied_by_its_name_and_by_its_file():
    for name in models.list_models(module=models):
        for member in models.get_model_weights(name):
            own = member.transforms()
            file = Path(member.url.rpartition("/")[2])
            found = resolved(TORCHVISION, f"torchvision:{name}", file=file)
            for facts in (
                TORCHVISION.applied(**found),
                TORCHVISION.applied(f"torchvision:{name}.{member.name}", {}),
            ):
                for key in ("resize_size", "crop_size", "mean", "std", "interpolation"):
                    value = getattr(own, key)
                    assert facts[key] == (tuple(value) if isinstance(value, list) else value), (name, member)
            if name in OTHERS:
                assert published_input(name, file.name) == {"size": own.crop_size[0], "resize": own.resize_size[0]}
                assert published_input(name, "mine.pth") == {}


def write_own_tokenizer(folder, **told):
    """A made tokenizer whose sentences end in </s> or, of BERT's, in [SEP]; `told` are keys of tokenizer_config.json."""
    file = write_tokenizer(folder, "<pad>")
    end = told.get("sep_token", "</s>")
    if end != "</s>":
        file.write_text(file.read_text().replace("</s>", end))
    about = {"tokenizer_class": "PreTrainedTokenizerFast", "pad_token": "<pad>", "eos_token": end, "unk_token": "<unk>"}
    (folder / "tokenizer_config.json").write_text(json.dumps(about | told))
    return file


def tokenizer_of(name, file, folder, **options):
    """densevse's tokenizer of a network, from a model's file."""
    facts = open_clip_networks.read_tokenizer_config(file)
    content = torch.frombuffer(bytearray(file.read_bytes()), dtype=torch.uint8)
    save_file({"text_encoder.tokenizer": content}, folder / "model.safetensors")
    described = {"architecture": f"open_clip:{name}", "options": options, "tokenizer": facts}
    return Tokenizer({**described, "model": str(folder / "model.safetensors")})


@contextmanager
def library_reads(folder, monkeypatch):
    """open_clip reads each tokenizer of the Hub from a folder."""
    import transformers

    with monkeypatch.context() as patched:
        known = transformers.AutoTokenizer.from_pretrained
        patched.setattr(transformers.AutoTokenizer, "from_pretrained", lambda name, **_: known(str(folder)))
        yield


def test_sentences_are_cut_as_open_clip_cuts_them_for_every_name(tmp_path, monkeypatch):
    read = 0
    for name in open_clip.list_models():
        text = open_clip.get_model_config(name)["text_cfg"]
        described = {"architecture": f"open_clip:{name}", "options": {}}
        if text.get("hf_model_name"):
            with pytest.raises(InputError, match="a model of transformers"):
                Tokenizer(described)
        elif not text.get("hf_tokenizer_name"):
            assert Tokenizer(described).tokens(TEXTS)[0].equal(open_clip.get_tokenizer(name)(TEXTS)), name
        else:
            stripped = text.get("tokenizer_kwargs", {}).get("strip_sep_token")
            folder = tmp_path / name
            file = write_own_tokenizer(folder, **({"sep_token": "[SEP]"} if stripped else {}))
            with library_reads(folder, monkeypatch):
                expected = open_clip.get_tokenizer(name)(TEXTS)
            assert tokenizer_of(name, file, folder).tokens(TEXTS)[0].equal(expected), name
            read += 1
    assert read > 30


@pytest.mark.parametrize(
    "told",
    [
        {"padding_side": "left"},
        {"truncation_side": "left"},
        {"tokenizer_class": "GemmaTokenizer"},
        {"pad_token": "</s>"},
        {"pad_token": {"__type": "AddedToken", "content": "</s>"}},
    ],
    ids=str,
)
def test_what_a_tokenizer_s_own_configuration_says_is_done(told, tmp_path, monkeypatch):
    file = write_own_tokenizer(tmp_path / "hub", **told)
    with library_reads(tmp_path / "hub", monkeypatch):
        expected = open_clip.tokenizer.HFTokenizer("hub", context_length=8, clean="canonicalize")
    own = tokenizer_of("ViT-B-16-SigLIP", file, tmp_path, force_context_length=8).tokens(TEXTS)[0]
    if told.get("tokenizer_class"):  # transformers makes Gemma's pieces anew, so only the side is compared
        assert (own[0, 0] == 0) and (expected(TEXTS)[0, 0] == 0)
    else:
        assert own.equal(expected(TEXTS))
    file = write_own_tokenizer(tmp_path / "plain")
    plain = tokenizer_of("ViT-B-16-SigLIP", file, tmp_path, force_context_length=8).tokens(TEXTS)[0]
    assert not own.equal(plain)


@pytest.mark.parametrize("lower", [True, False])
def test_bert_s_own_configuration_says_whether_words_are_lower_case(lower, tmp_path, monkeypatch):
    told = {"tokenizer_class": "BertTokenizer", "do_lower_case": lower, "sep_token": "[SEP]"}
    file = write_own_tokenizer(tmp_path / "hub", **told)
    tokens = tokenizer_of("ViT-L-14-CLIPA", file, tmp_path).tokens(["A Dog", "a dog"])[0]
    assert tokens[0].equal(tokens[1]) == lower
    with library_reads(tmp_path / "hub", monkeypatch):
        expected = open_clip.get_tokenizer("ViT-L-14-CLIPA")(["A Dog", "a dog"])
    assert expected[0].equal(expected[1]) == lower


@pytest.mark.long
def test_every_network_of_open_clip_is_built_as_the_library_builds_it(monkeypatch):
    """On the device meta, whose tensors have no values; the library's own weights are not downloaded."""
    monkeypatch.setattr(factory, "download_pretrained", lambda known, **_: "nothing")
    monkeypatch.setattr(factory, "load_checkpoint", lambda *_, **__: {})
    for name, tag in open_clip.list_pretrained():
        if open_clip.get_model_config(name)["text_cfg"].get("hf_model_name"):
            continue  # transformers would download its configuration
        hub = open_clip.get_pretrained_cfg(name, tag)["hf_hub"].rpartition("/")[0]
        with torch.device("meta"), warnings.catch_warnings(action="ignore"):
            expected = open_clip.create_model(name, pretrained=tag, device="meta")
            for found in (resolved(OPEN_CLIP, f"open_clip:{name}", hub), resolved(OPEN_CLIP, f"open_clip:{name}.{tag}")):
                model = _untrained_model(found["architecture"], {**found["options"], "device": "meta"})
                assert of_pixels(model.visual.preprocess_cfg) == of_pixels(expected.visual.preprocess_cfg), (name, tag)
