"""What is applied to pixels and sentences, beside what the libraries say of all weights that they publish."""

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
from densevse.dag.project import _PUBLISHED
from densevse.vision.architectures import open_clip_networks, timm_networks, torchvision_networks
from densevse.vision.architectures.open_clip_networks import TextEncoder, Tokenizer, _untrained_model
from densevse.vision.architectures.torchvision_classifiers import published_input
from densevse.vision.networks import load_network
from snakeproof.errors import InputError
from tests.models.test_tokenizers import TEXTS, write_tokenizer
from tests.tiny_networks import CLIP, CLIP_OPTIONS, clip_model, save
from tests.tiny_networks import TIMM as TIMM_ENTRY

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
            facts = OPEN_CLIP.facts(**found)
            assert of_pixels(facts) == expected, (name, tag, found)
            quick = open_clip.get_model_config(name).get("quick_gelu", False)
            assert facts["quick_gelu"] == known.get("quick_gelu", quick) or name.startswith("roberta"), (name, tag)


def test_what_is_applied_anyway_leaves_an_entry_as_it_is():
    """So the settings of its jobs are those of earlier versions, and nothing is extracted again."""
    for name, tag in open_clip.list_pretrained():
        plain = {"architecture": f"open_clip:{name}", "options": {}}
        hub = open_clip.get_pretrained_cfg(name, tag)["hf_hub"].rpartition("/")[0]
        same = OPEN_CLIP.facts(f"open_clip:{name}.{tag}", {}) == OPEN_CLIP.facts(**plain)
        assert (resolved(OPEN_CLIP, plain["architecture"], hub) == plain) == same, (name, tag)
    plain = {"architecture": "timm:deit_small_patch16_224", "options": {}}
    assert resolved(TIMM, plain["architecture"], file=Path("a/deit_small_patch16_224-cd65a155.pth")) == plain
    assert resolved(TORCHVISION, "torchvision:swin_t")["architecture"] == "torchvision:swin_t"


def test_every_tag_of_timm_is_applied_by_its_name_and_by_its_place():
    names = timm.list_pretrained()
    assert len(names) > 1000
    for full in names:
        name, known = full.partition(".")[0], timm.get_pretrained_cfg(full)
        expected = resolve_data_config({}, vars(known))
        places = [place for place in (known.hf_hub_id, known.url) if place]
        for found in (resolved(TIMM, f"timm:{full}"), *(resolved(TIMM, f"timm:{name}", place) for place in places)):
            facts = TIMM.facts(**found)
            assert {key: facts[key] for key in expected} == expected, (full, found)
            assert facts["num_classes"] == known.num_classes


def test_every_member_of_torchvision_is_applied_by_its_name_and_by_its_file():
    for name in models.list_models(module=models):
        for member in models.get_model_weights(name):
            own = member.transforms()
            file = Path(member.url.rpartition("/")[2])
            found = resolved(TORCHVISION, f"torchvision:{name}", file=file)
            for facts in (
                TORCHVISION.facts(**found),
                TORCHVISION.facts(f"torchvision:{name}.{member.name}", {}),
            ):
                sides = (own.resize_size[0], own.crop_size[0])
                assert (facts["resize_size"], facts["crop_size"]) == sides, (name, member)
                assert (facts["mean"], facts["std"]) == (tuple(own.mean), tuple(own.std)), (name, member)
                assert facts["interpolation"] == own.interpolation.value, (name, member)
            if name in OTHERS:
                expected = {"size": sides[1], "resize": sides[0], "mean": (*own.mean,), "std": (*own.std,)}
                assert published_input(name, file.name) == expected
                assert published_input(name, "mine.pth") == {}
                usual = {"size": 224, "resize": 256, "mean": (0.485, 0.456, 0.406), "std": (0.229, 0.224, 0.225)}
                assert _PUBLISHED.fullmatch(file.name) or expected == usual, "a plan asks for the others"


def write_own_tokenizer(folder, **told):
    """A made tokenizer whose sentences end in </s>, or in [SEP]; `told` are keys of tokenizer_config.json."""
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
        assert own[0, 0] == 0
        assert expected(TEXTS)[0, 0] == 0
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
            by_hub = resolved(OPEN_CLIP, f"open_clip:{name}", hub)
            by_name = resolved(OPEN_CLIP, f"open_clip:{name}.{tag}")
            for found in [by_hub] if by_hub == by_name else [by_hub, by_name]:
                model = _untrained_model(found["architecture"], {**found["options"], "device": "meta"})
                assert of_pixels(model.visual.preprocess_cfg) == of_pixels(expected.visual.preprocess_cfg), (name, tag)


LAION = "laion/CLIP-ViT-L-14-laion2B-s32B-b82K"


def test_weights_that_may_be_several_are_refused_with_the_choices():
    said = (
        r"networks\.mine: mine\.safetensors may be several .*\n- open_clip:ViT-L-14\.openai, .*\n- .*laion2b_s32b_b82k"
    )
    with pytest.raises(InputError, match=said):
        resolved(OPEN_CLIP, "open_clip:ViT-L-14")
    with pytest.raises(
        InputError, match=r"augreg_in21k_ft_in1k: .*mean \(0\.5, .*\n- .*small_patch16_224\.dino: .*0\.485"
    ):
        resolved(TIMM, "timm:vit_small_patch16_224")
    with pytest.raises(InputError, match=r"IMAGENET1K_SWAG_E2E_V1: resize_size 512"):
        resolved(TORCHVISION, "torchvision:vit_l_16")
    with pytest.raises(
        InputError, match=r"has no weights 'dyno'.*\naugreg_in1k, augreg_in21k, augreg_in21k_ft_in1k, dino"
    ):
        resolved(TIMM, "timm:vit_small_patch16_224.dyno")
    with pytest.raises(InputError, match=r"several weights of open_clip:ViT-L-14\.openai"):
        resolved(OPEN_CLIP, "open_clip:ViT-L-14.openai", LAION)
    assert resolved(OPEN_CLIP, "open_clip:ViT-L-14", entry="")["architecture"] == "open_clip:ViT-L-14", "in a job"
    own = {"force_preprocess_cfg": {"mean": (0.5,) * 3, "std": (0.5,) * 3}}
    assert resolved(OPEN_CLIP, "open_clip:ViT-L-14", options=own)["options"] == own, "the options say what differs"


@pytest.mark.parametrize(
    "file",
    [
        "models--laion--CLIP-ViT-L-14-laion2B-s32B-b82K/snapshots/0/open_clip_model.safetensors",
        "CLIP-ViT-L-14-laion2B-s32B-b82K.safetensors",
    ],
)
def test_weights_are_recognised_by_the_names_of_files_and_folders(file):
    found = resolved(OPEN_CLIP, "open_clip:ViT-L-14", file=Path(file))
    assert found["architecture"] == "open_clip:ViT-L-14.laion2b_s32b_b82k"


def test_weights_are_recognised_by_the_hub_s_address():
    places = ["https://huggingface.co/timm/vit_small_patch16_224.dino/resolve/main/model.safetensors"]
    found = TIMM.resolve("timm:vit_small_patch16_224", {}, Path("model.safetensors"), places, "networks.x")
    assert found["architecture"] == "timm:vit_small_patch16_224.dino"
    with pytest.raises(InputError, match="may be several"):
        TIMM.resolve("timm:vit_small_patch16_224.augreg_in1k", {}, Path("model.safetensors"), places, "networks.x")


def test_the_name_of_the_network_as_a_file_s_name_tells_nothing():
    with pytest.raises(InputError, match="may be several"):
        resolved(OPEN_CLIP, "open_clip:ViT-L-14", file=Path("ViT-L-14.safetensors"))


TRANSFORMERS = {"image_mean": [0.1, 0.2, 0.3], "image_std": [0.3, 0.2, 0.1], "resample": 2}
CROPPED = {**TRANSFORMERS, "size": {"shortest_edge": 256}, "crop_size": {"height": 224, "width": 224}}


@pytest.mark.parametrize(
    ("table", "architecture", "name", "told", "expected"),
    [
        (
            OPEN_CLIP,
            "open_clip:ViT-L-14",
            "open_clip_config.json",
            {
                "model_cfg": {"embed_dim": 768, "quick_gelu": True, "text_cfg": {"context_length": 32, "width": 768}},
                "preprocess_cfg": {"mean": [0, 0, 0], "std": [1, 1, 1], "resize_mode": "longest", "fill_color": 7},
            },
            {"mean": (0, 0, 0), "resize_mode": "longest", "fill_color": 7, "context_length": 32, "quick_gelu": True},
        ),
        (
            OPEN_CLIP,
            "open_clip:ViT-L-14",
            "preprocessor_config.json",
            {**TRANSFORMERS, "size": {"height": 224, "width": 224}},
            {"mean": (0.1, 0.2, 0.3), "interpolation": "bilinear", "resize_mode": "squash"},
        ),
        (
            TIMM,
            "timm:vit_small_patch16_224",
            "config.json",
            {
                "architecture": "vit_small_patch16_224",
                "pretrained_cfg": {"mean": [0.1, 0.2, 0.3], "crop_pct": 1.0, "num_classes": 7, "tag": "mine"},
            },
            {"mean": (0.1, 0.2, 0.3), "crop_pct": 1.0, "num_classes": 7, "interpolation": "bicubic"},
        ),
        (
            TIMM,
            "timm:vit_small_patch16_224",
            "preprocessor_config.json",
            CROPPED,
            {"std": (0.3, 0.2, 0.1), "crop_pct": 0.875, "crop_mode": "center", "input_size": (3, 224, 224)},
        ),
        (
            TORCHVISION,
            "torchvision:vit_b_16",
            "preprocessor_config.json",
            CROPPED,
            {"std": (0.3, 0.2, 0.1), "resize_size": 256, "crop_size": 224, "interpolation": "bilinear"},
        ),
    ],
)
def test_the_configuration_beside_weights_is_applied(table, architecture, name, told, expected, tmp_path):
    (tmp_path / name).write_text(json.dumps(told))
    file = tmp_path / "model.safetensors"
    found = resolved(table, architecture, file=file)
    facts = table.facts(**found)
    assert {key: facts[key] for key in expected} == expected
    assert resolved(table, file=file, **found) == found, "it stays in the job"
    again = json.loads(json.dumps(found))
    assert table.facts(**resolved(table, file=file, **again)) == facts, "as a job is given it"


@pytest.mark.parametrize("content", ["[1, 2]", "{", "\\xff"])
def test_a_configuration_that_is_none_is_named(content, tmp_path):
    (tmp_path / "open_clip_config.json").write_text(content)
    with pytest.raises(InputError, match=r"open_clip_config\.json: not a configuration of weights"):
        resolved(OPEN_CLIP, "open_clip:ViT-B-32", file=tmp_path / "model.safetensors")


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("open_clip_config.json", {"preprocess_cfg": {"mean": [0, 0]}}),
        ("open_clip_config.json", {"preprocess_cfg": {"std": [0, 1, 1]}}),
        ("open_clip_config.json", {"preprocess_cfg": {"mean": ["a", "b", "c"]}}),
        ("open_clip_config.json", {"preprocess_cfg": {"mean": [124, 117, 104]}}),
        ("open_clip_config.json", {"preprocess_cfg": {"mean": [float("nan")] * 3}}),
        ("open_clip_config.json", {"model_cfg": [1]}),
        ("open_clip_config.json", {"model_cfg": {"text_cfg": {"hf_model_name": "a/b"}}}),
        ("open_clip_config.json", {"model_cfg": {"text_cfg": [1]}}),
        ("preprocessor_config.json", CROPPED),
        ("preprocessor_config.json", {"image_mean": 3}),
    ],
    ids=str,
)
def test_values_that_cannot_be_applied_are_named(name, told, tmp_path):
    (tmp_path / name).write_text(json.dumps(told))
    with pytest.raises(InputError, match=rf"{name} cannot be applied \("):
        resolved(OPEN_CLIP, "open_clip:ViT-B-32", file=tmp_path / "model.safetensors")


def test_the_configuration_of_another_network_is_refused(tmp_path):
    (tmp_path / "open_clip_config.json").write_text(json.dumps({"model_cfg": {"embed_dim": 640}}))
    with pytest.raises(InputError, match=r"not of open_clip:ViT-B-32, as its embed_dim is 640"):
        resolved(OPEN_CLIP, "open_clip:ViT-B-32", file=tmp_path / "model.safetensors")
    (tmp_path / "config.json").write_text(
        json.dumps({"architecture": "resnet50", "pretrained_cfg": {"mean": [0, 0, 0]}})
    )
    with pytest.raises(InputError, match=r"is of resnet50, not of test_vit"):
        resolved(TIMM, "timm:test_vit", file=tmp_path / "model.safetensors")


def test_networks_are_built_with_what_their_weights_say(tmp_path):
    model = timm.create_model("test_vit")
    save_file(model.state_dict(), tmp_path / "model.safetensors")
    told = {"architecture": "test_vit", "pretrained_cfg": {"mean": [0.1, 0.2, 0.3], "interpolation": "bilinear"}}
    (tmp_path / "config.json").write_text(json.dumps(told))
    network = load_network({**TIMM_ENTRY, "architecture": "timm:test_vit"}, tmp_path / "model.safetensors")
    assert network.settings.mean == pytest.approx((0.1, 0.2, 0.3))
    assert "bilinear" in str(network._fit)
    clip = clip_model(quick_gelu=True)
    folder = tmp_path / "clip"
    folder.mkdir()
    save(clip, folder / "open_clip_model.safetensors")
    told = {
        "model_cfg": {"embed_dim": 512, "quick_gelu": True},
        "preprocess_cfg": {"mean": [0, 0, 0], "std": [1, 1, 1]},
    }
    (folder / "open_clip_config.json").write_text(json.dumps(told))
    network = load_network(CLIP, folder / "open_clip_model.safetensors")
    assert network.settings.mean == (0, 0, 0)
    pixels = torch.rand(2, 3, 64, 64)
    with torch.inference_mode():
        torch.testing.assert_close(network.module(pixels, ["pooled"])["pooled"], clip.encode_image(pixels))
    encoder = TextEncoder(
        {"architecture": CLIP["architecture"], "options": CLIP_OPTIONS}, folder / "open_clip_model.safetensors"
    )
    with torch.inference_mode():
        tokens = open_clip.SimpleTokenizer(context_length=16)(TEXTS)
        torch.testing.assert_close(encoder(tokens), clip.encode_text(tokens))
    assert encoder.described["options"]["quick_gelu"] is True


@pytest.mark.slow
def test_the_weights_of_a_tag_read_images_of_their_size(tmp_path):
    model = models.vit_b_16(image_size=384)
    save_file(model.state_dict(), tmp_path / "vit_b_16_swag-9ac1b537.safetensors")
    settings = {**TIMM_ENTRY, "architecture": "torchvision:vit_b_16"}
    network = load_network(settings, tmp_path / "vit_b_16_swag-9ac1b537.safetensors")
    assert network.settings.size == 384
    assert "interpolation=bicubic" in str(network._fit)
