"""Alignments of a small DeFrag against a literal loop."""

import numpy as np
import pandas as pd
import pytest
import torch

from densevse.analyses.alignments.aligning import write_alignments
from densevse.analyses.alignments.alignments import ALIGNMENTS, TRIPLET_REGIONS, phrase_alignments
from densevse.artifacts.schemas.retrieval import RETRIEVAL
from densevse.artifacts.schemas.sentences import PARSES, RELATIONS
from densevse.data.inputs import Inputs
from densevse.language.triplets import write_relations
from densevse.methods.defrag import DeFrag
from densevse.methods.parameters.defrag import Parameters
from densevse.models.files import save_model
from snakeproof import schema
from snakeproof.errors import InputError
from snakeproof.statements import Statement, making
from tests.miniature import files, folder

__all__ = ["files", "folder"]


@pytest.fixture
def inputs(files, folder):
    paths = [str(folder / f"{name}.parquet") for name in ("captions", "parses", "words", "relations", "fragments")]
    kind = {"dependencies": "basic"}
    with making(Statement(wildcards=kind)):
        write_relations(paths[0], [paths[1]], paths[2], kind, *paths[3:])
    regions = [str(folder / "regions.parquet")]
    return Inputs(
        files.replace_inputs(parses=[paths[1]], relations=paths[3], view_whole=[], view_regions=regions), ["triplets"]
    )


@pytest.fixture
def method(inputs):
    torch.manual_seed(0)
    return DeFrag(Parameters(dimension=5, word_vectors="learned", word_dimension=4), inputs.shapes())


def retrieval(folder, pairs):
    """Every image of the test split ranks the last sentence first, which is of the last image."""
    images = pairs.rows.image_ids
    rows = pd.DataFrame({"query_id": images, "direction": "i2t", "fold": 0, "rank": 1, "candidates": 2})
    rows["top"] = [[pairs.rows.caption_ids[-1]]] * len(images)
    rows["tied"], rows["top_scores"], rows["top_true"] = False, [[1.0]] * len(images), [[False]] * len(images)
    schema.write(rows, RETRIEVAL, folder / "retrieval.parquet")
    return str(folder / "retrieval.parquet")


def write(folder, method, inputs, named=()):
    pairs, model = inputs.pairs("test"), folder / "model.safetensors"
    save_model(method, "defrag", ["triplets"], model, features=inputs.feature_settings(), device="cpu")
    outputs = {name: str(folder / f"{name}.parquet") for name in ("alignments", "triplet_regions")}
    write_alignments(
        str(model),
        retrieval(folder, pairs),
        named,
        threads=1,
        alignments=outputs["alignments"],
        regions=outputs["triplet_regions"],
        **inputs.files.paths_by_input(),
    )
    found = schema.read(outputs["alignments"], ALIGNMENTS), schema.read(outputs["triplet_regions"], TRIPLET_REGIONS)
    return pairs, *found


def literal_scores(method, inputs, pairs, row):
    """The score of a row's triplet with every region of its image."""
    relations = schema.read(inputs.files.input_path("relations"), RELATIONS)["relation"].to_list()
    words = torch.tensor(inputs.vocabulary.encode([row.governor, row.dependent]))
    relation = relations.index(row.relation)
    both = method.words.weight[words].flatten()
    s = (method.sentence.weight[relation] @ both + method.sentence.bias[relation]).clamp(min=0)
    image = pairs.images(np.flatnonzero(pairs.rows.image_ids == row.image_id))
    return torch.stack([method.image(region) @ s for region in image.views["regions"][0][image.present[0]]])


def test_each_triplet_has_its_best_region_of_its_own_image_and_of_those_that_rank_its_sentence_first(
    folder, inputs, method
):
    pairs, rows, _ = write(folder, method, inputs)
    parses = schema.read(folder / "parses.parquet", PARSES).set_index("caption_id")
    owners = dict(zip(pairs.rows.caption_ids, pairs.rows.image_ids[pairs.rows.image_of_caption], strict=True))
    first = pairs.rows.caption_ids[-1]
    wanted = {(image, caption) for caption, image in owners.items()} | {
        (image, first) for image in pairs.rows.image_ids
    }
    with_triplets = {(image, caption) for image, caption in wanted if len(parses.loc[caption, "tokens"]) > 2}
    assert set(zip(rows["image_id"], rows["caption_id"], strict=True)) == with_triplets
    for row in rows.itertuples():
        tokens = parses.loc[row.caption_id, "tokens"]
        assert (tokens[row.governor_token], tokens[row.dependent_token]) == (row.governor, row.dependent)
        scores = literal_scores(method, inputs, pairs, row)
        assert row.region == int(scores.argmax())
        assert row.score == pytest.approx(scores.max().item(), abs=1e-5)
        assert row.width == 8


def test_frequent_and_named_triplets_have_their_best_regions(folder, inputs, method):
    pairs, _, rows = write(folder, method, inputs, [["det", "dog", "red"]])
    assert {"det", "obl"} == set(rows["relation"])
    named = rows[(rows["governor"] == "dog") & (rows["dependent"] == "red")]
    assert len(named) >= len(pairs.rows.image_ids)
    for _, group in rows.groupby(["relation", "governor", "dependent"]):
        assert sorted(group["image_id"]) == sorted(pairs.rows.image_ids)
        assert group["score"].is_monotonic_decreasing
        for row in group.itertuples():
            assert row.score == pytest.approx(literal_scores(method, inputs, pairs, row).max().item(), abs=1e-5)


def test_a_named_triplet_that_training_did_not_have_is_an_error(folder, inputs, method):
    with pytest.raises(InputError, match=r"amod\(dog, red\) cannot be shown"):
        write(folder, method, inputs, [["amod", "dog", "red"]])


def test_a_triplet_is_judged_by_the_shortest_phrase_that_has_both_words():
    alignments = pd.DataFrame(
        {"caption_id": ["a", "a", "b"], "governor_token": [2, 2, 0], "dependent_token": [1, 5, 1], "region": [1, 2, 3]}
    )
    boxes = pd.DataFrame({"caption_id": ["a", "a", "a", "b"], "start": [0, 0, 4, -1], "end": [3, 9, 7, -1]})
    judged = phrase_alignments(alignments, boxes)
    assert judged[["region", "start", "end"]].to_numpy().tolist() == [[1, 0, 3], [2, 0, 9]]
