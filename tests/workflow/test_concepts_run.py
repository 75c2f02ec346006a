"""Concepts by the regions of a clustered proposer, as on photographs; the demo uses the methods' regions."""

import copy

import pandas as pd
import pytest

from tests.projects import SMALL

FOLDER = "results/scenes"


@pytest.fixture(scope="module")
def clustered(continue_project):
    values = copy.deepcopy(SMALL)
    values["proposers"] = {"few": {"kind": "clustered", "options": {"of": "selective_search_single", "boxes": 3}}}
    values["concept_networks"] = {"multi_label_scenes": {"proposer": "few"}}
    project = continue_project(values)
    project.run(f"{FOLDER}/networks/multi_label_scenes_mean_average_precision.parquet")
    return project.folder / FOLDER


def test_every_cluster_is_a_region_beside_the_whole_image(clustered):
    proposals = pd.read_parquet(clustered / "proposals/few/00-of-01.parquet")
    regions = pd.read_parquet(clustered / "features/scenes_net/regions-few/00-of-01.parquet")
    assert proposals.groupby("image_id").size().max() == 3
    parts = proposals[["width", "height"]].lt(96).any(axis=1)  # a proposal that is the whole image is no other region
    assert len(regions) == parts.sum() + regions["image_id"].nunique()


def test_concepts_have_a_precision_by_the_best_region_and_by_the_whole_image(clustered):
    mean = pd.read_parquet(clustered / "networks/multi_label_scenes_mean_average_precision.parquet")
    assert mean["split"].tolist() == ["val", "test"]
    assert mean[["best_region", "whole_image"]].gt(mean["frequency"], axis=0).any(axis=None)
    assert mean[["best_region", "whole_image"]].le(1).all(axis=None)
