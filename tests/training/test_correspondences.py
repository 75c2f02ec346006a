"""Regions assigned to the phrases of a small data set, from artifacts to the artifact."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch

from densevse.artifacts import schema
from densevse.artifacts.boxes import BOX
from densevse.artifacts.schemas.correspondences import CORRESPONDENCES
from densevse.artifacts.schemas.datasets import BOXES, CAPTIONS, IMAGES
from densevse.artifacts.schemas.features import IMAGE_FEATURES, REGION_FEATURES
from densevse.artifacts.schemas.parses import PARSES
from densevse.artifacts.schemas.retrieval import RETRIEVAL
from densevse.artifacts.schemas.tables import RESULTS
from densevse.artifacts.schemas.vocabulary import WORDS
from densevse.artifacts.store import FeatureStore, FeatureWriter
from densevse.errors import InputError
from densevse.evaluation.tables import Outputs, TableInputs, make_table
from densevse.methods.hm_lstm import HMLSTM
from densevse.methods.vse import VSE
from densevse.training.correspondences import correspond, embed_regions, open_model, write_correspondences
from densevse.training.data import Files, Inputs
from densevse.training.embeddings import embed
from densevse.training.encode import evaluation
from densevse.training.models import save_model
from densevse.training.region_ranking import rank_regions, ranked

NAMES = {"a": 3, "b": 1, "c": 4}  # image -> regions, the whole image included
TREES = [
    "(ROOT (S (NP (DT A) (NN dog)) (VP (VBZ sees) (NP (DT a) (NN ball)))))",
    "(ROOT (NP (NP (DT A) (NN dog)) (PP (IN with) (NP (NN balls)))))",
]
PHRASES = [[("A dog", 0, 2), ("a ball", 3, 5)], [("A dog", 0, 2), ("balls", 3, 4)]]


def tokens_of(tree):
    return [part.rstrip(")") for part in tree.split() if part.endswith(")")]


@pytest.fixture
def files(tmp_path):
    """Three training images (one of them without a detection) with two sentences each, and one for validation."""
    images = [
        {"image_id": name, "source": "images", "file": f"{name}.jpg", "split": split, "width": 100, "height": 80,
         "sha256": "", "family": "f", "captions": 2, "status": "ok"}
        for name, split in [*((name, "train") for name in NAMES), ("d", "val"), ("e", "test"), ("f", "test")]
    ]  # fmt: skip
    captions = [
        {"caption_id": f"{image['image_id']}#{position}", "image_id": image["image_id"], "position": position,
         "text": " ".join(tokens_of(tree)), "split": image["split"]}
        for image in images for position, tree in enumerate(TREES)
    ]  # fmt: skip
    parses = [
        {"caption_id": caption["caption_id"], "image_id": caption["image_id"], "text": caption["text"], "status": "ok",
         "tokens": tokens_of(TREES[caption["position"]]), "lemmas": [], "tags": [], "tree": TREES[caption["position"]],
         "basic_dependencies": [], "enhanced_dependencies": []}
        for caption in captions
    ]  # fmt: skip
    words = ["a", "dog", "ball", "sees", "with", "balls"]
    paths = {name: str(tmp_path / f"{name}.parquet") for name in ("images", "captions", "words", "parses", "regions")}
    schema.write(images, IMAGES, paths["images"], {})
    schema.write(captions, CAPTIONS, paths["captions"], {})
    schema.write(parses, PARSES, paths["parses"], {})
    rows = pd.DataFrame({"index": np.arange(2, 2 + len(words), dtype=np.int32), "word": words, "count": 1})
    schema.write(rows.astype({"count": np.int32}), WORDS, paths["words"], {})
    write_regions(paths["regions"])
    return Files(
        paths["images"],
        paths["captions"],
        paths["words"],
        {"regions": [paths["regions"]]},
        [paths["parses"]],
        None,
        None,
    )


def write_regions(path):
    rows = pd.DataFrame(
        [
            {"image_id": name, "rank": rank, "x": 10.0 * rank, "y": 5.0, "width": 20.0, "height": 30.0 + rank,
             "score": 0.5, "class_name": ""}
            for name, count in [*NAMES.items(), ("d", 2), ("e", 2), ("f", 2)] for rank in range(count)
        ]
    ).astype({"rank": np.int32, "x": np.float32, "y": np.float32, "width": np.float32, "height": np.float32,
              "score": np.float32})  # fmt: skip
    vectors = np.random.default_rng(0).normal(size=(len(rows), 6)).astype(np.float32)
    with FeatureWriter(path, REGION_FEATURES, (6,), np.float32, {}) as writer:
        writer.append(rows, vectors)


@pytest.fixture
def model(files, tmp_path):
    torch.manual_seed(0)
    parameters = {"dimension": 5, "hidden": 4, "word_vectors": "learned", "word_dimension": 3}
    path = tmp_path / "model.safetensors"
    save_model(HMLSTM.build(parameters, Inputs(files).shapes()), "hm_lstm", path, {})
    return path


def test_every_noun_phrase_of_the_training_sentences_has_a_row(files, model, tmp_path):
    output = tmp_path / "correspondences.parquet"
    write_correspondences(files, model, 1, output, {"round": 1})
    rows = schema.read(output, CORRESPONDENCES)
    expected = [
        (f"{name}#{position}", name, *phrase)
        for name in NAMES
        for position, phrases in enumerate(PHRASES)
        for phrase in phrases
    ]
    found = rows[["caption_id", "image_id", "phrase", "start", "end"]].itertuples(index=False, name=None)
    assert sorted(found) == sorted(expected)
    assert schema.check(output, CORRESPONDENCES) == {"round": 1}


def test_each_phrase_has_its_image_s_best_region_with_its_box(files, model):
    inputs, method = open_model(files, model, 1)
    rows = correspond(method, inputs, "train").set_index(["caption_id", "start"])
    pairs = inputs.pairs("train")
    with evaluation(method):
        regions = embed_regions(method, pairs.images(np.array([2])))[0]
        trees = pairs.forest.trees(np.array([4]))
        dog = method.embed_nodes(trees, torch.tensor([2]))[0]
    scores = regions @ dog
    row = rows.loc[("c#0", 0)]
    assert row["region"] == 1 + int(scores[1:].argmax())
    assert row["confidence"] == pytest.approx(float(scores[row["region"]]), abs=1e-5)
    assert (row["x"], row["height"]) == (10 * row["region"], 30 + row["region"])
    assert (rows["confidence"].abs() <= 1 + 1e-5).all()


def test_an_image_without_detections_gives_its_phrases_the_whole_image(files, model):
    inputs, method = open_model(files, model, 1)
    rows = correspond(method, inputs, "train")
    assert (rows["region"] == 0).eq(rows["image_id"] == "b").all()


def test_the_number_of_images_at_once_changes_nothing(files, model, monkeypatch):
    inputs, method = open_model(files, model, 1)
    whole = correspond(method, inputs, "train")
    monkeypatch.setattr("densevse.training.correspondences.IMAGES_AT_ONCE", 1)
    pd.testing.assert_frame_equal(correspond(method, inputs, "train"), whole, rtol=1e-5)


def test_a_round_reads_what_was_assigned(files, model, tmp_path):
    output = str(tmp_path / "correspondences.parquet")
    write_correspondences(files, model, 1, output, {})
    joined = replace(files, correspondences=output)
    found = Inputs(joined).pairs("train").batch(np.array([0, 1, 5])).sentences.correspondences
    assert found.sentence.tolist() == [0, 0, 1, 1, 2, 2]
    first = schema.read(output, CORRESPONDENCES).sort_values(["caption_id", "start"])
    assert found.region[:2].tolist() == first["region"][:2].tolist()


def test_a_model_without_phrases_is_refused(files, tmp_path):
    path = tmp_path / "vse.safetensors"
    parameters = {"dimension": 4, "word_dimension": 3, "word_vectors": "learned", "encoder": "gru", "loss": "sum",
                  "similarity": "cosine", "margin": 0.2, "dropout": 0.0,
                  "warm_up_steps": 0}  # fmt: skip
    whole = str(tmp_path / "whole.parquet")
    with FeatureWriter(whole, IMAGE_FEATURES, (6,), np.float32, {}) as writer:
        writer.append(pd.DataFrame({"image_id": [*NAMES, "d", "e", "f"]}), np.zeros((6, 6), np.float32))
    files = replace(files, features={"whole": [whole]}, parses=[])
    save_model(VSE.build(parameters, Inputs(files).shapes()), "vse", path, {})
    with pytest.raises(InputError, match="expected an HM-LSTM, found VSE"):
        open_model(files, path, 1)


def test_everything_of_a_split_is_embedded_with_its_words_and_boxes(files, model):
    inputs, method = open_model(files, model, 1)
    embedded = embed(method, inputs, "train")
    rows = embedded.rows
    assert rows["kind"].value_counts().to_dict() == {"image": 3, "region": 5, "sentence": 6, "phrase": 12}
    np.testing.assert_allclose(np.linalg.norm(embedded.vectors, axis=1), 1, rtol=1e-5)
    of_c = rows[rows["image_id"] == "c"]
    assert of_c.loc[of_c["kind"] == "sentence", "text"].tolist() == ["A dog sees a ball", "A dog with balls"]
    assert sorted(of_c.loc[of_c["kind"] == "phrase", "text"]) == ["A dog", "A dog", "a ball", "balls"]
    assert of_c.loc[of_c["kind"] == "region", "x"].tolist() == [10, 20, 30]


def test_embeddings_give_the_assigned_regions(files, model):
    inputs, method = open_model(files, model, 1)
    embedded, assigned = embed(method, inputs, "train"), correspond(method, inputs, "train")
    regions, phrases = embedded.of_kind("region"), embedded.of_kind("phrase")
    row = assigned[assigned["image_id"] == "c"].iloc[0]
    phrase = ((phrases.rows["caption_id"] == row["caption_id"]) & (phrases.rows["start"] == row["start"])).to_numpy()
    of_c = regions.where((regions.rows["image_id"] == "c").to_numpy())
    scores = of_c.vectors @ phrases.where(phrase).vectors[0]
    assert of_c.rows["rank"][int(scores.argmax())] == row["region"]
    assert scores.max() == pytest.approx(row["confidence"], abs=1e-5)


@pytest.fixture
def true_boxes(tmp_path):
    """Boxes of the test images' phrases: "A dog" of e has two, which are one region; "balls" of f has none."""
    phrases = [("e#0", 0, 2, (0, 0, 10, 10)), ("e#0", 0, 2, (30, 5, 10, 10)), ("e#1", 0, 2, (0, 0, 40, 15)),
               ("e#0", 3, 5, (50, 0, 9, 9)), ("f#0", 0, 2, (1, 2, 3, 4)), ("f#1", 0, 1, (7, 7, 7, 7))]  # fmt: skip
    rows = [
        {"caption_id": c, "image_id": c[0], "phrase": "", "start": s, "end": e, **dict(zip(BOX, box, strict=True))}
        for c, s, e, box in phrases
    ]
    path = tmp_path / "boxes.parquet"
    schema.write(rows, BOXES, path, {})
    return str(path)


@pytest.fixture
def true_regions(tmp_path):
    boxes = {"e": [(0, 0, 100, 80), (0, 0, 40, 15), (50, 0, 9, 9)], "f": [(0, 0, 100, 80), (1, 2, 3, 4), (7, 7, 7, 7)]}
    rows = pd.DataFrame(
        [
            {"image_id": name, "rank": rank, "score": 0.0, "class_name": "", **dict(zip(BOX, box, strict=True))}
            for name, found in boxes.items()
            for rank, box in enumerate(found)
        ]
    )
    vectors = np.random.default_rng(1).normal(size=(len(rows), 6)).astype(np.float32)
    path = str(tmp_path / "true.parquet")
    with FeatureWriter(path, REGION_FEATURES, (6,), np.float32, {}) as writer:
        writer.append(rows.astype({"rank": np.int32, **dict.fromkeys([*BOX, "score"], np.float32)}), vectors)
    return path


def test_true_regions_and_the_parser_s_phrases_are_ranked(files, model, true_boxes, true_regions, tmp_path):
    output = str(tmp_path / "ranking.parquet")
    rank_regions(files, model, true_regions, true_boxes, 1, output, {})
    rows = schema.read(output, RETRIEVAL)
    regions, phrases = (rows[rows["direction"] == name] for name in ("annotation", "search"))
    assert regions["query_id"].tolist() == ["e/1", "e/2", "f/1"]  # no phrase of the parser's means f/2
    assert phrases["query_id"].tolist() == ["e#0/0-2", "e#1/0-2", "e#0/3-5", "f#0/0-2"]
    assert schema.check(output, RETRIEVAL)["phrases_of_regions"] == [2, 1, 1]
    assert set(regions["candidates"]) == {4}
    assert set(phrases["candidates"]) == {3}
    # "A dog" has the same words in three places, so its regions find it with equal scores: f's is a tie, and counts.
    assert (rows["rank"] >= 1).all()
    dog = regions.set_index("query_id")["rank"]
    assert {dog["e/1"], dog["f/1"]} <= {2, 3, 4}


def test_boxes_without_features_are_an_error(files, model, true_boxes, true_regions):
    inputs, method = open_model(files, model, 1)
    boxes = schema.read(true_boxes, BOXES)
    boxes.loc[boxes["caption_id"] == "f#0", "x"] = 2.5
    with pytest.raises(InputError, match="1 of these boxes have no features"):
        ranked(method, inputs, FeatureStore([true_regions], REGION_FEATURES), boxes)


def test_the_table_of_regions_sets_ours_beside_the_published(files, model, true_boxes, true_regions, tmp_path):
    ranking = str(tmp_path / "ranking.parquet")
    rank_regions(files, model, true_regions, true_boxes, 1, ranking, {})
    made = {"networks": {}, "proposer": None, "parser": "grammar", "word_vectors": None, "used": {}}
    section = {
        "title": "Small",
        "dataset": "small",
        "protocol": "regions",
        "published": "coco_region",
        "measured": {"hm_lstm": {"title": "HM-LSTM", "seeds": [0], **made}},
    }
    printed = [{"paper": "hm_lstm", "table": "4", "rows": None}]
    settings = {
        "title": "Regions",
        "reference": None,
        "published": printed,
        "sections": [section],
        "entries": {"network": {}},
    }
    outputs = Outputs(*(str(tmp_path / f"table.{ending}") for ending in ("md", "html", "csv", "parquet")))
    published = Path(__file__).parents[2] / "config/published"
    make_table(
        TableInputs([], [], [ranking], [published / "hm_lstm.csv"], [published / "hm_lstm.yaml"]), settings, outputs
    )
    rows = schema.read(outputs.parquet, RESULTS).set_index(["variant", "kind"])
    assert rows.loc[("hm_lstm", "published"), "annotation_r1"] == pytest.approx(10.8)
    assert np.isnan(rows.loc[("hm_lstm", "published"), "difference"])  # the paper's regions are others
    ours = schema.read(ranking, RETRIEVAL)
    first = ours.loc[ours["direction"] == "annotation", "rank"] == 1
    assert rows.loc[("hm_lstm", "measured"), "annotation_r1"] == pytest.approx(100 * first.mean())
    # A region with 2 of the 4 phrases finds one first half the time, the two with one a quarter of the time.
    assert rows.loc[("random", "random"), "annotation_r1"] == pytest.approx(100 * (0.5 + 0.25 + 0.25) / 3)
    text = Path(outputs.markdown).read_text(encoding="utf-8")
    assert "3 regions, 4 phrases" in text
    assert "Small: 3 regions; the papers' are others, so no Difference is printed." in text
