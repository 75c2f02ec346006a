"""Pictures of the miniature data set's images, a network, and its features of crops of them."""

import io

import numpy as np
import torch
from PIL import Image
from safetensors.torch import save_file

from densevse.artifacts.schemas.datasets import IMAGES
from densevse.artifacts.schemas.features import REGION_FEATURES
from densevse.scenes.network import ScenesNet
from densevse.vision.crops import warp
from densevse.vision.networks import load_network
from snakeproof import schema
from snakeproof.store import FeatureStore, FeatureWriter

SIZE, CONTEXT = 32, 4.0
NETWORK = {
    "architecture": "scenes_net",
    "batch_size": 128,
    "layers": {"regions": "fc7"},
    "nodes": {"conv4": "features", "fc7": "classifier.relu7"},
    "mean": [0.5, 0.5, 0.5],
    "std": [0.25, 0.25, 0.25],
    "resize": SIZE,
    "size": SIZE,
    "precision": "fp32",
}
REGIONS = {"features": "crops", "context": CONTEXT, "crop_size": None}


def write_pictures(folder):
    """A picture of each image in the folder `pictures`, and network.safetensors; returns the pixels by image."""
    random = np.random.default_rng(5)
    pixels = {}
    (folder / "pictures").mkdir()
    for image in schema.read(folder / "images.parquet", IMAGES)["image_id"]:
        pixels[image] = random.integers(0, 256, (8, 8, 3), np.uint8)
        data = io.BytesIO()
        Image.fromarray(pixels[image]).save(data, "PNG")
        (folder / "pictures" / image).write_bytes(data.getvalue())
    torch.manual_seed(1)
    save_file(ScenesNet(classes=3).state_dict(), folder / "network.safetensors")
    return pixels


def write_regions(folder, pictures, **options):
    store = FeatureStore([folder / "regions.parquet"], REGION_FEATURES)
    rows = store.rows.copy()
    rows.loc[rows["rank"] > 0, ["x", "y", "width", "height"]] = [2.0, 1.0, 5.0, 6.0]
    shown = np.stack([crop_of(pictures[row.image_id], row) for row in rows.itertuples()])
    network = load_network(NETWORK, folder / "network.safetensors")
    vectors = network.features(torch.from_numpy(shown).permute(0, 3, 1, 2), "fc7").cpu().numpy()
    stated = {"network": "miniature", **NETWORK, "regions": {**REGIONS, **options}}
    with FeatureWriter(folder / "described.parquet", REGION_FEATURES, vectors.shape[1:], np.float16, **stated) as file:
        file.append(rows, vectors)


def crop_of(pixels, row):
    box = np.array([row.x, row.y, row.width, row.height], np.float32)
    return warp(pixels, box, SIZE, CONTEXT if row.rank else 0, (128, 128, 128))
