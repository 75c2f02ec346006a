"""CNN features as extracted here, in the precision of `auto` and cut behind their layer, against eager float32."""

import tempfile
from collections.abc import Callable
from pathlib import Path

import torch
import torchvision
from safetensors.torch import load_file, save_file
from torchvision.transforms.functional import convert_image_dtype, normalize

from benchmarks._timing import Contender, median_ratio
from densevse.config.environment import JOB_ENVIRONMENT
from densevse.runtime.numerics import fastest_precision, set_up
from densevse.vision.networks import load_network

NETWORKS = {"vgg19": ("fc7", 16), "alexnet": ("fc7", 64), "mobilenet_v2": ("pooled", 32)}
TARGETS = {"vgg19": ">= 3", "alexnet": ">= 3", "mobilenet_v2": "-"}
PAIRS = 5
MEAN, STD = [0.485, 0.456, 0.406], [0.229, 0.224, 0.225]


def rows() -> list[tuple[str, str, float, str]]:
    """What, the target, the measured ratio, a note. Weights and pixels are random, which takes as long as real ones.

    The precision is what `auto` chooses here; in float32 no network may be slower than plainly run.
    """
    set_up(torch.get_num_threads())  # also keeps the processes below from instructions that the processor refuses
    precision = fastest_precision()
    with tempfile.TemporaryDirectory() as folder:
        return [
            (
                f"{name} {layer}, batch of {batch}: speed / eager float32",
                TARGETS[name] if precision == "bf16" else ">= 1",
                speed_up(name, layer, batch, precision, Path(folder, "weights.safetensors")),
                f"{precision}, channels last",
            )
            for name, (layer, batch) in NETWORKS.items()
        ]


def speed_up(name: str, layer: str, batch: int, precision: str, weights: Path) -> float:
    torch.manual_seed(0)
    save_file(torchvision.models.get_model(name, weights=None).state_dict(), weights)
    # OpenMP and glibc read their environment when a process starts; ours is that of the workflow's jobs.
    with (
        Contender(ours, name, layer, batch, precision, weights, environment=JOB_ENVIRONMENT) as extracting,
        Contender(plain, name, batch, weights, environment={}) as eager,
    ):
        return median_ratio(extracting.seconds, eager.seconds, PAIRS)


def ours(name: str, layer: str, batch: int, precision: str, weights: Path) -> Callable[[], object]:
    """A batch as the workflow extracts it."""
    network = load_network({"architecture": name, "layers": {"whole": layer}, "precision": precision}, weights)
    pixels = some_pixels(batch)
    return lambda: network.features(pixels, layer).cpu()


def plain(name: str, batch: int, weights: Path) -> Callable[[], object]:
    """A batch as a user of torchvision would pass it through the network."""
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    network = torchvision.models.get_model(name, weights=None).eval().to(device)
    network.load_state_dict(load_file(weights))
    pixels = some_pixels(batch)

    @torch.inference_mode()
    def forward() -> None:
        scaled = convert_image_dtype(pixels.to(device))
        network(normalize(scaled, MEAN, STD)).cpu()

    return forward


def some_pixels(batch: int) -> torch.Tensor:
    return torch.randint(256, (batch, 3, 224, 224), dtype=torch.uint8)
