"""Generators from artifacts to sentences on a small data set: training, writing, ranking, and unusable inputs."""

from collections import Counter

import numpy as np
import pandas as pd
import pytest
import torch

from densevse.artifacts.identity import Identity, read_identity
from densevse.artifacts.schemas.captions import GENERATED
from densevse.artifacts.schemas.sentences import PARSES, TOKENS
from densevse.config.methods import Decoding
from densevse.data.inputs import Inputs
from densevse.methods.interface import Sentences
from densevse.methods.structures import words_from_index
from densevse.models.captioning import Candidate, TagSequences, rank_candidates, write_captions
from densevse.models.files import open_model
from densevse.models.spaces import pad_words
from snakeproof import schema
from snakeproof.errors import InputError
from snakeproof.statements import Statement, making, read_statement
from tests.generators import CPU, PARAMETERS, trained, with_tags

__all__ = ["with_tags"]


def written(files, path, split="test", seed=0, **decoding):
    job = {"decoding": {"tag_sequences": 4, "beam": 3, "kept": 3, **decoding}, "seed": seed, "threads": 1}
    wildcards = {"dataset": "scenes", "generator": "sc_nlm", "seed": str(seed), "split": split}
    with making(Statement(wildcards=wildcards)):
        write_captions(job, wildcards, path, **files.paths_by_input())
    assert read_identity(path) == Identity("scenes", "sc_nlm", seed, split=split)
    return schema.read(path, GENERATED)


def test_training_lowers_the_perplexity_that_selects_it(folder, with_tags):
    files = trained(folder, with_tags, epochs=6, **PARAMETERS)
    history = pd.read_parquet(folder / "history.parquet")
    assert history["perplexity"].iloc[-1] < history["perplexity"].iloc[0]
    assert np.allclose(np.exp(-history["log_probability"]), history["perplexity"], rtol=1e-4)
    assert history.loc[history["best"], "perplexity"].item() == history["perplexity"].min()
    assert read_statement(files.input_path("model")).found["features"] == {}  # it reads embeddings, and no features


def test_sentences_follow_their_tags_and_are_ranked_by_both_scores(folder, with_tags):
    rows = written(trained(folder, with_tags, **PARAMETERS), folder / "written.parquet")
    assert set(rows["image_id"]) == {"test16", "test17", "test18"}
    assert (rows["tokens"].str.len() == rows["tags"].str.len()).all()
    assert np.allclose(rows["score"], rows["translation"] + 0.1 * rows["language"], atol=1e-5)
    for _, of_image in rows.groupby("image_id"):
        assert of_image["rank"].tolist() == list(range(1, len(of_image) + 1))
        assert of_image["score"].is_monotonic_decreasing
        assert of_image["sentence"].is_unique
    tokens = schema.read(folder / "tokens.parquet", TOKENS)
    known = {tuple(t for t in sentence if t != ".") for sentence in tokens.loc[tokens["split"] == "train", "tokens"]}
    found = [tuple(t for t in sentence if t != ".") in known for sentence in rows["tokens"]]
    assert rows["in_training"].tolist() == found


def test_the_same_seed_writes_the_same_file(folder, with_tags):
    files = trained(folder, with_tags, **PARAMETERS)
    for name in ("one", "other"):
        written(files, folder / f"{name}.parquet", seed=3)
    assert (folder / "one.parquet").read_bytes() == (folder / "other.parquet").read_bytes()


def test_the_most_frequent_tag_sequences_are_the_same_for_all_images(folder, with_tags):
    files = trained(folder, with_tags, **PARAMETERS)
    rows = written(files, folder / "written.parquet", choice_of_tags="most_frequent", tag_sequences=1)
    assert rows["image_id"].tolist() == ["test16", "test17", "test18"]
    assert rows["tags"].map(tuple).nunique() == 1
    sequences = TagSequences([(2,), (3, 4), (5,)], np.array([1, 7, 7]))
    assert sequences.frequent_sequences(2) == [(3, 4), (5,)]
    assert sequences.frequent_sequences(9) == [(3, 4), (5,), (2,)]


def test_translation_is_the_likeness_in_the_joint_space(folder, with_tags):
    files = trained(folder, with_tags, **PARAMETERS)
    row = written(files, folder / "written.parquet").iloc[0]
    plain = files.replace_inputs(view_whole=[str(folder / "whole.parquet")])
    inputs, model = open_model(plain, files.input_path("joint_embedding"), CPU)
    with torch.inference_mode():
        image = model.embed_images(inputs.pairs("test").images(np.array([0])))
        words = words_from_index(pad_words([inputs.vocabulary.encode(row["tokens"])]), CPU)
        sentence = model.embed_sentences(Sentences({"words": words}))
    assert row["translation"] == pytest.approx(float(image @ sentence.T), abs=2e-3)  # embeddings are kept as float16


@pytest.mark.parametrize("ranking", ["likelihood", "joint_likelihood"])
def test_sentences_can_be_ranked_by_the_likelihood_of_a_word(folder, with_tags, ranking):
    rows = written(trained(folder, with_tags, **PARAMETERS), folder / "written.parquet", ranking=ranking)
    parses = schema.read(folder / "parses.parquet", PARSES)
    of_training = parses[parses["image_id"].str.startswith("train") & (parses["status"] == "ok")]
    counts = Counter(map(tuple, of_training["tags"]))
    log_tags = [np.log(counts[tuple(tags)] / counts.total()) for tags in rows["tags"]]
    whole = rows["log_likelihood"] + (log_tags if ranking == "joint_likelihood" else 0)
    assert np.allclose(rows["score"], whole / (rows["tokens"].str.len() + 1), atol=1e-5)
    assert rows.groupby("image_id")["score"].agg(lambda of_image: of_image.is_monotonic_decreasing).all()


def test_of_equal_sentences_the_best_is_kept():
    one, other = Candidate(0, (5,), (2,), -1.0, log_tags=-9.0), Candidate(0, (5,), (3,), -2.0, log_tags=-1.0)
    for ranking, best in (("likelihood", one), ("joint_likelihood", other), ("translation", one)):
        assert rank_candidates([other, one], Decoding(ranking=ranking)) == {0: [best]}


@pytest.mark.parametrize("attributes", ["none", "content"])
def test_without_structure_all_hypotheses_are_candidates(folder, with_tags, attributes):
    files = trained(folder, with_tags, **PARAMETERS, attributes=attributes)
    rows = written(files, folder / "written.parquet", beam=3)
    assert rows["tags"].str.len().eq(0).all()
    assert rows.groupby("image_id").size().le(3).all()


def test_a_captioner_reads_a_view_and_ranks_by_its_own_likelihood(folder, files):
    trained_files = trained(folder, files, "lstm_captioner", ["words"], dimension=8, word_dimension=4)
    rows = written(trained_files, folder / "written.parquet", split="val")
    assert rows["image_id"].nunique() == 4
    assert rows["translation"].isna().all()
    assert (rows["score"] == rows["log_likelihood"]).all()


def test_a_generator_whose_training_has_no_tags_is_refused(folder, with_tags):
    files = trained(folder, with_tags, **PARAMETERS)
    with pytest.raises(InputError, match="no training sentence of at most 1 words"):
        written(files, folder / "written.parquet", longest_sentence=1)
    assert not (folder / "written.parquet").exists()


def test_a_joint_space_that_is_none_is_refused(folder, with_tags):
    files = trained(folder, with_tags, **PARAMETERS)
    with pytest.raises(InputError, match="Name another variant"):
        written(files.replace_inputs(joint_embedding=str(folder / "sc_nlm.safetensors")), folder / "written.parquet")


def test_embeddings_of_other_sentences_are_refused(folder, with_tags):
    files = with_tags.replace_inputs(joint_embedding_train=with_tags.input_path("joint_embedding_val"))
    with pytest.raises(InputError, match="has no vector"):
        trained(folder, files, **PARAMETERS)


def test_what_a_captioner_wrote_is_a_view_of_its_images(folder, files):
    """SCO's ctx + sen."""
    captioner = trained(folder, files, "lstm_captioner", ["words"], dimension=8, word_dimension=4)
    paths = [str(folder / f"{split}_written.parquet") for split in ("train", "val", "test")]
    for split, path in zip(("train", "val", "test"), paths, strict=True):
        written(captioner, path, split=split)
    inputs = Inputs(files.replace_inputs(view_whole=[], view_generated_captions=paths), ["words"])
    rows = schema.read(paths[2], GENERATED)
    first = rows[rows["rank"] == 1]["tokens"]
    taken = inputs.pairs("test").images(np.arange(3)).views["generated_captions"]
    assert [[word for word in words if word] for words in taken.tolist()] == [
        inputs.vocabulary.encode(tokens) for tokens in first
    ]
    assert inputs.shapes().features == {"generated_captions": 1}
    with pytest.raises(InputError, match="have no generated sentence"):
        Inputs(files.replace_inputs(view_whole=[], view_generated_captions=paths[:2]), ["words"]).pairs("test")
