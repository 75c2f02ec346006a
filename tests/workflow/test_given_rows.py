"""Given rows beside trained ones: the same scores give the same bytes, and jobs run when files change."""

import copy
import json

import numpy as np
import pandas as pd
import pytest
import torch

from densevse.data.files import Files
from densevse.models.retrieval import encode_test
from densevse.report.columns import RESULTS
from snakeproof import schema
from tests.projects import SMALL, Project

TABLE = "results/tables/given.md"
RETRIEVALS = "results/scenes/retrieval/full"
NAMED = ["method", "source", "variant", "gain", "gain_low", "gain_high"]


def settings(**given) -> dict:
    """The small data set with the row `mine` beside VSE, and the ensemble of the two."""
    values = copy.deepcopy(SMALL)
    values["methods"]["mine"] = {"title": "Mine", "given": given}
    values["methods"].setdefault("vse", {})["ensembles"] = {"both": {"title": "Both", "members": ["vse", "mine"]}}
    sections, measure = [{"dataset": "scenes"}], ["vse", "mine", "both"]
    values["tables"]["given"] = {"title": "Given", "sections": sections, "measure": measure, "reference": "vse"}
    return values


def own_scores(project: Project) -> np.ndarray:
    """The scores of all pairs of the test split by the project's VSE."""
    folder = project.folder / "results/scenes"
    files = {"image_table": "images.parquet", "caption_table": "captions.parquet", "tokens": "tokens.parquet"}
    files |= {"words": "vocabulary/words.parquet", "view_whole": "features/scenes_net/whole/00-of-01.parquet"}
    model = str(folder / "models/vse/seed0/round0/model.safetensors")
    encoded = encode_test({model: Files({name: str(folder / file) for name, file in files.items()})}, 1)
    images, captions = (np.arange(len(ids)) for ids in (encoded.rows.image_ids, encoded.rows.caption_ids))
    block = encoded.scorers[0](images, captions)
    with torch.no_grad():
        return block(slice(0, len(images)), slice(0, len(captions))).float().numpy()


@pytest.fixture
def project(finished):
    """The finished project, whose configuration the test may change."""
    yield finished
    finished.configure(SMALL)


def test_own_scores_given_back_give_the_same_row(project):
    scores = own_scores(project)
    np.save(project.folder / "sims.npy", scores)
    project.configure(settings(scores="sims.npy"))
    project.run(TABLE)
    trained, given = (
        pd.read_parquet(project.folder / RETRIEVALS / file)
        for file in ("vse/seed0/round0.parquet", "mine/seed0/given.parquet")
    )
    pd.testing.assert_frame_equal(given, trained)
    assert given["top_scores"].map(bytes).tolist() == trained["top_scores"].map(bytes).tolist()
    rows = pd.read_csv(project.folder / "results/tables/given.csv", dtype=str).set_index("variant", drop=False)
    of_vse, of_mine = (rows.loc[name].drop(NAMED) for name in ("vse", "mine"))
    assert of_vse.equals(of_mine)
    assert rows.loc["mine", ["method", "source"]].tolist() == ["Mine", "mine, seed 0"]
    assert float(rows.loc["mine", "gain"]) == 0
    text = (project.folder / TABLE).read_text()
    assert "given: scores sims.npy (mine), scores sims.npy of mine (both)" in text
    both = pd.read_parquet(project.folder / RETRIEVALS / "both/seed0/ensemble.parquet")
    assert both["rank"].tolist() == trained["rank"].tolist(), "twice the same scores rank as these do"
    assert "queries with a tie: none." in text

    stated = schema.check(project.folder / "results/tables/given.parquet", RESULTS).values()
    assert str(project.folder) not in json.dumps(stated)

    assert project.planned(TABLE) == {}
    scores[0, 0] += 1
    np.save(project.folder / "sims.npy", scores)
    assert project.planned(TABLE) == {"retrieve_given": 1, "retrieve_by_ensemble": 1, "table": 1}
    np.save(project.folder / "other.npy", scores + 1)
    project.configure(settings(scores=["sims.npy", "other.npy"]))
    assert project.planned(TABLE) == {"retrieve_given": 2, "retrieve_by_ensemble": 1, "table": 1}


def test_a_wrong_file_is_named_where_the_job_is_run(project):
    np.save(project.folder / "turned.npy", np.ones((80, 16), np.float32))
    project.configure(settings(scores="turned.npy"))
    done = project.run(TABLE, check=False)
    assert done.returncode != 0
    assert "turned.npy: expected 16 x 80, as the test split has, found 80 x 16: it is transposed" in done.stdout


def test_a_file_that_is_not_there_is_named_by_its_key_before_any_job(project):
    project.configure(settings(images="i.npy", sentences="s.npy", similarity="dot"))
    status, text = project.plan(TABLE)
    assert status != 0
    assert "methods.mine.given.images: i.npy is not there" in text
