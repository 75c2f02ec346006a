"""The tasks of a concept network, on concepts that are there to be seen: each is a direction, or a colour."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch
from PIL import Image
from safetensors.torch import load_file, save_file

from densevse.analyses.concept_precision.precision import FEWEST, VIEWS, table, write_average_precision
from densevse.artifacts import schema
from densevse.artifacts.lineage import made_from
from densevse.artifacts.schemas.concepts import AVERAGE_PRECISION, MEAN_AVERAGE_PRECISION
from densevse.artifacts.schemas.datasets import IMAGES
from densevse.artifacts.schemas.features import IMAGE_FEATURES, REGION_FEATURES
from densevse.artifacts.schemas.vocabulary import CONCEPTS, IMAGE_CONCEPTS
from densevse.artifacts.store import FeatureStore, FeatureWriter
from densevse.config.networks import NetworkInput
from densevse.config.training import NamedPhase, Training
from densevse.data.concepts import ConceptTables
from densevse.inference.concepts import score_concepts
from densevse.runtime.errors import InputError
from densevse.scenes.network import ScenesNet
from densevse.training.concepts import ConceptFiles, ConceptJob, PixelConceptJob, train_all, train_head
from densevse.vision.networks import load_module
from tests.tables import unaligned

NAMES = ["red", "green", "blue"]
SPLITS = {"train": 60, "val": 24, "test": 20}
D = 6


def vocabulary(folder, present, ids):
    kinds = {"kind": "adjective", "count": 9, "image_count": 5}
    rows = [{"index": index, "concept": name, "forms": [name], **kinds} for index, name in enumerate(NAMES)]
    schema.write(rows, CONCEPTS, folder / "concepts.parquet", {})
    rows = [{"image_id": image, "concepts": np.flatnonzero(has)} for image, has in zip(ids, present, strict=True)]
    schema.write(rows, IMAGE_CONCEPTS, folder / "image_concepts.parquet", {})


def pictures(folder, present):
    """A picture of each image: a vertical stripe in the colour of each of its concepts."""
    (folder / "images").mkdir()
    for number, has in enumerate(present):
        pixels = np.full((40, 60, 3), 90, np.uint8)
        for concept in np.flatnonzero(has):
            pixels[:, 20 * concept : 20 * concept + 20, concept] = 250
        Image.fromarray(pixels).save(folder / f"images/{number}.png")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Images of which each region shows one concept; the whole image shows a little of all that it has."""
    made, random = tmp_path_factory.mktemp("concepts"), np.random.default_rng(0)
    splits = [split for split, count in SPLITS.items() for _ in range(count)]
    present = random.random((len(splits), len(NAMES))) < 0.5
    ids = [f"{split}{number}" for number, split in enumerate(splits)]
    rows = pd.DataFrame({"image_id": ids, "split": splits, "family": ids, "source": "images", "status": "ok"})
    rows = rows.assign(file=[f"{number}.png" for number in range(len(ids))], width=60, height=40, sha256="", captions=1)
    schema.write(rows, IMAGES, made / "images.parquet", {})
    vocabulary(made, present, ids)
    pictures(made, present)
    with FeatureWriter(made / "regions.parquet", REGION_FEATURES, (D,), np.float16, {}) as file:
        for image, has in zip(ids, present, strict=True):
            vectors = random.normal(scale=0.3, size=(1 + has.sum(), D))
            for region, concept in enumerate(np.flatnonzero(has), start=1):
                vectors[region, concept] += 2
                vectors[0, concept] += 0.6
            regions = pd.DataFrame({"image_id": image, "rank": range(len(vectors)), "score": 1.0, "class_name": ""})
            file.append(regions.assign(x=0.0, y=0.0, width=8.0, height=8.0), vectors)
    return made


def tables(folder):
    return {name: str(folder / f"{name}.parquet") for name in ("images", "concepts", "image_concepts")}


def written(folder):
    return ConceptFiles(*(str(folder / name) for name in ("head.safetensors", "history.parquet", "classes.txt")))


def job(epochs=8, rate=0.1, kind=ConceptJob, **changes):
    phases = [NamedPhase(name="main", epochs=epochs, learning_rate=rate)]
    return kind(concept_network="multi", training=Training(batch_size=16), phases=phases, seed=0, **changes)


@pytest.mark.parametrize("learns_from", ["whole", "regions"])
def test_a_head_learns_scores_and_is_measured(folder, tmp_path, learns_from):
    files = written(tmp_path)
    train_head(tables(folder), [str(folder / "regions.parquet")], job(learns_from=learns_from), files)
    assert Path(files.classes).read_text().splitlines() == NAMES
    assert made_from(files.weights)["concept_network"] == "multi"
    views = {view: str(tmp_path / view / "00-of-01.parquet") for view in ("concepts", "concepts_whole")}
    score_concepts("multi", str(folder / "regions.parquet"), files.weights, "head", views)
    each, mean = str(tmp_path / "each.parquet"), str(tmp_path / "mean.parquet")
    write_average_precision(tables(folder), {view: [shard] for view, shard in views.items()}, each, mean)
    found, means = schema.read(each, AVERAGE_PRECISION), schema.read(mean, MEAN_AVERAGE_PRECISION)
    best = found.groupby("split")["average_precision"].mean()
    assert (best > found.groupby("split")["frequency"].mean() + 0.2).all()
    enough = found[(found["split"] == "val") & (found["images"] >= FEWEST)]
    val = means.set_index("split").loc["val"]
    assert val["concepts"] == len(enough)
    assert val["best_region"] == pytest.approx(enough["average_precision"].mean())
    assert val["gain"] == pytest.approx((enough["average_precision"] - enough["average_precision_whole"]).mean())
    assert val["best_region_low"] <= val["best_region"] <= val["best_region_high"]
    text = unaligned(table("Toy", schema.read(tables(folder)["concepts"], CONCEPTS), found, means).markdown())
    assert "3 concepts: 3 adjectives" in text
    assert "| red | adjective |" in text


def test_scores_are_the_largest_over_regions_and_those_of_the_whole(folder, tmp_path):
    random = np.random.default_rng(1)
    weights = {"weight": torch.from_numpy(random.normal(size=(3, D))).float(), "bias": torch.tensor([0.1, 0.2, 0.3])}
    save_file(weights, tmp_path / "head.safetensors", {"densevse.made_from": "{}"})
    views = {view: str(tmp_path / view / "00-of-01.parquet") for view in ("concepts", "concepts_whole")}
    score_concepts("multi", str(folder / "regions.parquet"), str(tmp_path / "head.safetensors"), "head", views)
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
    described = job(6, 0.003, PixelConceptJob, architecture="scenes_net", pixels=NetworkInput(size=48))
    files = written(tmp_path)
    train_all(tables(folder), {"images": str(folder / "images")}, start, described, files)
    history = pd.read_parquet(files.history)
    assert history["mean_average_precision"].max() > 0.9
    assert load_file(files.weights)["classifier.fc8.bias"].shape == (3,)
    assert load_module("scenes_net", files.weights)(torch.rand(1, 3, 48, 48)).shape == (1, 3)


def test_a_head_of_other_features_is_refused(folder, tmp_path):
    save_file({"weight": torch.zeros(3, D + 1), "bias": torch.zeros(3)}, tmp_path / "other.safetensors")
    with pytest.raises(InputError, match=f"vectors of length {D + 1}, but those of .* have {D}"):
        score_concepts("multi", str(folder / "regions.parquet"), str(tmp_path / "other.safetensors"), "head", {})


def test_an_image_without_concepts_has_none(folder, tmp_path):
    found = ConceptTables.read(**tables(folder))
    assert (~found.present.any(axis=1)).any(), "some images of the made-up data have none"
    train_head(tables(folder), [str(folder / "regions.parquet")], job(1), written(tmp_path))


def test_no_concepts_at_all_is_an_error_that_says_why(folder, tmp_path):
    schema.write([], CONCEPTS, tmp_path / "none.parquet", {})
    with pytest.raises(InputError, match=r"none\.parquet: there is no concept to be told; look at the parses"):
        ConceptTables.read(**{**tables(folder), "concepts": str(tmp_path / "none.parquet")})


def test_an_image_that_the_concepts_do_not_know_is_named(folder, tmp_path):
    schema.write([{"image_id": "train0", "concepts": [0]}], IMAGE_CONCEPTS, tmp_path / "few.parquet", {})
    with pytest.raises(InputError, match=r"103 images are missing, the first is 'train1'"):
        ConceptTables.read(**{**tables(folder), "image_concepts": str(tmp_path / "few.parquet")})


def test_a_validation_split_without_any_concept_cannot_select(folder, tmp_path):
    ids = schema.read(tables(folder)["images"], IMAGES)["image_id"]
    rows = [{"image_id": image, "concepts": [] if image.startswith("val") else [0]} for image in ids]
    schema.write(rows, IMAGE_CONCEPTS, tmp_path / "image_concepts.parquet", {})
    given = {**tables(folder), "image_concepts": str(tmp_path / "image_concepts.parquet")}
    with pytest.raises(InputError, match="no image of the split has any of the concepts"):
        train_head(given, [str(folder / "regions.parquet")], job(1), written(tmp_path))


def test_scores_of_another_vocabulary_are_refused(folder, tmp_path):
    with FeatureWriter(tmp_path / "scores.parquet", IMAGE_FEATURES, (2,), np.float16, {}) as file:
        file.append(pd.DataFrame({"image_id": ["train0"]}), np.zeros((1, 2)))
    scores = str(tmp_path / "scores.parquet")
    with pytest.raises(InputError, match="scores of 2 concepts, expected 3"):
        write_average_precision(tables(folder), {view: [scores] for view in VIEWS}, "unused", "unused")
