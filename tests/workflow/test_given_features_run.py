"""A data set that is a folder of SCAN's, without pictures, through the workflow by VSE, DeFrag, HM-LSTM and sm-LSTM."""

import numpy as np
import pytest

from densevse.artifacts import schema
from densevse.artifacts.schemas.retrieval import RETRIEVAL
from densevse.scenes.sentences import describe
from densevse.scenes.world import sample_family

IMAGES = {"train": 24, "dev": 8, "test": 8}
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
def project(make_project):
    made = make_project({"datasets": {"mine": MINE}, "methods": METHODS, "tables": {"mine": TABLE}})
    folder, random = made.folder / "mine_precomp", np.random.default_rng(0)
    folder.mkdir()
    for split, count in IMAGES.items():
        scenes = [sample_family(random)[0] for _ in range(count)]
        captions = [sentence.text for scene in scenes for sentence in describe(scene, random)]
        (folder / f"{split}_caps.txt").write_text("\n".join(captions) + "\n")
        (folder / f"{split}_ids.txt").write_text("".join(f"{split}{number}\n" for number in range(count)))
        np.save(folder / f"{split}_ims.npy", random.normal(size=(count, 6, 12)).astype(np.float32))
    return made


def test_vse_is_trained_and_ranks_the_test_sentences(project):
    path = "results/mine/retrieval/full/vse/seed0/round0.parquet"
    project.run(path)
    assert schema.read(project.folder / path, RETRIEVAL)["query_id"].nunique() == 8 + 40


@pytest.mark.long
def test_all_methods_run_and_the_foot_says_what_they_were_given(project):
    project.run("results/tables/mine.md")
    text = (project.folder / "results/tables/mine.md").read_text()
    for said in ("network of regions: butd (given: the folder of the data set, region 0 by the mean of the regions)",):
        assert said in text
    assert "proposer" not in text
    for variant, round in (("vse", 0), ("defrag", 0), ("hm_lstm", 1), ("sm_lstm", 0)):
        path = project.folder / f"results/mine/retrieval/full/{variant}/seed0/round{round}.parquet"
        assert schema.read(path, RETRIEVAL)["query_id"].nunique() == 8 + 40


def test_sco_reads_concepts_that_are_learned_on_given_regions(project):
    made_from = {"read_given_features", "mine_concepts", "train_concept_head", "score_concepts", "train", "retrieve"}
    planned = project.planned("results/mine/retrieval/full/sco/seed0/round0.parquet")
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
def test_what_does_not_exist_is_refused_by_name(project, target, message):
    status, text = project.plan(target)
    assert status != 0
    assert message in text
