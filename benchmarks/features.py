"""CNN features as extracted here, in bf16 and cut behind their layer, against eager torchvision in float32."""

import tempfile
from pathlib import Path

import torch
import torchvision
from safetensors.torch import save_file
from torchvision.transforms.functional import convert_image_dtype, normalize

from benchmarks._timing import times_as_fast
from densevse.vision.networks import load_network

NETWORKS = {"vgg19": ("fc7", 16), "alexnet": ("fc7", 64), "mobilenet_v2": ("pooled", 32)}
TARGETS = {"vgg19": ">= 3", "alexnet": ">= 3", "mobilenet_v2": "-"}
PAIRS = 5


def rows() -> list[tuple[str, str, float, str]]:
    """What, the target, the measured ratio, a note. Weights and pixels are random, which takes as long as real ones."""
    with tempfile.TemporaryDirectory() as folder:
        return [
            (f"{name} {layer}, batch of {batch}: speed / eager float32", TARGETS[name], ratio, "bf16, channels last")
            for name, (layer, batch) in NETWORKS.items()
            for ratio in [speed_up(name, layer, batch, Path(folder, "weights.safetensors"))]
        ]


def speed_up(name: str, layer: str, batch: int, weights: Path) -> float:
    torch.manual_seed(0)
    eager = torchvision.models.get_model(name, weights=None).eval()
    save_file(eager.state_dict(), weights)
    network = load_network({"architecture": name, "layers": {"whole": layer}, "precision": "bf16"}, weights)
    pixels = torch.randint(256, (batch, 3, 224, 224), dtype=torch.uint8)
    eager.to(network.device)

    def ours() -> None:
        network.features(pixels, layer).cpu()

    @torch.inference_mode()
    def plain() -> None:
        scaled = convert_image_dtype(pixels.to(network.device))
        eager(normalize(scaled, list(network.settings.mean), list(network.settings.std))).cpu()

    return times_as_fast(ours, plain, PAIRS)
