"""Networks of timm, open_clip and torchvision's transformers beside the libraries' own forward passes."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import torch
import torchvision
from open_clip.transform import PreprocessCfg, image_transform_v2
from PIL import Image
from timm.data import create_transform, resolve_data_config

from densevse.config.networks import CLASSES, RegionOptions
from densevse.vision.architectures import open_clip_networks
from densevse.vision.extract_regions import _check_classes
from densevse.vision.networks import load_network, standardise_pixels
from densevse.vision.regions import Candidates, RegionNetwork, choose_regions
from densevse.vision.views import load_extraction, planes
from snakeproof.errors import InputError
from tests.tiny_networks import CLIP, CLIP_OPTIONS, LAYERS, TIMM, clip_model, save, timm_model

SHAPES = [(61, 97), (160, 160), (33, 300), (301, 47), (1, 5)]


def picture(height, width):
    return np.random.default_rng(height).integers(256, size=(height, width, 3), dtype=np.uint8)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("weights")


@pytest.fixture(scope="module")
def clip(folder):
    model = clip_model()
    return model, load_network(CLIP, save(model, folder / "clip.safetensors"))


@pytest.fixture(scope="module")
def vit(folder):
    model = timm_model("test_vit")
    return model, load_network(TIMM, save(model, folder / "vit.safetensors"))


def seen(network, pixels, view="whole"):
    """The pixels of an image as a network computes with them."""
    batch = planes(network.crops(pixels, load_extraction(view))[None])
    return standardise_pixels(batch, network.settings.mean, network.settings.std)[0]


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("mode", ["shortest", "longest", "squash"])
def test_images_of_open_clip_are_those_of_its_own_transform(mode, shape, folder):
    options = {**CLIP_OPTIONS, "force_preprocess_cfg": {"resize_mode": mode, "interpolation": "bilinear"}}
    model = clip_model(force_preprocess_cfg=options["force_preprocess_cfg"])
    network = load_network({**CLIP, "options": options}, save(model, folder / "mode.safetensors"))
    own = image_transform_v2(PreprocessCfg(**model.visual.preprocess_cfg), is_train=False)
    pixels = picture(*shape)
    assert (seen(network, pixels) - own(Image.fromarray(pixels))).abs().max() < 1e-5


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("mode", ["center", "squash", "border"])
def test_images_of_timm_are_those_of_its_own_transform(mode, shape, folder):
    options = {"pretrained_cfg_overlay": {"crop_mode": mode, "crop_pct": 0.9, "mean": [0.3, 0.4, 0.5]}}
    model = timm_model("test_vit", **options)
    network = load_network({**TIMM, "options": options}, save(model, folder / "mode.safetensors"))
    own = create_transform(**resolve_data_config({}, model=model))
    pixels = picture(*shape)
    assert network.settings.mean == pytest.approx((0.3, 0.4, 0.5))
    assert (seen(network, pixels, "grid") - own(Image.fromarray(pixels))).abs().max() < 1e-5


def batch_of(network, count=3):
    crops = np.stack([network.crops(picture(90 + number, 70), load_extraction("whole")) for number in range(count)])
    return planes(crops), standardise_pixels(planes(crops), network.settings.mean, network.settings.std)


@torch.inference_mode()
def test_weights_that_fit_two_activations_are_said(caplog):
    open_clip_networks._check_activation("open_clip:ViT-B-32-quickgelu")
    open_clip_networks._check_activation("open_clip:ViT-B-32-256")
    assert not caplog.records
    open_clip_networks._check_activation("open_clip:ViT-B-32")
    assert "weights of open_clip:ViT-B-32 also fit open_clip:ViT-B-32-quickgelu, and give other" in caplog.text


def test_vectors_of_open_clip_are_its_own(clip):
    model, network = clip
    batch, pixels = batch_of(network)
    after = []
    hook = model.visual.transformer.resblocks[-1].register_forward_hook(lambda _, __, tokens: after.append(tokens))
    pooled = model.encode_image(pixels)
    hook.remove()
    torch.testing.assert_close(network.features(batch, "pooled"), pooled)
    patches = model.visual.ln_post(after[0])[:, 1:]
    torch.testing.assert_close(network.grid(batch, "patches"), patches)
    assert patches.shape == (3, 16, 32), "64 pixels are four patches of 16 a side"


@torch.inference_mode()
@pytest.mark.parametrize("name", ["test_vit", "test_vit2"])
def test_vectors_of_timm_are_its_own(name, folder):
    model = timm_model(name)
    network = load_network({**TIMM, "architecture": f"timm:{name}"}, save(model, folder / f"{name}.safetensors"))
    batch, pixels = batch_of(network)
    after = []
    hook = model.blocks[-1].register_forward_hook(lambda _, __, tokens: after.append(tokens))
    classes = model(pixels)
    hook.remove()
    torch.testing.assert_close(network.outputs(batch, [CLASSES])[0], classes)
    torch.testing.assert_close(model.head(network.features(batch, "pooled")), classes)
    torch.testing.assert_close(network.grid(batch, "patches"), model.norm(after[0])[:, model.num_prefix_tokens :])


AT_224 = {"img_size": 224, "pretrained_cfg_overlay": {"input_size": (3, 224, 224)}}
FAMILIES = [
    ("vit_small_patch14_dinov2", {"depth": 1}, 518, 384, 37),
    ("vit_small_patch14_dinov2", {"depth": 1, **AT_224}, 224, 384, 16),
    ("vit_small_patch14_reg4_dinov2", {"depth": 1}, 518, 384, 37),
    ("vit_small_patch16_dinov3", {"depth": 1}, 256, 384, 16),
    ("convnext_tiny.dinov3_lvd1689m", {"depths": [1, 1, 1, 1]}, 224, 768, 7),
    ("vit_base_patch16_224.mae", {"depth": 1}, 224, 768, 14),
    ("vit_base_patch16_siglip_224", {"depth": 1}, 224, 768, 14),
    ("eva02_tiny_patch14_224", {"depth": 1}, 224, 192, 16),
]
"""A network of each family in docs/networks.md, with fewer blocks: name, options, pixels, dimensions, cells a side."""


@torch.inference_mode()
@pytest.mark.slow
@pytest.mark.parametrize(("name", "options", "size", "dimensions", "side"), FAMILIES)
def test_families_of_timm_have_the_documented_vectors(name, options, size, dimensions, side, folder):
    model = timm_model(name, **options)
    settings = {**TIMM, "architecture": f"timm:{name}", "options": options}
    network = load_network(settings, save(model, folder / "family.safetensors"))
    batch, pixels = batch_of(network, 1)
    assert pixels.shape == (1, 3, size, size)
    found = model.forward_features(pixels)
    cells = found.flatten(2).mT if found.ndim == 4 else found[:, model.num_prefix_tokens :]
    torch.testing.assert_close(network.grid(batch, "patches"), cells)
    assert cells.shape == (1, side**2, dimensions)
    torch.testing.assert_close(network.features(batch, "pooled"), model(pixels))  # as they have no classes


@torch.inference_mode()
def test_the_cells_of_a_convolutional_network_of_timm_are_row_by_row(folder):
    model = timm_model("test_convnext")
    network = load_network({**TIMM, "architecture": "timm:test_convnext"}, save(model, folder / "conv.safetensors"))
    batch, pixels = batch_of(network)
    torch.testing.assert_close(network.grid(batch, "patches"), model.forward_features(pixels).flatten(2).mT)
    pooled = model.forward_head(model.forward_features(pixels), pre_logits=True)
    torch.testing.assert_close(network.features(batch, "pooled"), pooled)


@torch.inference_mode()
@pytest.mark.slow
@pytest.mark.parametrize("name", ["vit_b_32", "swin_t"])
def test_transformers_of_torchvision(name, folder):
    torch.manual_seed(0)
    model = torchvision.models.get_model(name, weights=None).eval()
    settings = {**TIMM, "architecture": f"torchvision:{name}"}
    network = load_network(settings, save(model, folder / f"{name}.safetensors"))
    own = torchvision.models.get_model_weights(name).DEFAULT.transforms()
    pixels = picture(171, 123)
    assert (seen(network, pixels) - own(Image.fromarray(pixels))).abs().max() < 1e-5
    batch, scaled = batch_of(network, 1)
    head = model.heads if name == "vit_b_32" else model.head
    torch.testing.assert_close(head(network.features(batch, "pooled")), model(scaled), rtol=1e-4, atol=1e-5)
    torch.testing.assert_close(network.outputs(batch, [CLASSES])[0], model(scaled))
    assert network.grid(batch, "patches").shape == (1, 49, 768)
    if name == "swin_t":
        torch.testing.assert_close(network.grid(batch, "patches").mean(1), network.features(batch, "pooled"))


@torch.inference_mode()
def test_half_precision_is_close(folder, vit):
    half = load_network({**TIMM, "precision": "bf16"}, folder / "vit.safetensors")
    batch, _ = batch_of(half)
    whole = vit[1].features(batch, "pooled")
    assert torch.nn.functional.cosine_similarity(half.features(batch, "pooled"), whole).min() > 0.99
    assert half.features(batch, "pooled").dtype == torch.float32


def test_the_whole_image_among_regions_has_the_vector_of_the_view_whole(vit):
    _, network = vit
    pixels = picture(120, 83)
    boxes = np.array([[0, 0, 83, 120], [5, 5, 40, 60], [20, 10, 50, 80]], np.float32)
    options = RegionOptions(detections=2, nms_threshold=1.0)
    with ThreadPoolExecutor(1) as pool:
        (found,) = choose_regions(
            [Candidates("one", pixels, boxes)], RegionNetwork(network, "pooled", "none"), options, pool
        )
    whole = network.features(planes(network.crops(pixels, load_extraction("whole"))[None]), "pooled")
    np.testing.assert_allclose(found.described.vectors[0], whole[0], rtol=1e-4, atol=1e-5)
    assert len(found.boxes) == 3
    assert np.ptp(found.described.vectors, axis=0).max() > 0.01, "regions differ"


def test_regions_need_classes_or_detections(clip, vit):
    with pytest.raises(InputError, match=r"open_clip:ViT-B-32 has no classes.*detections"):
        _check_classes(clip[1], ["a"])
    with pytest.raises(InputError, match="has 1000 classes, but its `classes` names 1"):
        _check_classes(vit[1], ["a"])
    _check_classes(vit[1], ["a"] * 1000)
    described = RegionNetwork(clip[1], "pooled", "none").describe_crops(torch.zeros(2, 64, 64, 3, dtype=torch.uint8))
    assert described.vectors.shape == (2, 32), "detections of the user's are described without classes"


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"architecture": "timm:test_vti"}, "timm has no network 'test_vti'; is 'test_vit'"),
        ({"architecture": "open_clip:ViT-B-23"}, r"open_clip has no network 'ViT-B-23'; is 'ViT-B-32'"),
        ({"architecture": "torchvision:vit_b_61"}, "torchvision has no network 'vit_b_61'; is 'vit_b_16'"),
        ({"architecture": "torchvision:resnet18"}, "is not a ViT or Swin transformer; write `architecture: resnet18`"),
        ({"architecture": "timm:test_vit.never"}, r"timm:test_vit\.never cannot be built with the options {}: .*never"),
        (
            {"architecture": "torchvision:swin_t.V3"},
            r"swin_t\.V3 cannot be built .*no weights V3; known: IMAGENET1K_V1",
        ),
        ({"architecture": "open_clip:ViT-B-32.never"}, r"cannot be built .*no weights never; known: openai, laion400m"),
        ({"options": {"depht": 3}}, r"cannot be built with the options {'depht': 3}: .*depht"),
        ({"options": {"depth": 3}}, r"vit\.safetensors: blocks\.\S+: expected no such key.* another"),
        (
            {"architecture": "open_clip:ViT-B-32", "options": CLIP_OPTIONS},
            r"vit\.safetensors: \S+: .* for open_clip",
        ),
    ],
)
def test_what_does_not_fit_is_named(changes, said, vit, folder):
    with pytest.raises(InputError, match=said):
        load_network({**TIMM, **changes}, folder / "vit.safetensors")


def test_other_layers_are_refused(vit):
    with pytest.raises(InputError, match="no layer 'fc7'; known: pooled, patches"):
        vit[1].node("fc7")


def test_options_reach_the_library(folder):
    model = timm_model("test_vit", num_classes=7)
    settings = {**TIMM, "options": {"num_classes": 7}, "layers": LAYERS}
    network = load_network(settings, save(model, folder / "seven.safetensors"))
    assert network.classes == 7
    assert network.outputs(batch_of(network)[0], [CLASSES])[0].shape == (3, 7)
