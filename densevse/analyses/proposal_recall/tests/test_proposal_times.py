"""The times of proposers: every step of each is measured, on images of a folder."""

import cv2
import numpy as np
import pytest
import torch

from densevse.analyses.proposal_recall.times import write_times_of_mcg, write_times_of_search
from densevse.artifacts.identity import Identity, read_identity
from densevse.artifacts.schemas.proposals import PROPOSAL_TIMES
from densevse.vision.mcg.forest import Ranker, grow_forest, save_ranker
from snakeproof import schema
from snakeproof.statements import Statement, making
from tests.pictures import write_images
from tests.vision.mcg.pictures import noise, structured_edges

STEPS = ["contours", "hierarchies", "candidates", "features", "qualities", "order"]


@pytest.fixture
def photographs(tmp_path):
    """The files of a data set of two readable photographs and one that is not, as the jobs take them."""
    threads = torch.get_num_threads(), cv2.getNumThreads()
    for number in range(2):
        cv2.imwrite(str(tmp_path / f"{number}.png"), cv2.merge([noise(80, 100, number + shift) for shift in range(3)]))
    images = write_images(tmp_path, "012", width=100, height=80, status=["ok", "ok", "missing"])
    yield {"image_table": images, "sources": {"images": str(tmp_path)}}
    torch.set_num_threads(threads[0])
    cv2.setNumThreads(threads[1])


def test_selective_search_is_one_step(photographs, tmp_path):
    options = {"mode": "single", "height": None, "minimum_side": 10, "boxes": 100}
    output = str(tmp_path / "times.parquet")
    with making(Statement(wildcards={"dataset": "scenes", "proposer": "search"})):
        write_times_of_search(**photographs, options=options, output=output)
    found = schema.read(output, PROPOSAL_TIMES)
    assert found["step"].tolist() == ["search"]
    assert found["seconds"].min() > 0
    assert found["images"].tolist() == [2]
    assert read_identity(output) == Identity("scenes", "search")


def test_mcg_is_measured_step_by_step_contours_apart(photographs, tmp_path):
    random = np.random.default_rng(0)
    forest = grow_forest(random.random((200, 16), np.float32), random.random(200, np.float32), trees=3, leaf=5, seed=0)
    save_ranker(Ranker([forest]), tmp_path / "ranker.safetensors")
    options = {
        "detector": "structured_edges", "half_precision": False, "scales": [0.5, 1], "pixels": 10_000,
        "superpixels": 500, "candidates": [[20, 20, 20], [50, 50, 50]], "boxes": 100,
    }  # fmt: skip
    models = {"model": str(structured_edges(tmp_path / "model.yml")), "ranker": str(tmp_path / "ranker.safetensors")}
    output = str(tmp_path / "times.parquet")
    with making(Statement(wildcards={"dataset": "scenes", "proposer": "mcg"})):
        write_times_of_mcg(**photographs, **models, options=options, threads=1, output=output)
    found = schema.read(output, PROPOSAL_TIMES)
    assert found["step"].tolist() == STEPS
    assert found["seconds"].min() > 0
    assert read_identity(output) == Identity("scenes", "mcg")
