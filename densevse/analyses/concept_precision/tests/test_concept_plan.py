"""The data sets whose concepts are measured, and the networks that predict them."""

from pathlib import Path

import pytest

from densevse.analyses.concept_precision import dag
from densevse.dag.project import Project, Stage
from tests.rule_values import paths_of

ROOT = Path(__file__).parents[4]


@pytest.fixture(scope="module")
def precision():
    return Stage(Project(ROOT, {}), dag)


def test_concepts_are_measured_where_a_variant_of_the_main_table_reads_them(precision):
    wanted = ["results/tables/scenes_concepts.md", "results/figures/scenes/concepts.png"]
    assert precision.target_files("scenes") == wanted
    assert precision.target_files("pascal1k") == []


def test_they_are_those_of_the_network_that_methods_are_given(precision):
    each = paths_of("concept_table", "precision", precision.project, dataset="scenes")
    assert each == "results/scenes/networks/multi_label_scenes_average_precision.parquet"
    scores = paths_of("predicted_concepts", "scores", precision.project, dataset="scenes")
    assert scores == ["results/scenes/features/multi_label_scenes/concepts/00-of-01.parquet"]
