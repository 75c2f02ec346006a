"""The artifacts that a search reads."""

from pathlib import Path
from types import SimpleNamespace

import pytest

from densevse.analyses.searches.dag import SearchStage
from densevse.dag.project import Project
from tests.rules import input_of

ROOT = Path(__file__).parents[3]


@pytest.fixture
def searches(tmp_path):
    search = {
        "dataset": "flickr30k",
        "variant": "defrag_finetuned",
        "photographs": str(tmp_path),
        "sentences": ["a dog"],
    }
    return SearchStage(Project(ROOT, {"searches": {"mine": search}}))


def test_photographs_of_a_search_are_seen_by_the_network_that_was_trained(searches, tmp_path):
    photographs = searches.images("mine")
    wanted = {"dataset": photographs, "variant": "defrag_finetuned", "seed": "0"}
    inputs = searches.inputs_of_images(SimpleNamespace(**wanted))
    assert inputs["source_photographs"] == str(tmp_path)
    assert all(photographs in path for path in inputs["view_crops"])
    assert "view_regions" not in inputs
    model = input_of("encode_images", "model", searches.model, **wanted, round=0)
    assert model == "results/flickr30k/models/defrag_finetuned/seed0/round0/model.safetensors"


def test_photographs_are_encoded_by_the_model_that_is_asked(searches):
    photographs, model = searches.images("mine"), "defrag_finetuned/seed0/round0"
    assert photographs.startswith("search/photographs/flickr30k/")
    encodings = input_of("search", "encodings", searches.encodings, search="mine")
    assert encodings == f"results/{photographs}/encodings/{model}/test.parquet"
    asked = input_of("search", "model", searches.model_of_search, search="mine")
    assert asked == f"results/flickr30k/models/{model}/model.safetensors"
    table = input_of("search_pages", "image_table", searches.image_table, search="mine")
    assert table == f"results/{photographs}/images.parquet"
