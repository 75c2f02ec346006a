"""A data set with new splits of the images of scenes: what it shares with scenes, and what it makes of its own."""

import copy

import pytest

from densevse.artifacts import schema
from densevse.artifacts.schemas.datasets import IMAGES
from densevse.artifacts.schemas.retrieval import RETRIEVAL
from densevse.config.load import load
from densevse.runtime.errors import InputError
from tests.projects import ROOT, SMALL

OTHER = {"title": "Scenes again", "resplit": {"of": "scenes", "seed": 3, "train": 40, "val": 12, "test": 20}}
SETTINGS = copy.deepcopy(SMALL) | {
    "tables": {
        "again": {
            "title": "Again",
            "sections": [{"dataset": "again"}],
            "measure": ["vse", "hm_lstm", "defrag", "sco"],
        }
    }
}
SETTINGS["datasets"]["again"] = OTHER


@pytest.fixture(scope="module")
def project(make_project):
    return make_project(SETTINGS)


def test_features_regions_and_parses_are_those_of_the_images(project):
    planned = project.planned("results/tables/again.md")
    assert planned["resplit"] == planned["read_dataset"] == planned["propose"] == planned["parse_by_grammar"] == 1
    assert planned["mine_concepts"] == planned["count_words"] == planned["train_concept_head"] == 1


@pytest.mark.slow
def test_vse_is_trained_with_the_settings_of_scenes_and_ranks_the_new_test_images(project):
    path = "results/again/retrieval/full/vse/seed0/round0.parquet"
    project.run(path)
    images = schema.read(project.folder / "results/again/images.parquet", IMAGES).set_index("image_id")["split"]
    found = schema.read(project.folder / path, RETRIEVAL)
    asked = set(found.loc[found["direction"] == "i2t", "query_id"])
    assert asked == set(images.index[images == "test"])
    assert len(asked) == 20
    assert not (project.folder / "results/again/features").exists()


@pytest.mark.long
def test_every_method_runs_on_them(project):
    project.run("results/tables/again.md")
    text = (project.folder / "results/tables/again.md").read_text()
    assert all(f"| {title}" in text for title in ("VSE", "HM-LSTM", "DeFrag", "SCO"))


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"of": "scene"}, r"datasets.again.resplit.of: no data set 'scene' with splits of its own.*scenes"),
        ({"of": "again"}, "datasets.again.resplit.of: no data set 'again' with splits of its own"),
        ({"train": 0}, "datasets.again.resplit.train"),
        ({"test": None}, "datasets.again.resplit.test"),
    ],
)
def test_splits_that_cannot_be_drawn_are_refused(changed, message):
    overrides = {"datasets": {"again": OTHER | {"resplit": OTHER["resplit"] | changed}}}
    with pytest.raises(InputError, match=message):
        load(ROOT / "config", overrides)


def test_a_new_entry_needs_a_title_at_least():
    with pytest.raises(InputError, match=r"datasets.again: .* title, resplit"):
        load(ROOT / "config", {"datasets": {"again": {"resplit": OTHER["resplit"]}}})
