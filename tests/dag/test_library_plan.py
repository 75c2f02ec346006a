"""Networks of libraries and methods without training, in the plan."""

from importlib.util import find_spec
from pathlib import Path

import pytest

from densevse.config import environment
from densevse.dag import downloads, features, tables, training
from densevse.dag.features import trainable_network
from densevse.dag.project import _PUBLISHED, Project, Stage
from densevse.exchange import dag
from snakeproof.errors import InputError
from tests.tiny_networks import CLIP, CLIP_OPTIONS

ROOT = Path(__file__).parents[2]
VALUES = {
    "networks": {"clip_tiny": {**CLIP, "local": "README.md"}},
    "methods": {"clip": {"networks": {"whole": "clip_tiny"}}},
    "datasets": {"flickr8k": {"seeds": [0, 1, 2]}},
    "tables": {
        "both": {"title": "Both", "sections": [{"dataset": "flickr8k"}], "measure": ["vse", "clip"]},
        "flickr8k": {"measure": ["clip"], "reference": None},
    },
}


@pytest.fixture(scope="module")
def project():
    return Project(ROOT, VALUES)


@pytest.mark.parametrize(("network", "package"), [("clip_tiny", "open_clip"), ("deit_small", "timm")])
def test_a_library_that_is_not_installed_is_named_with_its_extra(network, package, project, monkeypatch):
    features_stage = Stage(project, features)
    assert features_stage.network_weights("vgg19")
    monkeypatch.setattr(environment, "find_spec", lambda name: None if name == package else find_spec(name))
    said = rf"networks\.{network} \({package}:\S+\) needs {package}.*install.py envs/locks/networks.txt` in"
    with pytest.raises(InputError, match=said):
        features_stage.network_weights(network)
    assert features_stage.network_weights("vgg19"), "others need no library"


def test_options_decide_features_and_preprocessing_is_the_library_s(project):
    features_stage = Stage(project, features)
    found = features_stage.image_job("flickr8k", "clip_tiny", "grid").settings["network"]
    assert found["options"] == CLIP_OPTIONS
    assert found["layers"] == {"grid": "patches"}
    assert not {"size", "resize", "mean", "std"} & found.keys()
    assert "options" not in features_stage.image_job("flickr8k", "vgg19", "grid").settings["network"]


def test_the_type_of_stored_vectors_reaches_the_jobs_that_it_changes():
    assert "dtype" not in own_network(architecture="timm:vit", local="w")
    assert "dtype" not in own_network(architecture="timm:vit", local="w", dtype="float16")
    assert own_network(architecture="timm:vit", local="w", dtype="float32")["dtype"] == "float32"


def own_network(**entry):
    """A job's settings of a network `mine`, and its entry with what the weights say."""
    entry = {"layers": {"whole": "pooled"}, **entry}
    project = Project(ROOT, {"networks": {"mine": entry}})
    return Stage(project, features).image_job("flickr8k", "mine", "whole").settings["network"]


def on_hub(repository):
    return {"weights": {"file": "model.safetensors", "hub": repository, "revision": "0" * 40, **CHECKED}}


CHECKED = {"sha256": "0" * 64, "licence": "none"}


def test_an_entry_whose_weights_say_what_is_applied_anyway_keeps_its_settings(project):
    features_stage = Stage(project, features)
    for network, architecture, precision in (
        ("clip_vit_b_32", "open_clip:ViT-B-32", "fp32"),
        ("deit_small", "timm:deit_small_patch16_224", "auto"),
    ):
        assert features_stage.image_job("flickr8k", network, "whole").settings["network"] == {
            "architecture": architecture,
            "precision": precision,
            "batch_size": 64,
            "options": {},
            "layers": {"whole": "pooled"},
            "nodes": {},
        }
    openai = own_network(architecture="open_clip:ViT-L-14", **on_hub("laion/CLIP-ViT-L-14-DataComp.XL-s13B-b90K"))
    assert openai["architecture"] == "open_clip:ViT-L-14"


@pytest.mark.parametrize(
    ("entry", "tag"),
    [
        ({"architecture": "open_clip:MobileCLIP2-S0", "local": "README.md"}, "dfndr2b"),
        (
            {"architecture": "open_clip:ViT-L-14", **on_hub("laion/CLIP-ViT-L-14-laion2B-s32B-b82K")},
            "laion2b_s32b_b82k",
        ),
        ({"architecture": "timm:vit_small_patch16_224", **on_hub("timm/vit_small_patch16_224.dino")}, "dino"),
        ({"architecture": "timm:vit_small_patch16_224", "local": "dino_deitsmall16_pretrain.pth"}, "dino"),
        (
            {"architecture": "torchvision:vit_b_16", "local": "vit_b_16_lc_swag-4e70ced5.pth"},
            "IMAGENET1K_SWAG_LINEAR_V1",
        ),
    ],
)
def test_the_tag_of_weights_is_a_setting_where_it_changes_what_is_applied(entry, tag):
    assert own_network(**entry)["architecture"] == f"{entry['architecture']}.{tag}"


def test_weights_that_may_be_several_are_refused_by_the_plan():
    with pytest.raises(InputError, match=r"networks\.mine: README\.md may be several weights of timm:vit_small"):
        own_network(architecture="timm:vit_small_patch16_224", local="README.md")


def test_the_configuration_beside_weights_is_a_setting(tmp_path):
    (tmp_path / "open_clip_config.json").write_text('{"preprocess_cfg": {"mean": [0, 0, 0], "std": [1, 1, 1]}}')
    found = own_network(architecture="open_clip:ViT-L-14", local=str(tmp_path / "model.safetensors"))
    assert found["options"] == {"force_preprocess_cfg": {"mean": [0, 0, 0], "std": [1, 1, 1]}}


@pytest.mark.parametrize(
    ("entry", "sides"),
    [
        ({"local": "resnet50-11ad3fa6.pth"}, (224, 232)),
        ({"local": "resnet50-0676ba61.pth"}, (224, 256)),
        ({"local": "resnet50-11ad3fa6.pth", "resize": 300}, (224, 300)),
        ({"local": "mine.pth"}, (224, 256)),
    ],
)
def test_torchvision_s_weights_decide_the_sides_that_an_entry_does_not_say(entry, sides):
    entry = {"architecture": "resnet50", "layers": {"centre": "flatten", "whole": "flatten"}, **entry}
    features_stage = Stage(Project(ROOT, {"networks": {"mine": entry}}), features)
    found = {
        view: features_stage.image_job("flickr8k", "mine", view).settings["network"] for view in ("centre", "whole")
    }
    assert (found["centre"]["size"], found["centre"]["resize"]) == sides
    assert found["whole"]["resize"] == entry.get("resize", 256), "whole images are squeezed, so nothing runs again"


@pytest.mark.parametrize(
    ("file", "said", "expected"),
    [
        ("tf_efficientnet_lite0.safetensors", {}, (224, 0.5)),
        ("tf_efficientnet_lite2-0b1f0d5f.pth", {}, (260, 0.5)),
        ("tf_efficientnet_lite2.pth", {"size": 224, "mean": [0.1, 0.1, 0.1]}, (224, 0.1)),
        ("mine.pth", {}, (224, 0.485)),
    ],
)
def test_the_input_of_efficientnet_lite_is_that_of_its_weights(file, said, expected):
    architecture = "tf_efficientnet_lite0" if "lite0" in file else "tf_efficientnet_lite2"
    found = own_network(architecture=architecture, local=file, layers={"whole": "pooled"}, **said)
    assert (found["size"], found["mean"][0]) == expected


def test_a_tokenizer_s_own_configuration_is_a_setting(tmp_path):
    (tmp_path / "tokenizer_config.json").write_text('{"pad_token": "[PAD]", "padding_side": "left"}')
    (tmp_path / "tokenizer.json").write_text("{}")
    for pad, expected in ((None, "[PAD]"), ("</s>", "</s>")):
        tokenizer = {"local": str(tmp_path / "tokenizer.json"), "pad": pad}
        networks = {"clip_tiny": {**VALUES["networks"]["clip_tiny"], "tokenizer": tokenizer}}
        settings = Stage(Project(ROOT, {**VALUES, "networks": networks}), training).untrained_job("flickr8k", "clip")
        assert settings.settings["pad"] == expected
        assert settings.settings["tokenizer_options"] == {"padding_side": "left"}


def test_networks_of_the_project_have_torchvision_s_own_input(project):
    """So their plans do not ask torchvision, which takes seconds."""
    from densevse.vision.architectures.torchvision_classifiers import published_input

    for name, entry in project.config.networks.items():
        if entry.weights and "torchvision" in entry.weights.licence and entry.architecture != "faster_rcnn":
            known = published_input(entry.architecture, entry.weights.file)
            assert known == {key: getattr(entry, key) for key in ("size", "resize", "mean", "std")}, name
            assert not _PUBLISHED.fullmatch(entry.weights.file)


def test_the_code_of_a_library_s_network_is_its_own(project):
    features_stage, training_stage = Stage(project, features), Stage(project, training)
    jobs = [features_stage.image_job("flickr8k", name, "whole") for name in ("clip_tiny", "deit_small", "vgg19")]
    codes = {project.code.digest("densevse.vision.extract:extract_features", *job.modules) for job in jobs}
    assert len(codes) == 3
    assert "densevse.vision.architectures.open_clip_networks" in training_stage.modules("flickr8k", "clip")


def test_a_tokenizer_is_a_file_like_the_weights():
    hub = {"hub": "some/siglip", "revision": "0" * 40, "sha256": "0" * 64, "licence": "none"}
    own = {"local": "README.md", "pad": "</s>"}
    for tokenizer, file in (
        (own, "README.md"),
        ({"source": {**hub, "file": "tokenizer.json"}}, {"network": "clip_tiny", "file": "tokenizer.json"}),
    ):
        networks = {"clip_tiny": {**VALUES["networks"]["clip_tiny"], "tokenizer": tokenizer}}
        project = Project(ROOT, {**VALUES, "networks": networks})
        training_stage = Stage(project, training)
        assert training_stage.tokenizer("flickr8k", "clip") == file
        assert training_stage.untrained_job("flickr8k", "clip").settings["pad"] == tokenizer.get("pad", "<pad>")
    assert Stage(project, downloads).source("clip_tiny/tokenizer.json")["hub"] == "some/siglip"


def test_without_a_tokenizer_a_job_has_its_earlier_settings(project):
    training_stage = Stage(project, training)
    assert training_stage.tokenizer("flickr8k", "clip") is None
    assert training_stage.untrained_job("flickr8k", "clip").settings.keys() == {"method", "parameters", "networks"}


def test_a_network_that_encodes_sentences_computes_in_fp32_unless_its_entry_says_otherwise():
    entry = {key: value for key, value in VALUES["networks"]["clip_tiny"].items() if key != "precision"}
    networks = {"plain": entry, "auto": {**entry, "precision": "auto"}}
    found = Project(ROOT, {"networks": networks}).config.networks
    names = ("plain", "auto", "clip_vit_b_32", "vgg19", "deit_small")
    assert [found[name].precision for name in names] == ["fp32", "auto", "fp32", "auto", "auto"]


def test_a_method_without_training_needs_neither_words_nor_seeds(project):
    training_stage = Stage(project, training)
    assert list(training_stage.inputs_of_sentences("flickr8k", "clip")) == ["caption_table"]
    assert training_stage.untrained_weights("flickr8k", "clip") == "README.md"
    plan = Stage(project, tables).plan("both").sections[0]
    assert (plan.measured["vse"].seeds, plan.measured["clip"].seeds) == ([0, 1, 2], [0])
    with pytest.raises(InputError, match="clip is a network without further training"):
        Stage(project, dag).model_vocabularies("flickr8k", "clip")


def test_a_table_of_no_entry_measures_what_is_trained(project):
    own = Project(ROOT, {"datasets": {"mine": MINE}})
    measured = tables.find_table(own, "mine").measure
    assert "vse" in measured
    assert "clip" not in measured


MINE = {"title": "Mine", "reader": "karpathy", "options": {"karpathy": "a.json"}, "local": {"karpathy": "README.md"}}
MINE |= {"networks": {"whole": "vgg19"}}


def test_a_library_s_network_is_not_trained_further(project):
    with pytest.raises(InputError, match=r"networks\.deit_small: timm:deit_small\S+ is a library's network"):
        trainable_network(project, "deit_small")


@pytest.mark.parametrize(
    ("dataset", "sides", "view", "size", "changed"),
    [
        ("flickr8k", None, "whole", 224, True),
        ("flickr8k", [224, 224], "whole", 224, False),
        ("flickr8k", [224, 224], "grid", 260, False),
        ("coco", [333, 640], "whole", 224, False),
        ("coco", [333, 640], "regions", 299, False),
        ("coco", [333, 640], "whole", 384, True),
        ("coco", [333, 640], "regions", 448, True),
        ("coco", [333, 640], "ten_crop", 448, False),
        ("coco", [60, 640], "ten_crop", 224, True),
        ("coco", None, "centre", 224, True),
        ("scenes", [96, 96], "whole", 64, False),
    ],
)
def test_only_features_that_another_way_to_resize_may_change_are_made_again(dataset, sides, view, size, changed):
    network = {"architecture": "resnet18", "local": "mine.pth", "size": size, "resize": max(size, 256)}
    network["layers"] = dict.fromkeys(("whole", "centre", "ten_crop", "grid", "regions"), "flatten")
    values = {"networks": {"mine": network}, "datasets": {dataset: {"sides": sides}}}
    features_stage = Stage(Project(ROOT, values), features)
    if view == "regions":
        job = features_stage.region_job(dataset, "mine")
    else:
        job = features_stage.image_job(dataset, "mine", view)
    assert job.revisions == ({"resize": 2} if changed else {})


def test_a_library_s_own_resizing_has_no_revision(project):
    features_stage = Stage(project, features)
    assert features_stage.image_job("coco", "deit_small", "whole").revisions == {}
    assert features_stage.region_job("coco", "deit_small").revisions == {}
    assert features_stage.region_job("coco", "faster_rcnn").revisions == {}


def test_scenes_are_squares_of_one_size(project):
    assert project.config.datasets["scenes"].sides == (96, 96)
    for view in ("whole", "centre", "ten_crop", "grid"):
        assert Stage(project, features).image_job("scenes", "scenes_net", view).revisions == {}
