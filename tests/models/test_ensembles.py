"""Ensembles with given members: the sums of scores of different files, and files that do not match."""

import numpy as np
import pandas as pd
import pytest
import torch

from densevse.artifacts.schemas.datasets import CAPTIONS
from densevse.artifacts.schemas.features import IMAGE_FEATURES
from densevse.artifacts.schemas.retrieval import RETRIEVAL
from densevse.artifacts.schemas.sentences import TOKENS, WORDS
from densevse.data.files import Files
from densevse.data.inputs import Inputs
from densevse.evaluation.retrieval import retrieve
from densevse.models.ensembles import retrieve_by_ensemble, sum_scorers
from densevse.models.files import build_method, save_model
from densevse.models.retrieval import encode_test
from snakeproof import schema
from snakeproof.errors import InputError
from snakeproof.store import FeatureWriter
from tests.evaluation.test_given import floats, of_array, write_tables

PLAIN = {"similarity": None, "copies": 1, "unscored": None, "lower_is_better": False}


@pytest.fixture
def rank(tmp_path):
    """A function that ranks eight images with five sentences each by given members: their arrays, and their layout."""
    write_tables(tmp_path, [5] * 8)

    def rank(*members):
        described, paths = [], []
        for number, (layout, arrays) in enumerate(members):
            described.append({"name": f"row{number}", "keys": list(arrays), "layout": PLAIN | layout})
            for key, array in arrays.items():
                paths.append(str(tmp_path / f"{number}_{key}.npy"))
                np.save(paths[-1], array)
        tables = {"image_table": str(tmp_path / "images.parquet"), "caption_table": str(tmp_path / "captions.parquet")}
        of = {"dataset": "mine", "protocol": "full", "ensemble": "mixed", "seed": "0"}
        output = str(tmp_path / "ensemble.parquet")
        retrieve_by_ensemble([], described, "all", 10, 1, of, output, given=paths, **tables)
        return schema.read(output, RETRIEVAL), schema.check(output, RETRIEVAL).found

    return rank


def expected(scores, tmp_path):
    test = write_tables(tmp_path, [5] * 8)
    return retrieve(of_array(scores), test.rows, test.folds)


def same(found, scores, tmp_path):
    wanted = expected(scores, tmp_path)
    assert found["rank"].tolist() == wanted["rank"].tolist()
    assert [list(top) for top in found["top"]] == [list(top) for top in wanted["top"]]


def test_scores_and_vectors_are_added(rank, tmp_path):
    scores, images, sentences = floats(8, 40), floats(8, 3, seed=1), floats(40, 3, seed=2)
    found, stated = rank(({}, {"scores": scores}), ({"similarity": "dot"}, {"images": images, "sentences": sentences}))
    same(found, scores + images @ sentences.T, tmp_path)
    assert [one["given"] for one in stated["given_members"]] == [
        {"scores": "0_scores.npy"},
        {"images": "1_images.npy", "sentences": "1_sentences.npy"},
    ]


def test_distances_are_subtracted_and_each_direction_has_its_own_scores(rank, tmp_path):
    distances, i2t, t2i = floats(8, 40), floats(8, 40, seed=1), floats(40, 8, seed=2)
    found, _ = rank(({"lower_is_better": True}, {"scores": distances}), ({}, {"i2t": i2t, "t2i": t2i}))
    asked = {name: rows.reset_index(drop=True) for name, rows in found.groupby("direction")}
    for name, scores in (("i2t", i2t - distances), ("t2i", t2i.T - distances)):
        wanted = expected(scores, tmp_path).query("direction == @name").reset_index(drop=True)
        assert asked[name]["rank"].tolist() == wanted["rank"].tolist()


def test_a_member_of_other_images_or_sentences_is_named(rank):
    with pytest.raises(InputError, match=r"1_scores\.npy: expected 8 x 40, as the test split has, found 8 x 39"):
        rank(({}, {"scores": floats(8, 40)}), ({}, {"scores": floats(8, 39)}))


def test_a_model_and_given_scores_are_added_in_float64():
    """A float32 model with a cosine near 1 does not swallow the last digits of given scores."""
    small = np.array([[1e-9, 0.0]])
    blocks = [lambda *rows: lambda *block: torch.ones(1, 2), lambda *rows: lambda *block: small]
    found = sum_scorers(blocks)(np.arange(1), np.arange(2))(slice(0, 1), slice(0, 2))
    assert found.dtype == np.float64
    assert found[0, 0] > found[0, 1]


def test_each_model_reads_its_own_inputs(tmp_path):
    """The scores of two models with other views are added, though neither reads the view of the other."""
    test = write_tables(tmp_path, [1] * 8)
    files = {name: str(tmp_path / f"{name}.parquet") for name in ("tokens", "words", "view_whole", "view_centre")}
    files |= {"image_table": str(tmp_path / "images.parquet"), "caption_table": str(tmp_path / "captions.parquet")}
    captions = schema.read(files["caption_table"], CAPTIONS)[["caption_id", "image_id", "split"]]
    schema.write(captions.assign(tokens=[["a", name] for name in captions["image_id"]]), TOKENS, files["tokens"])
    words = pd.DataFrame({"word": ["a", *captions["image_id"]], "count": np.int32(1)})
    schema.write(words.assign(index=np.arange(2, 2 + len(words), dtype=np.int32)), WORDS, files["words"])
    models = {}
    for seed, view in enumerate(("view_whole", "view_centre")):
        with FeatureWriter(files[view], IMAGE_FEATURES, (3 + seed,), np.float32) as file:
            file.append(pd.DataFrame({"image_id": test.rows.image_ids}), floats(8, 3 + seed, seed=seed))
        own = Files({name: path for name, path in files.items() if name == view or not name.startswith("view")})
        torch.manual_seed(seed)
        made = build_method("vse", {"dimension": 4, "word_dimension": 3}, Inputs(own, ["words"]).shapes())
        models[str(tmp_path / f"{view}.safetensors")] = own
        save_model(made, "vse", ["words"], [*models][-1], device="cpu")
    read = [list(own.paths_by_input()) for own in models.values()]
    of = {"dataset": "mine", "protocol": "full", "ensemble": "mixed", "seed": "0"}
    output = str(tmp_path / "ensemble.parquet")
    retrieve_by_ensemble(read, [], "all", 10, 1, of, output, [*models], **files)
    alone = [encode_test({model: own}, 1).scorers[0] for model, own in models.items()]
    wanted = retrieve(sum_scorers(alone), test.rows, test.folds)
    assert schema.read(output, RETRIEVAL)["rank"].tolist() == wanted["rank"].tolist()
