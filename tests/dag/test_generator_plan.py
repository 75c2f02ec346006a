"""The artifacts that generators read."""

from pathlib import Path
from types import SimpleNamespace

import pytest

from densevse.dag import generators, training
from densevse.dag.project import Project, Stage
from snakeproof.errors import InputError

ROOT = Path(__file__).parents[2]
EMBEDDINGS = "results/flickr8k/embeddings/vse/seed1/round0"


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path_factory.mktemp("project"))
        return Project(ROOT, {})


def job(**wildcards):
    return SimpleNamespace(**{"dataset": "flickr8k", "seed": "1", **wildcards})


def test_sc_nlm_is_trained_on_the_sentences_of_a_trained_joint_space(whole):
    inputs = Stage(whole, generators).inputs_of_training(job(generator="sc_nlm"))
    assert inputs["joint_embedding_train"] == f"{EMBEDDINGS}/train.parquet"
    assert inputs["joint_embedding_val"] == f"{EMBEDDINGS}/val.parquet"
    assert inputs["tags"] == "results/flickr8k/vocabulary/tags.parquet"
    assert not any(name.startswith("view_") for name in inputs)


def test_sentences_about_a_split_are_rated_by_the_same_space(whole):
    inputs = Stage(whole, generators).inputs_of_captions(job(generator="lbl", split="test"))
    assert inputs["joint_embedding_test"] == f"{EMBEDDINGS}/test.parquet"
    assert inputs["joint_embedding"] == "results/flickr8k/models/vse/seed1/round0/model.safetensors"


def test_trials_of_sc_nlm_are_trained_with_their_own_parameters(whole):
    def parameters(generator):
        return Stage(whole, generators).job("flickr8k_resplit2", generator, 0).settings["job"]["parameters"]

    four, standardised = {"tag_context": 4}, {"standardised_content": True}
    assert not parameters("sc_nlm")["standardised_content"]
    assert parameters("sc_nlm_four_tags") == parameters("sc_nlm") | four
    assert parameters("sc_nlm_standardised") == parameters("sc_nlm") | standardised
    assert parameters("sc_nlm_four_tags_standardised") == parameters("sc_nlm") | four | standardised


def test_a_captioner_reads_features_and_no_joint_space(whole):
    inputs = Stage(whole, generators).inputs_of_captions(job(generator="lstm_captioner", split="val"))
    assert inputs["view_whole"][0].startswith("results/flickr8k/features/vgg19/whole/")
    assert not {"joint_embedding", "joint_embedding_val", "parses", "tags"} & inputs.keys()


def test_a_view_without_a_network_is_refused_by_name(whole):
    project = Project(ROOT, {"generators": {"lstm_captioner": {"view": "grid"}}})
    del project.config.datasets["scenes"].networks["grid"]
    with pytest.raises(InputError, match=r"datasets\.scenes\.networks: lstm_captioner reads the view grid"):
        Stage(project, generators).inputs_of_training(job(dataset="scenes", generator="lstm_captioner"))


def test_ctx_and_sen_reads_what_the_captioner_wrote_about_all_splits(whole):
    inputs = Stage(whole, training).inputs(job(variant="sco_ctx_sen"))
    folder = "results/flickr8k/generated_captions/lstm_captioner/seed1"
    assert inputs["view_generated_captions"] == [f"{folder}/{split}.parquet" for split in ("train", "val", "test")]


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"generators": {"sc_nlm": {"joint_embedding": "vsee"}}}, r"generators\.sc_nlm\.joint_embedding: no 'vsee'"),
        (
            {"generators": {"sc_nlm": {"view": "whole"}}},
            r"generators\.sc_nlm\.joint_embedding: one of joint_embedding and view",
        ),
        ({"generators": {"sc_nlm": {"decoding": {"beam": 0}}}}, r"generators\.sc_nlm\.decoding\.beam"),
        ({"generators": {"sc_nlm": {"variants": {"lbl": {"parameters": {"factors": 0}}}}}}, r"parameters\.factors"),
        ({"generators": {"sc_nlm": {"model": "vse"}}}, r"model: no 'vse' in densevse/methods/generators|sc_nlm"),
        ({"methods": {"sco": {"variants": {"sco_ctx_sen": {"generator": "nic"}}}}}, r"generator: no 'nic'"),
        (
            {"methods": {"vse": {"generator": "lstm_captioner"}}},
            r"methods\.vse\.generator: it is required for the view",
        ),
        ({"methods": {"vse": {"model": "sc_nlm"}}}, r"model: no 'sc_nlm' in densevse/methods"),
    ],
)
def test_wrong_entries_are_refused_by_their_path(wrong, message):
    with pytest.raises(InputError, match=message):
        Project(ROOT, wrong)
