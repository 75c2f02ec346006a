"""The tasks of a concept network, on visible concepts: each is a direction, or a colour."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch
from safetensors.torch import load_file, save_file

from densevse.artifacts.schemas.datasets import IMAGES
from densevse.artifacts.schemas.features import IMAGE_FEATURES, REGION_FEATURES
from densevse.artifacts.schemas.sentences import CONCEPTS, IMAGE_CONCEPTS
from densevse.config.networks import NetworkInput
from densevse.models.concepts import score_concepts
from densevse.scenes.network import ScenesNet
from densevse.training.concepts import ConceptTables, PixelConceptJob
from densevse.vision.networks import load_module
from snakeproof import schema
from snakeproof.errors import InputError
from snakeproof.seals import sealed_file
from snakeproof.statements import read_statement, statement_metadata
from snakeproof.store import FeatureStore
from tests.concepts import NAMES, D, folder, job, tables, written
from tests.trainings import train_all, train_head

__all__ = ["folder"]


@pytest.mark.parametrize("learns_from", ["whole", "regions"])
def test_a_head_learns_scores(folder, tmp_path, learns_from):
    files = written(tmp_path)
    train_head(tables(folder), [str(folder / "regions.parquet")], job(learns_from=learns_from), files)
    assert Path(files.classes).read_text().splitlines() == NAMES
    assert read_statement(files.weights).found == {"round": 0, "device": "cpu", "computed_in": "float32"}
    assert pd.read_parquet(files.history)["mean_average_precision"].max() > 0.7


def test_scores_are_the_largest_over_regions_and_those_of_the_whole(folder, tmp_path):
    random = np.random.default_rng(1)
    weights = {"weight": torch.from_numpy(random.normal(size=(3, D))).float(), "bias": torch.tensor([0.1, 0.2, 0.3])}
    with sealed_file(tmp_path / "head.safetensors") as head:
        save_file(weights, head, statement_metadata())
    views = {view: str(tmp_path / view / "00-of-01.parquet") for view in ("concepts", "concepts_whole")}
    score_concepts(str(folder / "regions.parquet"), str(tmp_path / "head.safetensors"), "head", 1, **views)
    regions = FeatureStore([folder / "regions.parquet"], REGION_FEATURES)
    logits = regions.gather(range(len(regions))) @ weights["weight"].numpy().T + weights["bias"].numpy()
    probability = pd.DataFrame(1 / (1 + np.exp(-logits))).assign(image_id=regions.rows["image_id"])
    expected = {"concepts": probability.groupby("image_id").max(), "concepts_whole": None}
    expected["concepts_whole"] = probability[regions.rows["rank"] == 0].set_index("image_id")
    for view, path in views.items():
        store = FeatureStore([path], IMAGE_FEATURES)
        found = pd.DataFrame(store.gather(range(len(store))), index=store.rows["image_id"])
        assert np.allclose(found, expected[view].loc[found.index], atol=1e-3), view


def test_all_layers_learn_from_pixels(folder, tmp_path):
    start = str(tmp_path / "start.safetensors")
    torch.manual_seed(0)
    save_file(ScenesNet(4).state_dict(), start)
    of = {"built_from": "scenes_net", "architecture": "scenes_net", "pixels": NetworkInput(size=48)}
    described = job(6, 0.003, PixelConceptJob, **of)
    files = written(tmp_path)
    train_all(tables(folder), {"images": str(folder / "images")}, start, described, files)
    history = pd.read_parquet(files.history)
    assert history["mean_average_precision"].max() > 0.9
    assert load_file(files.weights)["classifier.fc8.bias"].shape == (3,)
    assert load_module("scenes_net", files.weights)(torch.rand(1, 3, 48, 48)).shape == (1, 3)


def test_a_head_of_other_features_is_refused(folder, tmp_path):
    other = str(tmp_path / "other.safetensors")
    with sealed_file(other) as temporary:
        save_file({"weight": torch.zeros(3, D + 1), "bias": torch.zeros(3)}, temporary, statement_metadata())
    with pytest.raises(InputError, match=f"vectors of length {D + 1}, but those of .* have {D}"):
        score_concepts(str(folder / "regions.parquet"), other, "head", 1, "best.parquet", "whole.parquet")


def test_an_image_without_concepts_has_none(folder, tmp_path):
    found = ConceptTables.read(**tables(folder))
    assert (~found.present.any(axis=1)).any(), "some images of the made-up data have none"
    train_head(tables(folder), [str(folder / "regions.parquet")], job(1), written(tmp_path))


def test_no_concepts_at_all_is_an_error_that_says_why(folder, tmp_path):
    schema.write([], CONCEPTS, tmp_path / "none.parquet")
    with pytest.raises(InputError, match=r"none\.parquet: there is no concept to predict; check the parses"):
        ConceptTables.read(**{**tables(folder), "concepts": str(tmp_path / "none.parquet")})


def test_an_image_that_the_concepts_do_not_know_is_named(folder, tmp_path):
    schema.write([{"image_id": "train0", "concepts": [0]}], IMAGE_CONCEPTS, tmp_path / "few.parquet")
    with pytest.raises(InputError, match=r"103 images are missing, the first is 'train1'"):
        ConceptTables.read(**{**tables(folder), "image_concepts": str(tmp_path / "few.parquet")})


def test_a_validation_split_without_any_concept_cannot_select(folder, tmp_path):
    ids = schema.read(tables(folder)["images"], IMAGES)["image_id"]
    rows = [{"image_id": image, "concepts": [] if image.startswith("val") else [0]} for image in ids]
    schema.write(rows, IMAGE_CONCEPTS, tmp_path / "image_concepts.parquet")
    given = {**tables(folder), "image_concepts": str(tmp_path / "image_concepts.parquet")}
    with pytest.raises(InputError, match="no image of the split has any of the concepts"):
        train_head(given, [str(folder / "regions.parquet")], job(1), written(tmp_path))
