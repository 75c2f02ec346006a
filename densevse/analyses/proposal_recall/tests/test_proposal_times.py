"""The times of proposers: every step of each is measured, on images of a folder."""

import cv2
import numpy as np
import pandas as pd
import pytest
import torch

from densevse.analyses.proposal_recall.times import times_of_mcg, times_of_search
from densevse.artifacts.schema import arrow_table
from densevse.artifacts.schemas.proposals import PROPOSAL_TIMES
from densevse.vision.mcg.forest import Ranker, grow
from tests.vision.mcg.pictures import noise, structured_edges


@pytest.fixture
def photographs(tmp_path):
    """An image table of two readable photographs and one that is not, and the folder that they are in."""
    threads = torch.get_num_threads(), cv2.getNumThreads()
    for number in range(2):
        cv2.imwrite(str(tmp_path / f"{number}.png"), cv2.merge([noise(80, 100, number + shift) for shift in range(3)]))
    status = ["ok", "ok", "missing"]
    rows = pd.DataFrame({"image_id": list("abc"), "source": "folder", "status": status})
    yield rows.assign(file=[f"{number}.png" for number in range(3)]), {"folder": str(tmp_path)}
    torch.set_num_threads(threads[0])
    cv2.setNumThreads(threads[1])


def test_selective_search_is_one_step(photographs):
    options = {"mode": "single", "height": None, "minimum_side": 10, "boxes": 100}
    found = times_of_search(*photographs, options)
    arrow_table(found, PROPOSAL_TIMES, "a test")
    assert found["step"].tolist() == ["search"]
    assert found["seconds"].min() > 0
    assert found["images"].tolist() == [2]


def test_mcg_is_measured_step_by_step_contours_apart(photographs, tmp_path):
    random = np.random.default_rng(0)
    forest = grow(random.random((200, 16), np.float32), random.random(200, np.float32), trees=3, leaf=5, seed=0)
    options = {
        "detector": "structured_edges", "half_precision": False, "scales": [0.5, 1], "pixels": 10_000,
        "superpixels": 500, "candidates": [[20, 20, 20], [50, 50, 50]], "boxes": 100,
    }  # fmt: skip
    found = times_of_mcg(*photographs, str(structured_edges(tmp_path / "model.yml")), Ranker([forest]), options)
    arrow_table(found, PROPOSAL_TIMES, "a test")
    assert found["step"].tolist() == ["contours", "hierarchies", "candidates", "features", "qualities", "order"]
    assert found["seconds"].min() > 0
