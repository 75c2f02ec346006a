"""Tables of claims as the workflow plans and makes them."""

import pytest

from densevse.analyses.claims.schemas import CLAIM_RESULTS
from densevse.artifacts import schema


@pytest.mark.slow
def test_the_table_of_every_claim_trains_the_rows_that_claims_name(make_project):
    project = make_project({})
    planned = project.planned("results/tables/scenes_claims.md")
    assert (planned["claims_table"], planned["rank_regions"], planned["retrieve_by_ensemble"]) == (1, 6, 3)
    assert planned["train"] % 3 == planned["retrieve"] % 3 == 0
    status, text = project.plan("results/tables/scenes_claim.md")
    assert status != 0
    assert "is 'results/tables/scenes_claims.md' meant?" in text


@pytest.mark.long
def test_the_rows_of_the_main_table_test_claims(finished_rounds):
    assert finished_rounds.planned("results/tables/scenes_main_claims.md") == {"main_claims_table": 1}
    finished_rounds.run("results/tables/scenes_main_claims.md")
    rows = schema.read(finished_rounds.folder / "results/tables/scenes_main_claims.parquet", CLAIM_RESULTS)
    assert set(zip(rows["better"], rows["worse"], strict=True)) == {
        ("hm_lstm", "vse"),
        ("hm_lstm", "hm_lstm round 0"),
        ("hm_lstm round 1", "hm_lstm round 0"),
        ("hm_lstm round 2", "hm_lstm round 1"),
    }
    assert rows["seeds"].eq(1).all()
