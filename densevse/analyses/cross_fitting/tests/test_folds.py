"""Cross-fitting: which images a head does not see, and whose scores an image has."""

import numpy as np
import pandas as pd
import pytest

from densevse.analyses.cross_fitting.folds import (
    PRECISION,
    assign_folds,
    cross_fit,
    write_cross_fitting_table,
    write_fold,
)
from densevse.artifacts.schemas.datasets import IMAGES
from densevse.artifacts.schemas.features import IMAGE_FEATURES
from densevse.artifacts.schemas.sentences import IMAGE_CONCEPTS
from densevse.config.load import load
from densevse.dag import features
from densevse.dag.project import Project, Stage
from densevse.evaluation.average_precision import mean_average_precision
from snakeproof import schema
from snakeproof.errors import InputError
from snakeproof.store import FeatureWriter
from tests.projects import ROOT, SMALL
from tests.rule_values import job_of, paths_of

FOLDS, CONCEPTS = 3, 2
TRAIN, VAL = 60, 30


@pytest.fixture
def images():
    """60 training images in families of two, 30 val images, a test image, and one that could not be read."""
    ids = [f"i{number}" for number in range(TRAIN + VAL + 2)]
    rows = pd.DataFrame({"image_id": ids, "file": ids, "source": "images", "width": 8, "height": 8, "captions": 1})
    rows["split"] = ["train"] * TRAIN + ["val"] * VAL + ["test", "train"]
    rows["status"] = ["ok"] * (len(ids) - 1) + ["unreadable"]
    families = np.arange(len(ids))
    families[:TRAIN] //= 2
    return rows.assign(family=[f"f{family}" for family in families], sha256="0" * 64)


@pytest.fixture
def made(tmp_path, images):
    """The files of a job, with random scores by the head of all images and by the heads of the folds."""
    generator = np.random.default_rng(0)
    readable = images[images["status"] == "ok"][::-1]  # in another order than the table's
    present = generator.random((len(readable), CONCEPTS)) < 0.6
    schema.write(images, IMAGES, tmp_path / "images.parquet")
    named = pd.DataFrame({"image_id": readable["image_id"], "concepts": [np.flatnonzero(row) for row in present]})
    schema.write(named, IMAGE_CONCEPTS, tmp_path / "image_concepts.parquet")
    scores = generator.random((1 + FOLDS, len(readable), CONCEPTS)).astype(np.float32).round(3)
    for number, of_head in enumerate(scores):
        for shard, part in enumerate(np.array_split(np.arange(len(readable)), 2)):
            path = tmp_path / f"head{number}_{shard}.parquet"
            with FeatureWriter(path, IMAGE_FEATURES, (CONCEPTS,), "float32") as file:
                file.append(readable.iloc[part][["image_id"]], of_head[part])
    shards = [[str(tmp_path / f"head{number}_{shard}.parquet") for shard in range(2)] for number in range(1 + FOLDS)]
    cross_fit(
        str(tmp_path / "images.parquet"),
        str(tmp_path / "image_concepts.parquet"),
        shards[0],
        [path for of_fold in shards[1:] for path in of_fold],
        FOLDS,
        str(tmp_path / "scores.npy"),
        str(tmp_path / "ids.txt"),
        str(tmp_path / "precision.parquet"),
    )
    return tmp_path, readable, present, scores


def test_every_training_image_has_a_fold_and_families_share_it(images):
    fold = assign_folds(images, FOLDS)
    assert np.bincount(fold[:TRAIN]).tolist() == [20, 20, 20]
    assert (fold[:TRAIN:2] == fold[1:TRAIN:2]).all()
    assert (fold[TRAIN:] == -1).all()


def test_more_folds_than_families_are_refused(images):
    with pytest.raises(InputError, match="31 folds, but the training images are of fewer families"):
        assign_folds(images, 31)


def test_a_fold_is_left_out_and_nothing_else(images, tmp_path):
    schema.write(images, IMAGES, tmp_path / "images.parquet")
    write_fold(str(tmp_path / "images.parquet"), FOLDS, str(tmp_path / "fold.parquet"), {"fold": "1"})
    kept = schema.read(tmp_path / "fold.parquet", IMAGES)["image_id"]
    assert set(images["image_id"]) - set(kept) == set(images["image_id"][assign_folds(images, FOLDS) == 1])


def test_a_training_image_has_the_score_of_the_head_that_did_not_see_it(made, images):
    folder, readable, _, scores = made
    fold = pd.Series(assign_folds(images, FOLDS), images["image_id"])[readable["image_id"]].to_numpy()
    found = np.load(folder / "scores.npy")
    assert (folder / "ids.txt").read_text().split() == readable["image_id"].tolist()
    for row, of_image in enumerate(found):
        np.testing.assert_array_equal(of_image, scores[fold[row] + 1, row])


def test_precision_is_that_of_the_scores(made):
    folder, readable, present, scores = made
    train, val = ((readable["split"] == split).to_numpy() for split in ("train", "val"))
    rows = schema.read(folder / "precision.parquet", PRECISION)
    by_all = mean_average_precision(scores[0][train], present[train])
    by_others = mean_average_precision(np.load(folder / "scores.npy")[train], present[train])
    of_val = mean_average_precision(scores[0][val], present[val])
    assert rows["mean_average_precision"].to_numpy() == pytest.approx(
        [by_all, by_others, by_all - by_others, of_val], abs=1e-6
    )
    assert rows["images"].tolist() == [TRAIN, TRAIN, TRAIN, VAL]
    low, high = rows["mean_average_precision_low"], rows["mean_average_precision_high"]
    assert ((low < rows["mean_average_precision"]) & (rows["mean_average_precision"] < high)).all()


def test_the_table_prints_the_four_rows(made):
    folder = made[0]
    outputs = {
        name: str(folder / f"table.{end}") for name, end in (("markdown", "md"), ("html", "html"), ("latex", "tex"))
    }
    write_cross_fitting_table([str(folder / "precision.parquet")], "Photographs", ["some_network"], **outputs)
    text = (folder / "table.md").read_text()
    rows = schema.read(folder / "precision.parquet", PRECISION)
    for row in rows.to_dict("records"):
        assert f"{100 * row['mean_average_precision']:.1f} " in text
    assert "## some_network" in text
    assert "over the 2 concepts" in text


def test_the_head_of_a_fold_is_given_the_images_of_the_others():
    project = Project(ROOT, {"cross_fitting": {"scenes": {"folds": 2}}})
    assert job_of("hold_out_fold", project, dataset="scenes", fold=1).settings == {"folds": 2}
    scored = paths_of("cross_fit", "of_folds", project, dataset="scenes", concept_network="multi_label_scenes")
    assert scored == [
        f"results/cross_fitting/scenes/fold{fold}/multi_label_scenes/concepts/00-of-01.parquet" for fold in (0, 1)
    ]


def test_a_network_that_is_trained_whole_is_refused():
    with pytest.raises(InputError, match=r"cross_fitting\.scenes\.concept_networks: no 'multi_label_cnn'"):
        load(ROOT / "config", {"cross_fitting": {"scenes": {"concept_networks": ["multi_label_cnn"]}}})


def test_a_resplit_reads_features_of_its_own_and_those_of_its_images():
    """Cross-fitted scores are of one split, so no other resplit may read them."""
    stage = Stage(Project(ROOT, {}), features)
    assert stage.files("flickr8k_resplit1", "concepts", "cross_fitted")[0].startswith("results/flickr8k_resplit1/")
    assert stage.files("flickr8k_resplit1", "whole", "vgg19")[0].startswith("results/flickr8k/")
    with pytest.raises(InputError, match="there are no features cross_fitted"):
        stage.files("flickr8k_resplit0", "concepts", "cross_fitted")


@pytest.mark.slow
def test_the_workflow_makes_the_table(continue_project):
    project = continue_project({**SMALL, "cross_fitting": {"scenes": {"folds": 2}}})
    project.run("results/tables/scenes_cross_fitting.md")
    rows = schema.read(project.folder / "results/cross_fitting/scenes/multi_label_scenes/precision.parquet", PRECISION)
    assert rows["scored_by"].tolist() == ["all", "others", "all - others", "all"]
    ids = (project.folder / "results/cross_fitting/scenes/multi_label_scenes/ids.txt").read_text().split()
    images = schema.read(project.folder / "results/scenes/images.parquet", IMAGES)
    assert sorted(ids) == sorted(images["image_id"])
