"""Zero-shot CLIP in the workflow, with a small untrained network: a row of a table, and a search without training."""

import copy

import numpy as np
import pandas as pd
import pytest
from PIL import Image

from tests.projects import SMALL
from tests.tiny_networks import CLIP, clip_model, save

TABLE = "results/tables/clip.md"
FOUND_BY = "results/search/mine.parquet"


def settings() -> dict:
    values = copy.deepcopy(SMALL)
    values["networks"] = {"clip_tiny": {**CLIP, "local": "clip.safetensors"}}
    values["methods"]["clip"] = {"networks": {"whole": "clip_tiny"}}
    table = {"title": "Zero-shot", "sections": [{"dataset": "scenes"}], "measure": ["vse", "clip"], "reference": "vse"}
    values["tables"]["clip"] = table
    # A data set of which nothing is there, and whose photographs must be requested.
    asked = {"dataset": "flickr30k", "variant": "clip", "photographs": "photographs", "sentences": ["a red circle"]}
    values["searches"] = {"mine": asked}
    return values


@pytest.mark.long
def test_clip_is_a_row_and_answers_searches_without_training(finished):
    save(clip_model(), finished.folder / "clip.safetensors")
    (finished.folder / "photographs").mkdir()
    for number in range(3):
        pixels = np.random.default_rng(number).integers(256, size=(70 + number, 90, 3), dtype=np.uint8)
        Image.fromarray(pixels).save(finished.folder / f"photographs/{number}.png")
    finished.configure(settings())
    planned = finished.planned(TABLE, FOUND_BY)
    assert not {"train", "count_words", "download", "download_from_hub", "obtain_by_hand"} & planned.keys()
    finished.run(TABLE, FOUND_BY)
    rows = pd.read_csv(finished.folder / "results/tables/clip.csv", dtype=str)
    assert rows["variant"].dropna().tolist() == ["random", "vse", "clip"]
    text = (finished.folder / TABLE).read_text()
    assert "none, as nothing is trained (clip)" in text
    assert "clip_tiny is open_clip:ViT-B-32, weights from clip.safetensors, fp32" in text
    found = pd.read_parquet(finished.folder / FOUND_BY)
    assert sorted(found["image_id"]) == ["0.png", "1.png", "2.png"]
    assert found["score"].is_monotonic_decreasing
    assert not any(map(len, found["unknown_words"]))
    assert {path.name for path in (finished.folder / "results/flickr30k").iterdir()} == {"models"}
    assert finished.planned(TABLE, FOUND_BY) == {}
