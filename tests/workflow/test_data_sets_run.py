"""Data sets in the workflow: a folder of SCAN's, without pictures, and new splits of the images of scenes."""

import copy

import numpy as np
import pytest

from densevse.artifacts.schemas.datasets import IMAGES
from densevse.artifacts.schemas.retrieval import RETRIEVAL
from densevse.config.load import load
from densevse.scenes.sentences import describe
from densevse.scenes.world import sample_family
from snakeproof import schema
from snakeproof.errors import InputError
from tests.projects import ROOT, SMALL, job_counts

COUNTS = {"train": 24, "dev": 8, "test": 8}
SHORT = {"parameters": {"dimension": 16, "word_dimension": 8, "word_vectors": "learned"}, "word_vectors": False}
MINE = {
    "title": "Mine",
    "reader": "scan",
    "options": {"copies": 1},
    "local": {"precomp": "mine_precomp"},
    "features": {"butd": {"regions": {"format": "scan"}, "grid": {"format": "scan"}, "whole_by": "mean"}},
    "networks": {"regions": "butd", "whole": "butd", "grid": "butd", "concepts": "multi_label_head"},
    "parser": "grammar",
    "word_vectors": None,
    "threads": 1,
}
METHODS = {
    "vse": {
        "datasets": {"mine": {"parameters": {"dimension": 16}, "rounds": [["main"]], "phases": {"main": {"epochs": 1}}}}
    },
    "defrag": {"datasets": {"mine": {**SHORT, "rounds": [["dense"]], "phases": {"dense": {"epochs": 1}}}}},
    "hm_lstm": {
        "datasets": {
            "mine": {
                **SHORT,
                "rounds": [["sentences"], ["phrases"]],
                "phases": {"sentences": {"epochs": 1}, "phrases": {"epochs": 1}},
            }
        }
    },
    "sm_lstm": {
        "datasets": {
            "mine": {
                "starts_from": None,
                "parameters": dict.fromkeys(("hidden", "word_hidden", "context_dimension", "similarity"), 8),
                "rounds": [["main"]],
                "phases": {"main": {"epochs": 1}},
            }
        }
    },
    "sco": {"datasets": {"mine": {"views": ["whole", "concepts"]}}},
}
TABLE = {"title": "Mine", "measure": ["vse", "defrag", "hm_lstm", "sm_lstm"], "sections": [{"dataset": "mine"}]}


@pytest.fixture(scope="module")
def given(make_project):
    made = make_project({"datasets": {"mine": MINE}, "methods": METHODS, "tables": {"mine": TABLE}})
    folder, random = made.folder / "mine_precomp", np.random.default_rng(0)
    folder.mkdir()
    for split, count in COUNTS.items():
        scenes = [sample_family(random)[0] for _ in range(count)]
        captions = [sentence.text for scene in scenes for sentence in describe(scene, random)]
        (folder / f"{split}_caps.txt").write_text("\n".join(captions) + "\n")
        (folder / f"{split}_ids.txt").write_text("".join(f"{split}{number}\n" for number in range(count)))
        np.save(folder / f"{split}_ims.npy", random.normal(size=(count, 6, 12)).astype(np.float32))
    return made


def test_vse_is_trained_and_ranks_the_test_sentences(given):
    path = "results/mine/retrieval/full/vse/seed0/round0.parquet"
    given.run(path)
    assert schema.read(given.folder / path, RETRIEVAL)["query_id"].nunique() == 8 + 40


@pytest.mark.long
def test_all_methods_run_and_the_foot_says_what_they_were_given(given):
    given.run("results/tables/mine.md")
    text = (given.folder / "results/tables/mine.md").read_text()
    assert "network of regions: butd (given: the folder of the data set, region 0 by the mean of the regions)" in text
    assert "proposer" not in text
    for variant, round in (("vse", 0), ("defrag", 0), ("hm_lstm", 1), ("sm_lstm", 0)):
        path = given.folder / f"results/mine/retrieval/full/{variant}/seed0/round{round}.parquet"
        assert schema.read(path, RETRIEVAL)["query_id"].nunique() == 8 + 40


def test_sco_reads_concepts_that_are_learned_on_given_regions(given):
    made_from = {"read_given_features", "mine_concepts", "train_concept_head", "score_concepts", "train", "retrieve"}
    planned = given.planned("results/mine/retrieval/full/sco/seed0/round0.parquet")
    assert made_from <= set(planned)
    assert not {name for name in planned if name.startswith(("extract", "propose"))}


@pytest.mark.parametrize(
    ("target", "message"),
    [
        ("results/mine/features/vgg19/whole/00-of-01.parquet", "reads features and no pictures"),
        ("results/mine/retrieval/full/vse_alexnet/seed0/round0.parquet", "no pictures for the network alexnet"),
        ("results/mine/retrieval/full/defrag_finetuned/seed0/round0.parquet", "no network that could be trained"),
        ("results/mine/models/hm_lstm/seed0/round1/correspondence_accuracy.parquet", "have no boxes"),
    ],
)
def test_what_does_not_exist_is_refused_by_name(given, target, message):
    status, text = given.plan(target)
    assert status != 0
    assert message in text


# --- new splits -------------------------------------------------------------------------------------------------------

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
def resplit(continue_project):
    """A project in which the images of scenes have features already."""
    return continue_project(SETTINGS)


def test_features_regions_and_parses_are_those_of_the_images(resplit):
    planned = resplit.planned("results/tables/again.md")
    assert planned["resplit"] == planned["propose"] == planned["parse_by_grammar"] == 1
    assert "read_dataset" not in planned
    assert planned["mine_concepts"] == planned["count_words"] == planned["train_concept_head"] == 1


@pytest.mark.slow
def test_vse_is_trained_with_the_settings_of_scenes_and_ranks_the_new_test_images(resplit):
    path = "results/again/retrieval/full/vse/seed0/round0.parquet"
    jobs = {"resplit": 1, "tokenize_captions": 1, "count_words": 1, "train": 1, "retrieve": 1}
    assert job_counts(resplit.run(path).stdout) == jobs
    images = schema.read(resplit.folder / "results/again/images.parquet", IMAGES).set_index("image_id")["split"]
    found = schema.read(resplit.folder / path, RETRIEVAL)
    asked = set(found.loc[found["direction"] == "i2t", "query_id"])
    assert asked == set(images.index[images == "test"])
    assert len(asked) == 20
    assert not (resplit.folder / "results/again/features").exists()


@pytest.mark.long
def test_every_method_runs_on_them(resplit):
    resplit.run("results/tables/again.md")
    text = (resplit.folder / "results/tables/again.md").read_text()
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
