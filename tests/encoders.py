"""Tiny folders of models of transformers, with random weights and a tokenizer of a few words; nothing is fetched."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch

WORDS = ["a", "dog", "cat", "red", "ball", "runs", "on", "the", "grass", "query", "photo", ":"]
SPECIAL = ["<pad>", "<eos>", "<bos>", "<unk>", "<image>", "<mask>"]
VOCABULARY = {word: place for place, word in enumerate([*SPECIAL, *WORDS])}


def siglip2(folder: Path) -> Path:
    """SigLIP 2 of fixed size: 16 numbers a vector, images of 32 x 32 pixels."""
    from transformers import SiglipConfig, SiglipImageProcessor, SiglipModel, SiglipProcessor

    text = {"vocab_size": len(VOCABULARY), "max_position_embeddings": 8, "projection_size": 16, **_layers()}
    config = SiglipConfig(text_config=text, vision_config={"image_size": 32, "patch_size": 16, **_layers()})
    processor = SiglipProcessor(SiglipImageProcessor(size={"height": 32, "width": 32}), _tokenizer(8))
    return _save(folder, SiglipModel, config, processor)


def metaclip2(folder: Path) -> Path:
    """MetaCLIP 2: 12 numbers a vector, images of 32 x 32 pixels."""
    from transformers import CLIPImageProcessor, CLIPProcessor, MetaClip2Config, MetaClip2Model

    text = {"vocab_size": len(VOCABULARY), "max_position_embeddings": 8, "eos_token_id": 1, "bos_token_id": 2}
    vision = {"image_size": 32, "patch_size": 16, "projection_dim": 12, **_layers()}
    config = MetaClip2Config(
        text_config={**text, "projection_dim": 12, **_layers()}, vision_config=vision, projection_dim=12
    )
    pixels = CLIPImageProcessor(size={"shortest_edge": 32}, crop_size={"height": 32, "width": 32})
    return _save(folder, MetaClip2Model, config, CLIPProcessor(pixels, _tokenizer(8)))


def colpali(folder: Path) -> Path:
    """ColPali: a vector of 8 numbers for each token of a sentence, and for each of 4 patches of an image."""
    from transformers import ColPaliConfig, ColPaliForRetrieval, ColPaliProcessor, SiglipImageProcessor

    text = {"model_type": "gemma", "vocab_size": len(VOCABULARY), "num_key_value_heads": 1, "head_dim": 8, **_layers()}
    vision = {"model_type": "siglip_vision_model", "image_size": 32, "patch_size": 16, "projection_dim": 16}
    both = {
        "model_type": "paligemma",
        "text_config": text,
        "vision_config": {**vision, **_layers()},
        "image_token_index": VOCABULARY["<image>"],
        "projection_dim": 16,
        "hidden_size": 16,
    }
    pixels = SiglipImageProcessor(size={"height": 32, "width": 32})
    pixels.image_seq_length = 4
    processor = ColPaliProcessor(pixels, _tokenizer(64))
    return _save(folder, ColPaliForRetrieval, ColPaliConfig(vlm_config=both, embedding_dim=8), processor)


def _layers() -> dict[str, int]:
    return {"hidden_size": 16, "intermediate_size": 24, "num_hidden_layers": 2, "num_attention_heads": 2}


def _tokenizer(length: int, **others: str) -> Any:
    from tokenizers import Tokenizer
    from tokenizers.models import WordLevel
    from tokenizers.pre_tokenizers import Whitespace
    from tokenizers.processors import TemplateProcessing
    from transformers import PreTrainedTokenizerFast

    made = Tokenizer(WordLevel(VOCABULARY, unk_token="<unk>"))
    made.pre_tokenizer = Whitespace()
    made.post_processor = TemplateProcessing(single="$A <eos>", special_tokens=[("<eos>", VOCABULARY["<eos>"])])
    return PreTrainedTokenizerFast(
        tokenizer_object=made,
        pad_token="<pad>",
        eos_token="<eos>",
        bos_token="<bos>",
        unk_token="<unk>",
        extra_special_tokens={"image_token": "<image>", **others},
        model_max_length=length,
    )


def _save(folder: Path, kind: Callable[[Any], Any], config: Any, processor: Any) -> Path:
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        kind(config).save_pretrained(folder)
    processor.save_pretrained(folder)
    return folder


def embedding_gemma2(folder: Path) -> Path:
    """EmbeddingGemma 2, of sentences and images: 10 numbers a vector, any image."""
    from transformers import (
        EmbeddingGemma2Config,
        EmbeddingGemma2Model,
        EmbeddingGemma2Processor,
        EmbeddingGemma2VideoProcessor,
        Gemma4AudioFeatureExtractor,
        Gemma4ImageProcessor,
    )

    heads = {"num_key_value_heads": 1, "head_dim": 8, "global_head_dim": 8}
    text = {"vocab_size": len(VOCABULARY) + 1, "hidden_size_per_layer_input": 8, "embedding_dim": 10, **heads}
    vision = {"model_type": "gemma4_vision", "position_embedding_size": 64, "head_dim": 8}
    config = EmbeddingGemma2Config(
        text_config={**text, **_layers()},
        vision_config={**vision, **_layers(), "num_key_value_heads": 2},
        audio_config=None,
        boi_token_id=VOCABULARY["<bos>"],
        eoi_token_id=VOCABULARY["<eos>"],
        video_token_id=len(VOCABULARY),
        image_token_id=VOCABULARY["<image>"],
    )
    tokenizer = _tokenizer(2048, boi_token="<bos>", eoi_token="<eos>")
    pixels = Gemma4ImageProcessor(max_soft_tokens=70)
    video = EmbeddingGemma2VideoProcessor()
    processor = EmbeddingGemma2Processor(Gemma4AudioFeatureExtractor(), pixels, tokenizer, video)
    return _save(folder, EmbeddingGemma2Model, config, processor)
