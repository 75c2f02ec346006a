"""Searches as a user runs them."""

import copy
import shutil
import zipfile

import numpy as np
import pandas as pd
import pytest

from tests.projects import SMALL

QUESTION = {"dataset": "scenes", "variant": "vse", "sentences": ["a red ball", "two stars"], "top": 3}


def with_searches(**searches):
    return {**copy.deepcopy(SMALL), "searches": searches}


@pytest.fixture(scope="module")
def searched(continue_project):
    """A project with a search of a user's photographs by a user's sentences."""
    project = continue_project(with_searches(mine=QUESTION))
    project.run("results/search/mine.md")
    with zipfile.ZipFile(project.folder / "resources/scenes/scenes.zip") as archive:
        names = [name for name in archive.namelist() if name.endswith(".png")][:4]
        for number, name in enumerate(names):
            (project.folder / "holiday").mkdir(exist_ok=True)
            (project.folder / f"holiday/{number}.png").write_bytes(archive.read(name))
    project.configure(with_searches(mine=QUESTION, own={**QUESTION, "photographs": "holiday"}))
    project.run("results/search/own.md", "results/search/own.html")
    return project


def test_sentences_are_answered_from_a_data_set(searched):
    found = pd.read_parquet(searched.folder / "results/search/mine.parquet")
    assert found["query"].tolist() == [0] * 3 + [1] * 3
    test = pd.read_parquet(searched.folder / "results/scenes/images.parquet").query("split == 'test'")
    assert set(found["image_id"]) <= set(test["image_id"])
    assert "## a red ball" in (searched.folder / "results/search/mine.md").read_text()


def test_photographs_of_ones_own_are_searched(searched):
    found = pd.read_parquet(searched.folder / "results/search/own.parquet")
    assert set(found["image_id"]) <= {f"{number}.png" for number in range(4)}
    assert (searched.folder / "results/search/own.html").read_text().count("<img") == 6


def test_a_second_question_needs_no_network_run_over_the_photographs(searched):
    asked = {**QUESTION, "photographs": "holiday"}
    changed = {**asked, "sentences": ["a blue box"]}
    searched.configure(with_searches(mine=QUESTION, own=changed, another=changed))
    jobs = {"own_sentences": 1, "tokenize_captions": 1, "search": 1, "search_pages": 1}
    assert searched.planned("results/search/own.md") == jobs
    assert searched.planned("results/search/another.md") == jobs
    turned = {**asked, "queries": "photographs"}
    searched.configure(with_searches(mine=QUESTION, own=turned))
    assert searched.planned("results/search/own.md") == {"search": 1, "search_pages": 1}


def test_another_photograph_in_a_folder_is_seen(searched):
    folder = shutil.copytree(searched.folder / "holiday", searched.folder / "kept")
    (searched.folder / "holiday/inside").mkdir()
    shutil.copy(folder / "0.png", searched.folder / "holiday/inside/4.png")
    searched.configure(with_searches(own={**QUESTION, "photographs": "holiday"}))
    try:
        planned = searched.planned("results/search/own.md")
    finally:
        shutil.rmtree(searched.folder / "holiday/inside")
    assert {"own_photographs", "extract_features", "encode_images", "search"} <= set(planned)


def test_photographs_are_asked_of_the_sentences_of_a_data_set(searched):
    question = {"dataset": "scenes", "variant": "vse", "photographs": "holiday", "top": 2}
    searched.configure(with_searches(words=question))
    searched.run("results/search/words.md")
    found = pd.read_parquet(searched.folder / "results/search/words.parquet")
    assert found["query"].tolist() == [0, 0, 1, 1, 2, 2, 3, 3]
    captions = pd.read_parquet(searched.folder / "results/scenes/captions.parquet").set_index("caption_id")
    assert captions.loc[found["caption_id"], "text"].tolist() == found["text"].tolist()


def test_a_given_row_answers_images_of_the_test_split(searched):
    random = np.random.default_rng(0)
    for name, rows in (("i", 16), ("s", 80)):
        np.save(searched.folder / f"{name}.npy", random.normal(size=(rows, 4)).astype(np.float32))
    test = pd.read_parquet(searched.folder / "results/scenes/images.parquet").query("split == 'test'")
    settings = with_searches(
        given={"dataset": "scenes", "variant": "mine", "image_ids": test["image_id"].head(2).tolist(), "top": 3}
    )
    given = {"images": "i.npy", "sentences": "s.npy", "similarity": "cosine"}
    settings["methods"]["mine"] = {"title": "Mine", "given": given}
    searched.configure(settings)
    assert searched.planned("results/search/given.md") == {"search_given": 1, "search_pages": 1}
    searched.run("results/search/given.md")
    text = (searched.folder / "results/search/given.md").read_text()
    assert "Test images, asked of the test sentences of Scenes, by Mine (given)" in text
    assert text.count("\n## ") == 2
    assert (searched.folder / "results/search/given.html").read_text().count("<img") == 2
    assert searched.planned("results/search/given.md") == {}


def test_a_folder_that_is_not_there_is_refused_before_any_job(searched):
    searched.configure(with_searches(own={**QUESTION, "photographs": "holidays"}))
    status, text = searched.plan("results/search/own.md")
    assert status != 0
    assert "searches.own.photographs: holidays is not there" in text


@pytest.mark.parametrize(("variant", "stage"), [("sm_lstm", "extract_features"), ("defrag", "extract_regions")])
def test_any_variant_can_be_asked(make_project, variant, stage, tmp_path):
    (tmp_path / "photographs").mkdir()
    question = {**QUESTION, "variant": variant, "photographs": str(tmp_path / "photographs")}
    project = make_project(with_searches(own=question))
    planned = project.planned("results/search/own.md")
    assert planned["encode_images"] == 1
    assert stage in planned


def test_parses_of_ones_own_sentences_come_from_the_data_sets_parser(make_project):
    planned = make_project(with_searches(own={**QUESTION, "variant": "defrag"})).planned("results/search/own.md")
    assert planned["parse_by_grammar"] == 2
