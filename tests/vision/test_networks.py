import pickle
import subprocess
import sys

import pytest
import torch
import torchvision
from safetensors.torch import save_file
from torch.nn import functional

from densevse.config.networks import CLASSES
from densevse.config.registries import ARCHITECTURES
from densevse.vision.networks import load_module, load_network
from snakeproof.errors import InputError

SQUEEZENET = {
    "architecture": "squeezenet1_0",
    "layers": {"whole": "pooled", "grid": "conv"},
    "nodes": {"conv": "features", "pooled": "features"},
    "precision": "fp32",
}
MEAN, STD = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)


@pytest.fixture(scope="module")
def squeezenet():
    torch.manual_seed(0)
    return torchvision.models.get_model("squeezenet1_0", weights=None).eval()


@pytest.fixture(scope="module")
def weights(squeezenet, tmp_path_factory):
    path = tmp_path_factory.mktemp("weights") / "squeezenet.pth"
    torch.save(squeezenet.state_dict(), path)
    return path


@pytest.fixture(scope="module")
def pixels():
    generator = torch.Generator().manual_seed(0)
    return torch.randint(256, (5, 3, 96, 96), dtype=torch.uint8, generator=generator)


def scaled(pixels, mean=MEAN, std=STD):
    return (pixels / 255 - torch.tensor(mean)[:, None, None]) / torch.tensor(std)[:, None, None]


@torch.inference_mode()
def test_layers_are_those_of_torchvisions_own_forward_pass(squeezenet, weights, pixels):
    network = load_network(SQUEEZENET, weights)
    maps = squeezenet.features(scaled(pixels))
    torch.testing.assert_close(network.features(pixels, "pooled"), maps.mean((2, 3)), rtol=1e-4, atol=1e-5)
    torch.testing.assert_close(network.grid(pixels, "conv"), maps.flatten(2).mT, rtol=1e-4, atol=1e-5)
    torch.testing.assert_close(network.outputs(pixels, [CLASSES])[0], squeezenet(scaled(pixels)), rtol=1e-4, atol=1e-5)


def test_several_layers_come_of_one_pass(weights, pixels):
    network = load_network(SQUEEZENET, weights)
    maps, again, classes = network.outputs(pixels, ["conv", "pooled", "classes"])
    assert torch.equal(maps, again)
    assert torch.equal(classes, network.outputs(pixels, [CLASSES])[0])


def test_nothing_behind_the_layer_is_computed(weights, pixels):
    network = load_network(SQUEEZENET, weights)
    network.features(pixels, "pooled")
    network.outputs(pixels, [CLASSES])
    ran = []
    network.module.classifier[1].register_forward_hook(lambda *_: ran.append("classifier"))
    network.features(pixels, "pooled")
    assert ran == []
    network.outputs(pixels, [CLASSES])
    assert ran == ["classifier"]


def test_mean_and_std_are_those_of_the_configuration(squeezenet, weights, pixels):
    other = {"mean": (0.5, 0.4, 0.3), "std": (0.5, 0.6, 0.7)}
    found = load_network(SQUEEZENET | other, weights).features(pixels, "pooled")
    with torch.inference_mode():
        expected = squeezenet.features(scaled(pixels, **other)).mean((2, 3))
    torch.testing.assert_close(found, expected, rtol=1e-4, atol=1e-5)
    assert not torch.allclose(found, load_network(SQUEEZENET, weights).features(pixels, "pooled"), rtol=1e-2)


@pytest.mark.slow
def test_bf16_is_close_to_fp32_and_not_the_same(weights, pixels):
    exact, rounded = (
        load_network(SQUEEZENET | {"precision": precision}, weights).features(pixels, "pooled")
        for precision in ("fp32", "bf16")
    )
    assert rounded.dtype == torch.float32
    assert not torch.equal(exact, rounded)
    assert functional.cosine_similarity(exact, rounded).min() > 0.999


def test_safetensors_and_torch_files_give_the_same_network(squeezenet, weights, pixels, tmp_path):
    save_file(squeezenet.state_dict(), tmp_path / "weights.safetensors")
    found = [
        load_network(SQUEEZENET, path).features(pixels, "pooled")
        for path in (weights, tmp_path / "weights.safetensors")
    ]
    assert torch.equal(*found)


@pytest.mark.parametrize(
    "wrap",
    [
        lambda state: {f"module.{key}": value for key, value in state.items()},
        lambda state: {f"_orig_mod.module.{key}": value for key, value in state.items()},
        lambda state: {key.replace("features.", "features.module."): value for key, value in state.items()},
        lambda state: {"epoch": 3, "state_dict": {f"module.{key}": value for key, value in state.items()}},
        lambda state: {"model": state, "optimizer": {"lr": 0.1}},
    ],
)
def test_weights_of_a_wrapped_network_or_in_a_checkpoint_are_the_same_weights(squeezenet, weights, tmp_path, wrap):
    torch.save(wrap(squeezenet.state_dict()), tmp_path / "wrapped.pth")
    found, expected = (load_module("squeezenet1_0", path).state_dict() for path in (tmp_path / "wrapped.pth", weights))
    assert found.keys() == expected.keys()
    assert all(torch.equal(found[key], expected[key]) for key in found)


@pytest.mark.parametrize(
    ("architecture", "layer", "shape"),
    [
        ("alexnet", "fc7", (4096,)),
        ("vgg19", "fc7", (4096,)),
        ("vgg19", "conv5_4", (512, 14, 14)),
        ("resnet152", "pooled", (2048, 1, 1)),
        ("resnet152", "fc", (1000,)),
        ("mobilenet_v2", "pooled", (1280, 7, 7)),
        ("squeezenet1_0", "pooled", (512, 13, 13)),
    ],
)
def test_the_papers_layers_have_their_shapes_and_are_behind_the_relu(architecture, layer, shape):
    """Shapes are followed without computing; no weights are needed."""
    from torchvision.models.feature_extraction import create_feature_extractor

    node = ARCHITECTURES[architecture].layers[layer]
    with torch.device("meta"):
        module = torchvision.models.get_model(architecture, weights=None).eval()
        cut = create_feature_extractor(module, [node], suppress_diff_warning=True)
        assert cut(torch.empty(2, 3, 224, 224))[node].shape == (2, *shape)
    if layer in ("fc7", "conv5_4"):
        assert isinstance(module.get_submodule(node), torch.nn.ReLU)


def test_a_layer_or_grid_that_does_not_exist_is_named(weights, pixels):
    network = load_network(SQUEEZENET, weights)
    with pytest.raises(InputError, match="squeezenet1_0 has no layer 'fc7'; known: conv, pooled, classes"):
        network.features(pixels, "fc7")
    with pytest.raises(InputError, match="'classes' of squeezenet1_0 is not a grid"):
        network.grid(pixels, "classes")


def test_weights_that_do_not_fit_are_named_with_key_and_shapes(squeezenet, tmp_path):
    path = tmp_path / "weights.pth"
    state = squeezenet.state_dict()
    torch.save(state | {"features.0.weight": torch.zeros(96, 3, 5, 5)}, path)
    with pytest.raises(
        InputError, match=r"weights\.pth: features\.0\.weight: expected shape \(96, 3, 7, 7\) .*\(96, 3, 5, 5\)"
    ):
        load_module("squeezenet1_0", path)
    torch.save({key: value for key, value in state.items() if key != "features.0.bias"}, path)
    with pytest.raises(InputError, match=r"features\.0\.bias: expected shape \(96,\) .*found no such key"):
        load_module("squeezenet1_0", path)
    torch.save(state | {"extra.bias": torch.zeros(1)}, path)
    with pytest.raises(InputError, match=r"extra\.bias: expected no such key .*found shape \(1,\)"):
        load_module("squeezenet1_0", path)
    with pytest.raises(InputError, match=r"expected shape .* for alexnet"):
        load_module("alexnet", path)


def test_old_files_without_batch_counters_are_read(tmp_path):
    state = torchvision.models.get_model("mobilenet_v2", weights=None).state_dict()
    old = {key: value for key, value in state.items() if not key.endswith("num_batches_tracked")}
    torch.save(old, tmp_path / "old.pth")
    module = load_module("mobilenet_v2", tmp_path / "old.pth")
    assert not any(tensor.is_meta for tensor in module.state_dict().values())
    assert not module.training


class Malicious:
    def __reduce__(self):
        return (pytest.fail, ("code in a weights file was executed",))


@pytest.mark.parametrize("name", ["weights.pth", "weights.safetensors"])
def test_files_that_are_no_weights_are_errors_and_run_no_code(weights, tmp_path, name):
    path = tmp_path / name
    contents = [
        b"",
        b"<html>not found</html>",
        b"\x80\x02.",
        weights.read_bytes()[:-1000],
        pickle.dumps(Malicious(), protocol=2),
    ]
    for content in contents:
        path.write_bytes(content)
        with pytest.raises(InputError, match=rf"{name}: expected a state dict"):
            load_module("squeezenet1_0", path)
    path.unlink()
    with pytest.raises(InputError, match="no such file"):
        load_module("squeezenet1_0", path)


def test_things_that_are_not_tensors_and_unknown_architectures_are_errors(weights, tmp_path):
    for content in ({"epoch": 3}, {"state_dict": {"epoch": 3}}, [1, 2]):
        torch.save(content, tmp_path / "checkpoint.pth")
        with pytest.raises(InputError, match="expected a state dict"):
            load_module("squeezenet1_0", tmp_path / "checkpoint.pth")
    torch.save({1: torch.zeros(2)}, tmp_path / "checkpoint.pth")
    with pytest.raises(InputError, match=r"checkpoint\.pth: 1: expected no such key"):
        load_module("squeezenet1_0", tmp_path / "checkpoint.pth")
    with pytest.raises(InputError, match=r"no architecture 'squeezenet'; known: alexnet, .*; is 'squeezenet1_.' meant"):
        load_module("squeezenet", weights)
    with pytest.raises(InputError, match="precision"):
        load_network(SQUEEZENET | {"precision": "fp8"}, weights)


def test_networks_load_neither_the_compiler_of_torch_nor_triton():
    program = "import sys, densevse.vision.networks; sys.exit(bool({'torch._dynamo', 'triton'} & set(sys.modules)))"
    subprocess.run([sys.executable, "-c", program], check=True)


def test_torchvision_asks_the_compiler_of_torch_when_it_needs_an_answer():
    asked = "sys.modules['torchvision.ops.roi_align'].is_compile_supported('cpu')"
    program = f"import sys, densevse.vision.networks; print({asked}, 'torch._dynamo' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True)
    assert done.stdout.split() == ["True", "True"]
