"""Oracle concepts: as good as is wished, and probabilities."""

import numpy as np
import pandas as pd
import pytest

from densevse.analyses.oracle_concepts.oracle import oracle_scores, write_oracle
from densevse.artifacts.schemas.sentences import CONCEPTS, IMAGE_CONCEPTS
from densevse.config.load import load
from densevse.dag.project import Project
from densevse.evaluation.average_precision import mean_average_precision
from snakeproof import schema
from snakeproof.errors import InputError
from tests.rule_values import job_of, paths_of
from tests.rules import ROOT

PRESENT = np.random.default_rng(0).random((300, 4)) < [0.1, 0.2, 0.3, 0.4]


@pytest.mark.parametrize("wanted", [0.4, 0.7, 1.0])
def test_the_noise_leaves_the_precision_that_is_wanted(wanted):
    scores = oracle_scores(PRESENT, wanted, seed=1)
    assert mean_average_precision(scores, PRESENT) == pytest.approx(wanted, abs=0.005)


def test_scores_are_probabilities():
    scores = oracle_scores(PRESENT, 0.6, seed=1)
    sure = scores > 0.5
    assert PRESENT[sure].mean() == pytest.approx(scores[sure].mean(), abs=0.08)
    np.testing.assert_allclose(scores.mean(axis=0), PRESENT.mean(axis=0), atol=0.05)


def test_less_than_chance_gives_is_refused():
    with pytest.raises(InputError, match="chance alone gives these concepts more than 10"):
        oracle_scores(PRESENT, 0.1, seed=1)


def test_the_file_has_a_row_for_each_image(tmp_path):
    concepts, images = tmp_path / "concepts.parquet", tmp_path / "image_concepts.parquet"
    rows = pd.DataFrame({"index": [0, 1], "concept": ["dog", "cat"], "kind": "noun", "count": 2, "image_count": 2})
    schema.write(rows.assign(forms=[["dog"], ["cat"]]), CONCEPTS, concepts)
    of_images = pd.DataFrame({"image_id": ["a", "b", "c"], "concepts": [[0, 1], [], [1]]})
    schema.write(of_images, IMAGE_CONCEPTS, images)
    write_oracle(concepts, images, 100, 0, tmp_path / "scores.npy", tmp_path / "ids.txt")
    assert (np.load(tmp_path / "scores.npy") > 0.5).tolist() == [[True, True], [False, False], [False, True]]
    assert (tmp_path / "ids.txt").read_text().split() == ["a", "b", "c"]


def test_a_job_is_given_the_precision_and_the_seed_of_its_oracle():
    entry = {"dataset": "scenes", "mean_average_precision": 45, "seed": 3}
    project = Project(ROOT, {"oracle_concepts": {"some": entry}})
    assert job_of("oracle_concepts", project, oracle="some").settings == {"wanted": 45, "seed": 3}
    concepts = paths_of("oracle_concepts", "concepts", project, oracle="some")
    assert concepts == "results/scenes/vocabulary/concepts.parquet"


def test_an_unknown_data_set_is_refused_by_its_path():
    with pytest.raises(InputError, match=r"oracle_concepts\.oracle_33\.dataset: no 'scenez'"):
        load(ROOT / "config", {"oracle_concepts": {"oracle_33": {"dataset": "scenez"}}})
