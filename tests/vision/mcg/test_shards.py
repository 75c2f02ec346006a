"""From contour maps to artifacts, with masks: rankers' training data, segments, and their overlap with objects."""

from dataclasses import replace

import cv2
import numpy as np
import pandas as pd
import pytest

from densevse.artifacts.schemas.datasets import IMAGES
from densevse.artifacts.schemas.proposals import (
    CANDIDATES,
    CONTOURS,
    MASKS,
    PROPOSALS,
    SEGMENT_OVERLAP,
    SEGMENTS,
    run_lengths,
    runs_to_mask,
)
from densevse.vision.mcg.candidates import candidates
from densevse.vision.mcg.contours import own_contour_maps
from densevse.vision.mcg.forest import Ranker, fold, grow_forest
from densevse.vision.mcg.hierarchy import hierarchies
from densevse.vision.mcg.learning import learn_from_masks, learn_ranker_from_masks
from densevse.vision.mcg.shards import (
    RANKED,
    decode_map,
    draw_candidates,
    images_with_contours,
    overlaps,
    ranked_rows,
    ranker_sample,
    sample_candidates,
    write_ranked_rows,
)
from snakeproof.errors import InputError
from snakeproof.schema import arrow_table, read, write
from tests.vision.mcg.pictures import masks, noise

OPTIONS = {"superpixels": 1000, "boxes": 200, "candidates": [[40] * 3, [30] * 3, [20] * 3, [20] * 3]}
NAMES = ["a", "b", "c"]
HEIGHT, WIDTH = 48, 60


@pytest.fixture(scope="module")
def maps():
    """Two contour maps of each of three images."""
    rows = [
        (name, scale, cv2.imencode(".png", noise(HEIGHT, WIDTH, seed, 3 * place))[1].tobytes())
        for seed, name in enumerate(NAMES)
        for place, scale in ((1, 1.0), (2, 0.5))
    ]
    return pd.DataFrame(rows, columns=["image_id", "scale", "picture"])


@pytest.fixture(scope="module")
def sizes():
    """Those of the images; the last has twice the size that it is worked on."""
    return pd.DataFrame({"image_id": NAMES, "height": [HEIGHT] * 2 + [96], "width": [WIDTH] * 2 + [120]})


@pytest.fixture(scope="module")
def images(maps, sizes):
    return images_with_contours(maps, sizes)


@pytest.fixture(scope="module")
def objects():
    """Two objects each of the first and the last image."""
    rows = []
    for name, scale in (("a", 1), ("c", 2)):
        for left in (0, 30):
            mask = np.zeros((HEIGHT * scale, WIDTH * scale), bool)
            mask[: 30 * scale, left * scale : (left + 20) * scale] = True
            rows.append((name, "thing", *mask.shape, run_lengths(mask)))
    return pd.DataFrame(rows, columns=["image_id", "class_name", "height", "width", "runs"])


@pytest.fixture(scope="module")
def sample(images, objects):
    return ranker_sample(images, objects, OPTIONS, 1)


@pytest.fixture(scope="module")
def ranker(sample):
    features, jaccards = np.stack(sample["features"]), sample["jaccard"].to_numpy()
    return Ranker([grow_forest(features, jaccards, 3, 5, seed) for seed in range(2)])


def test_overlaps_are_those_of_the_masks():
    found = hierarchies([noise(HEIGHT, WIDTH), noise(HEIGHT, WIDTH, 1, 6)], 1000)
    chosen = candidates(found, OPTIONS["candidates"])
    objects = [np.random.default_rng(seed).random((HEIGHT, WIDTH)) < 0.4 for seed in range(2)]
    drawn = masks(chosen, found.superpixels)
    expected = [[(mask & one).sum() / (mask | one).sum() for one in objects] for mask in drawn]
    assert overlaps(chosen, found.superpixels, objects) == pytest.approx(np.array(expected), abs=1e-6)


def test_the_best_candidate_for_each_object_is_learned_from():
    jaccards = np.random.default_rng(0).random((500, 3), np.float32)
    drawn = draw_candidates(jaccards, 0)
    assert set(jaccards.argmax(axis=0)) <= set(drawn)
    assert 30 <= len(drawn) <= 33
    assert (drawn == draw_candidates(jaccards, 0)).all()


def test_only_images_with_objects_teach(sample):
    arrow_table(sample, CANDIDATES, "a test")
    assert set(sample["image_id"]) == {"a", "c"}
    assert (sample["jaccard"] > 0).any()


def test_a_forest_learns_nothing_from_its_own_fold():
    names = [str(number) for number in range(30)]
    sample = pd.DataFrame(
        {"image_id": names, "features": [np.zeros(16, np.float32)] * 30, "jaccard": [fold(name, 3) for name in names]}
    )
    ranker = learn_from_masks(sample, 3, {"trees": 1, "leaf": 100}, 0)
    for left, forest in enumerate(ranker.forests):
        others = [fold(name, 3) for name in names if fold(name, 3) != left]
        # A tree of one leaf says the mean of a draw with replacement of what it learned from.
        assert min(others) <= forest.predict(np.zeros((1, 16), np.float32))[0] <= max(others)
    with pytest.raises(InputError, match="two folds"):
        learn_from_masks(sample[:1], 3, {"trees": 1, "leaf": 1}, 0)


@pytest.fixture
def shard(tmp_path, maps, sizes, objects):
    """The files of a shard by the names of jobs' inputs."""
    table = sizes.assign(source="", file="", split=["train", "train", "val"], sha256="", captions=0, status="ok")
    inputs = {name: str(tmp_path / f"{name}.parquet") for name in ("image_table", "contours", "masks")}
    write(table.assign(family=table["image_id"]), IMAGES, inputs["image_table"])
    write(maps.astype({"scale": "float32"}), CONTOURS, inputs["contours"])
    write(objects, replace(MASKS, rules=()), inputs["masks"])
    return inputs


def test_candidates_are_of_training_images(tmp_path, shard):
    path = str(tmp_path / "00-of-01.parquet")
    sample_candidates(**shard, options=OPTIONS, threads=1, output=path)
    assert set(read(path, CANDIDATES)["image_id"]) == {"a"}


@pytest.mark.long
def test_a_ranker_that_was_learned_orders_the_proposals_of_a_shard(tmp_path, shard, sample):
    write(sample, CANDIDATES, tmp_path / "sample.parquet")
    ranker, masks = str(tmp_path / "ranker.safetensors"), shard.pop("masks")
    learn_ranker_from_masks(
        [str(tmp_path / "sample.parquet")], {"dataset": "d", "shards": 1, "folds": 5}, {"trees": 2, "leaf": 5}, ranker
    )
    given = {**shard, "ranker": ranker, "options": OPTIONS, "threads": 1}
    for artifact, schema in (("proposals", PROPOSALS), ("segments", SEGMENTS)):
        path = str(tmp_path / artifact / "00-of-01.parquet")
        write_ranked_rows(**given, artifact=artifact, output=path)
        assert set(read(path, schema)["image_id"]) == {*NAMES}
    path = str(tmp_path / "overlap/00-of-01.parquet")
    write_ranked_rows(**given, artifact="segment_overlap", masks=masks, output=path)
    assert set(read(path, SEGMENT_OVERLAP)["image_id"]) == {"a", "c"}


@pytest.mark.long
def test_segments_are_the_proposals_in_the_pixels_of_the_image(images, ranker):
    found, boxes = (ranked_rows(artifact, images, ranker, OPTIONS, 1) for artifact in ("segments", "proposals"))
    arrow_table(found, SEGMENTS, "a test")
    arrow_table(boxes, PROPOSALS, "a test")
    for name, group in boxes.groupby("image_id"):
        first = found[(found["image_id"] == name) & (found["rank"] == 0)].iloc[0]
        rows, columns = np.nonzero(runs_to_mask(first["runs"], first["height"], first["width"]))
        drawn = [columns.min(), rows.min(), np.ptp(columns) + 1, np.ptp(rows) + 1]
        assert group[["x", "y", "width", "height"]].iloc[0].tolist() == drawn


@pytest.mark.long
def test_more_segments_cover_objects_better(images, objects, ranker):
    found = ranked_rows("segment_overlap", images, ranker, OPTIONS, 1, objects)
    arrow_table(found, SEGMENT_OVERLAP, "a test")
    assert set(found["image_id"]) == {"a", "c"}
    table = found.pivot(index=["image_id", "object"], columns="segments", values="jaccard")
    assert len(table) == 4
    assert (table[100] <= table[300]).all()
    assert (table[0] == table[1000]).all()


def test_contour_maps_of_the_users_are_read_at_the_size_that_is_worked_on(tmp_path):
    rows = pd.DataFrame({"image_id": ["a"], "file": ["photos/7.jpg"], "height": [40], "width": [60], "status": ["ok"]})
    options = {"scales": [0.5, 1], "pixels": 600}
    for scale, side in (("1", 60), ("0.5", 30)):
        (tmp_path / scale).mkdir()
        cv2.imwrite(str(tmp_path / scale / "7.png"), noise(side * 2 // 3, side))
    found = own_contour_maps(rows, str(tmp_path), options)
    arrow_table(found, CONTOURS, "a test")
    assert found["scale"].tolist() == [1, 0.5]
    assert [decode_map(picture).shape for picture in found["picture"]] == [(20, 30)] * 2
    (tmp_path / "0.5/7.png").unlink()
    with pytest.raises(InputError, match=r"0\.5/7\.png: not a grey picture"):
        own_contour_maps(rows, str(tmp_path), options)


def test_a_contour_map_of_the_users_may_be_named_with_other_accents(tmp_path):
    file = "caf\u00e9.jpg"
    rows = pd.DataFrame({"image_id": ["a"], "file": [file], "height": [20], "width": [30], "status": ["ok"]})
    (tmp_path / "1").mkdir()
    (tmp_path / "1/cafe\u0301.png").write_bytes(cv2.imencode(".png", noise(20, 30))[1].tobytes())
    assert len(own_contour_maps(rows, str(tmp_path), {"scales": [1], "pixels": 600})) == 1


def test_no_image_gives_no_rows(ranker):
    for artifact, (schema, _) in RANKED.items():
        assert arrow_table(ranked_rows(artifact, [], ranker, OPTIONS, 1), schema, "a test").num_rows == 0
