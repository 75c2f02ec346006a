"""The artifacts that a search reads."""

from pathlib import Path
from types import SimpleNamespace

import pytest

from densevse.analyses.searches import dag
from densevse.config.load import load
from densevse.dag.project import Project, Stage
from snakeproof.errors import InputError
from tests.rule_values import job_of, paths_of
from tests.rules import input_of

ROOT = Path(__file__).parents[4]
GIVEN = {"copies": 1, "similarity": "dot", "unscored": None, "lower_is_better": False}


@pytest.fixture
def searches(tmp_path):
    search = {
        "dataset": "flickr30k",
        "variant": "defrag_finetuned",
        "photographs": str(tmp_path),
        "sentences": ["a dog"],
    }
    return Stage(Project(ROOT, {"searches": {"mine": search}}), dag)


def test_photographs_of_a_search_are_seen_by_the_network_that_was_trained(searches, tmp_path):
    photographs = searches.image_table("mine")["dataset"]
    wanted = {"dataset": photographs, "variant": "defrag_finetuned", "seed": "0"}
    inputs = searches.inputs_of_images(SimpleNamespace(**wanted))
    assert inputs["source_photographs"] == str(tmp_path)
    assert all(photographs in path for path in inputs["view_crops"])
    assert "view_regions" not in inputs
    model = paths_of("encode_images", "model", searches.project, **wanted, round=0)
    assert model == "results/flickr30k/models/defrag_finetuned/seed0/round0/model.safetensors"


def test_photographs_are_encoded_by_the_model_that_is_asked(searches):
    photographs, model = searches.image_table("mine")["dataset"], "defrag_finetuned/seed0/round0"
    assert photographs.startswith("search/photographs/flickr30k/")
    encodings = input_of("search", "encodings", searches.encodings, search="mine")
    assert encodings == f"results/{photographs}/encodings/{model}/test.parquet"
    asked = input_of("search", "model", searches.search_model, search="mine")
    assert asked == f"results/flickr30k/models/{model}/model.safetensors"
    table = input_of("search_pages", "image_table", searches.image_table, search="mine")
    assert table == f"results/{photographs}/images.parquet"


def test_a_search_is_given_its_sentences_and_the_settings_of_its_answers(searches):
    assert job_of("own_sentences", searches.project, dataset="search/mine").settings == {"sentences": ["a dog"]}
    job = searches.job("mine")
    assert job.settings == {
        "split": "test",
        "asked": "sentences",
        "top": 5,
        "threads": searches.project.threads("flickr30k"),
    }
    assert "densevse.methods.defrag" in job.modules
    pages = searches.pages_job("mine").settings
    assert (pages["asked"], pages["shown"], pages["source_names"]) == ("sentences", 100, ["photographs"])
    assert pages["title"].startswith("Your sentences, asked of your photographs, by ")
    assert pages["title"].endswith(", trained on Flickr30K")


def test_sentences_of_a_search_have_no_images_and_its_model_s_vocabulary_and_parser(searches):
    assert paths_of("parse", "images", searches.project, dataset="search/mine") == []
    assert searches.project.training_dataset("search/mine") == "flickr30k"
    assert searches.project.datasets["search/mine"].parser == searches.project.datasets["flickr30k"].parser
    inputs = searches.inputs_of_sentences(SimpleNamespace(search="mine"))
    assert inputs["words"] == "results/flickr30k/vocabulary/words.parquet"
    assert inputs["caption_table"] == "results/search/mine/captions.parquet"


VECTORS = {"images": "i.npy", "sentences": "s.npy", "similarity": "dot"}
OWN = {"sentences": ["a dog"]}


def with_given(search, given=VECTORS, variant="mine"):
    """Overrides with a search of a given row."""
    asked = {"dataset": "flickr30k", "variant": variant, **search}
    return {"methods": {"mine": {"given": given}}, "searches": {"own": asked}}


def test_a_search_of_a_given_row_reads_its_files_and_trains_nothing():
    overrides = with_given(
        {**OWN, "vectors": "v.npy", "seed": 1},
        VECTORS | {"images": ["a.npy", "b.npy"], "sentences": ["s.npy", "t.npy"]},
    )
    searches = Stage(Project(ROOT, overrides), dag)
    assert list(searches.given_files("own").values()) == ["b.npy", "t.npy", "v.npy"]
    assert paths_of("search_given", "images", searches.project, search="own") == "b.npy"
    assert paths_of("search_given", "image_ids", searches.project, search="own") == []
    table = input_of("search_given", "caption_table", searches.image_table, search="own")
    assert table == "results/flickr30k/captions.parquet"
    title = searches.pages_job("own").settings["title"]
    assert title == "Your sentences, asked of the test images of Flickr30K, by mine (given)"
    job = searches.given_job("own").settings
    question = {"ranked_sentences": "all", "image_ids": [], "caption_ids": [], **OWN, "top": 5}
    assert (job["layout"], job["question"]) == (GIVEN, question)
    assert "results/search/own.md" not in searches.target_files("flickr30k")
    assert not any(name.startswith("search/") and "own" in name for name in searches.project.datasets)


@pytest.mark.parametrize(
    ("search", "message"),
    [
        (OWN, r"own\.sentences: mine is given and cannot encode sentences; name a file with their vectors as vectors"),
        ({"photographs": "p"}, r"own\.photographs: mine is given and cannot read photographs"),
        ({"caption_ids": ["1#0"], "split": "val"}, r"own\.split: mine is given, with vectors of the test split only"),
        ({"caption_ids": ["1#0"], "seed": 3}, r"own\.seed: mine has files of the seeds 0"),
        ({"caption_ids": ["1#0"], "image_ids": ["1"]}, r"own\.caption_ids: a search by ids allows no other queries"),
        (
            {"caption_ids": ["1#0"], **OWN, "vectors": "v.npy"},
            r"own\.caption_ids: a search by ids allows no other queries",
        ),
        ({"caption_ids": ["1#0"], "vectors": "v.npy"}, r"own\.vectors: they belong to your own sentences"),
        ({}, r"own: a search needs your own sentences"),
    ],
)
def test_what_a_given_row_cannot_be_asked_is_refused(search, message):
    with pytest.raises(InputError, match=message):
        load(ROOT / "config", with_given(search))


def test_a_search_of_photographs_by_sentences_has_no_split():
    search = {"dataset": "flickr30k", "variant": "vse", **OWN, "photographs": "p"}
    load(ROOT / "config", {"searches": {"own": {**search, "split": "test"}}})
    with pytest.raises(InputError, match=r"searches\.own\.split: your sentences and photographs search each other"):
        load(ROOT / "config", {"searches": {"own": {**search, "split": "train"}}})


def test_a_row_of_scores_and_a_trained_model_are_not_asked_by_vectors():
    with pytest.raises(InputError, match=r"own\.variant: mine is given by scores"):
        load(ROOT / "config", with_given({"image_ids": ["1"]}, {"scores": "a.npy"}))
    with pytest.raises(InputError, match=r"own\.image_ids: vse is trained and encodes sentences and photographs"):
        load(ROOT / "config", with_given({"image_ids": ["1"]}, variant="vse"))


def test_the_pages_of_a_search_need_pictures():
    features = {"butd": {"regions": {"format": "scan"}, "whole_by": "mean"}}
    mine = {"title": "Mine", "reader": "scan", "options": {"copies": 1}, "local": {"precomp": "p"}}
    mine |= {"features": features, "networks": {"regions": "butd", "whole": "butd"}, "word_vectors": None}
    overrides = {"datasets": {"mine": mine}, "searches": {"own": {"dataset": "mine", "variant": "vse", **OWN}}}
    with pytest.raises(InputError, match=r"datasets\.mine: the reader scan reads features and no pictures"):
        Stage(Project(ROOT, overrides), dag).sources("own")
