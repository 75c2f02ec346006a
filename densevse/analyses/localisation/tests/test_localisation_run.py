"""Localisation as a user runs it."""

import copy

import pandas as pd
import pytest

from tests.projects import SMALL

TARGETS = ("results/tables/scenes_localisation_vse.md", "results/figures/scenes/vse/localisation.png")


def with_cells(cells):
    values = copy.deepcopy(SMALL)
    values["localisation"] = {"scenes": {"images": 5, "sides": [0.5], "cells": cells}}
    return values


@pytest.fixture(scope="module")
def localised(continue_project):
    project = continue_project(with_cells(6))
    project.run(*TARGETS)
    return project


def test_a_table_and_a_figure_are_made(localised):
    rows = pd.read_parquet(localised.folder / "results/scenes/localisation/vse/seed0/round0/test.parquet")
    assert rows["image_id"].nunique() == 5
    assert set(rows["heat"].str.len()) == {36}
    assert "phrases in 5 images" in (localised.folder / TARGETS[0]).read_text()
    assert (localised.folder / TARGETS[1]).stat().st_size > 10_000


def test_a_finer_map_needs_no_network_run(localised):
    localised.configure(with_cells(9))
    assert localised.planned(*TARGETS) == {"localise": 1, "localisation_table": 1, "localisation_figure": 1}


def test_another_variant_of_the_same_network_shares_the_windows(localised):
    assert "extract_windows" not in localised.planned("results/tables/scenes_localisation_vsepp.md")


def test_a_variant_without_one_vector_for_each_image_stops_before_any_job(localised):
    status, text = localised.plan("results/tables/scenes_localisation_hm_lstm.md")
    assert status != 0
    assert "localisation: hm_lstm reads regions" in text
