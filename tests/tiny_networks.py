"""Networks of libraries that are small and untrained: their entries in config/networks, and their weights as files."""

import logging
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import save_file

LAYERS = {"whole": "pooled", "grid": "patches", "regions": "pooled"}
CLIP_OPTIONS: dict[str, Any] = {
    "embed_dim": 32,
    "vision_cfg": {"layers": 2, "width": 32, "head_width": 16, "patch_size": 16, "image_size": 64},
    "text_cfg": {"context_length": 16, "vocab_size": 49408, "width": 32, "heads": 2, "layers": 1},
}
CLIP = {"architecture": "open_clip:ViT-B-32", "options": CLIP_OPTIONS, "layers": LAYERS, "precision": "fp32"}
TIMM = {"architecture": "timm:test_vit", "layers": LAYERS, "precision": "fp32"}


def clip_model(**options: Any) -> Any:
    import open_clip

    logging.disable(logging.WARNING)
    try:
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(0)
            return open_clip.create_model("ViT-B-32", **{**CLIP_OPTIONS, **options}).eval()
    finally:
        logging.disable(logging.NOTSET)


def timm_model(name: str, **options: Any) -> Any:
    import timm

    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        return timm.create_model(name, **options).eval()


def save(model: Any, path: Path) -> Path:
    save_file({name: value.contiguous() for name, value in model.state_dict().items()}, path)
    return path
