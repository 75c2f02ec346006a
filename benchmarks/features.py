"""CNN features as extracted here, with the precision of `auto` and cut after their layer, against eager float32."""

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import torch
import torchvision
from safetensors.torch import load_file, save_file
from torchvision.transforms.functional import convert_image_dtype, normalize

from benchmarks._timing import Contender, median_ratio
from densevse.config.environment import JOB_ENVIRONMENT
from densevse.config.registries import ARCHITECTURES
from densevse.runtime.numerics import fastest_precision, set_up
from densevse.vision.networks import load_network

MEAN, STD = [0.485, 0.456, 0.406], [0.229, 0.224, 0.225]


class Timed(NamedTuple):
    """A network: the layer whose outputs are kept, the images of a batch, and the target where bf16 is fast."""

    name: str
    layer: str
    batch: int
    target: str


class Sizes(NamedTuple):
    """The networks, and how often each is timed."""

    networks: tuple[Timed, ...]
    pairs: int


FULL = Sizes(
    (
        Timed("vgg19", "fc7", 8, ">= 3"),
        Timed("alexnet", "fc7", 64, ">= 3"),
        Timed("mobilenet_v2", "pooled", 32, "-"),
    ),
    pairs=3,
)
TOY = Sizes((Timed("mobilenet_v2", "pooled", 1, "-"),), pairs=1)


def rows(sizes: Sizes = FULL) -> list[tuple[str, str, float, str]]:
    """Rows of name, target, measured ratio and note; weights and pixels are random, which takes the same time.

    The precision is the one that `auto` chooses here; in float32 no network may be slower than in eager mode.
    """
    set_up(torch.get_num_threads())  # also keeps the child processes from instructions that the processor refuses
    precision = fastest_precision()
    with tempfile.TemporaryDirectory() as folder:
        return [
            (
                f"{timed.name} {timed.layer}, batch of {timed.batch}: speed / eager float32",
                timed.target if precision == "bf16" else ">= 1",
                speed_up(timed, precision, Path(folder, "weights.safetensors"), sizes.pairs),
                f"{precision}, channels last",
            )
            for timed in sizes.networks
        ]


def speed_up(timed: Timed, precision: str, weights: Path, pairs: int) -> float:
    torch.manual_seed(0)
    save_file(torchvision.models.get_model(timed.name, weights=None).state_dict(), weights)
    # OpenMP and glibc read their environment when a process starts; ours is that of the workflow's jobs.
    with (
        Contender(ours, timed, precision, weights, environment=JOB_ENVIRONMENT) as extracting,
        Contender(plain, timed, weights, environment={}) as eager,
    ):
        return median_ratio(extracting.seconds, eager.seconds, pairs)


def ours(timed: Timed, precision: str, weights: Path) -> Callable[[], object]:
    """A batch as the workflow extracts it."""
    settings = {"architecture": timed.name, "layers": {"whole": timed.layer}, "precision": precision}
    settings["nodes"] = dict(ARCHITECTURES[timed.name].layers)
    network, pixels = load_network(settings, weights), some_pixels(timed.batch)
    return lambda: network.features(pixels, timed.layer).cpu()


def plain(timed: Timed, weights: Path) -> Callable[[], object]:
    """A batch as a user of torchvision would pass it through the network."""
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    network = torchvision.models.get_model(timed.name, weights=None).eval().to(device)
    network.load_state_dict(load_file(weights))
    pixels = some_pixels(timed.batch)

    @torch.inference_mode()
    def forward() -> None:
        scaled = convert_image_dtype(pixels.to(device))
        network(normalize(scaled, MEAN, STD)).cpu()

    return forward


def some_pixels(batch: int) -> torch.Tensor:
    return torch.randint(256, (batch, 3, 224, 224), dtype=torch.uint8)
