"""Regions assigned to the phrases of a small data set, from artifacts to the artifact."""

from dataclasses import replace
from importlib.metadata import version
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch

from densevse.artifacts.boxes import BOX
from densevse.artifacts.identity import Identity, read_identity
from densevse.artifacts.schemas.datasets import BOXES, CAPTIONS, IMAGES
from densevse.artifacts.schemas.features import CORRESPONDENCES, EMBEDDINGS, IMAGE_FEATURES, REGION_FEATURES
from densevse.artifacts.schemas.retrieval import RETRIEVAL
from densevse.artifacts.schemas.sentences import PARSES, TOKENS, WORDS
from densevse.config.tables import PrintedTable
from densevse.data.files import Files
from densevse.data.inputs import Inputs
from densevse.evaluation.region_ranking import rank_embeddings, rank_regions
from densevse.methods.interface import Method
from densevse.models.embedding import (
    embed,
    embed_split,
    embed_true_regions,
    find_correspondences,
    region_vectors,
    write_correspondences,
)
from densevse.models.encoding import evaluation
from densevse.models.files import build_method, open_model, save_model
from densevse.report.columns import RESULTS
from densevse.report.plan import MeasuredVariant, SectionPlan, TablePlan
from densevse.report.results import Outputs, make_table
from snakeproof import schema
from snakeproof.errors import InputError
from snakeproof.statements import Statement, making
from snakeproof.store import FeatureStore, FeatureWriter

NAMES = {"a": 3, "b": 1, "c": 4}  # image -> regions, the whole image included
TREES = [
    "(ROOT (S (NP (DT A) (NN dog)) (VP (VBZ sees) (NP (DT a) (NN ball)))))",
    "(ROOT (NP (NP (DT A) (NN dog)) (PP (IN with) (NP (NN balls)))))",
]
CPU = torch.device("cpu")
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
    schema.write(images, IMAGES, paths["images"])
    schema.write(captions, CAPTIONS, paths["captions"])
    schema.write(parses, PARSES, paths["parses"])
    rows = pd.DataFrame({"index": np.arange(2, 2 + len(words), dtype=np.int32), "word": words, "count": 1})
    schema.write(rows.astype({"count": np.int32}), WORDS, paths["words"])
    write_regions(paths["regions"])
    return Files(
        {
            "image_table": paths["images"],
            "caption_table": paths["captions"],
            "words": paths["words"],
            "view_regions": [paths["regions"]],
            "parses": [paths["parses"]],
        }
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
    with FeatureWriter(path, REGION_FEATURES, (6,), np.float32) as writer:
        writer.append(rows, vectors)


@pytest.fixture
def model(files, tmp_path):
    torch.manual_seed(0)
    parameters = {"dimension": 5, "hidden": 4, "word_vectors": "learned", "word_dimension": 3}
    path = tmp_path / "model.safetensors"
    save_model(build_method("hm_lstm", parameters, Inputs(files, ["trees"]).shapes()), "hm_lstm", ["trees"], path)
    return path


@pytest.fixture
def opened(files, model):
    """The artifacts and the trained model."""
    return open_model(files, model, CPU, "embed_phrases", "embed_regions", "assign")


def test_every_noun_phrase_of_the_training_sentences_has_a_row(opened, tmp_path):
    output = tmp_path / "correspondences.parquet"
    inputs, method = opened
    write_correspondences(method, inputs, "train", output)
    rows = schema.read(output, CORRESPONDENCES)
    expected = [
        (f"{name}#{position}", name, *phrase)
        for name in NAMES
        for position, phrases in enumerate(PHRASES)
        for phrase in phrases
    ]
    found = rows[["caption_id", "image_id", "phrase", "start", "end"]].itertuples(index=False, name=None)
    assert sorted(found) == sorted(expected)


def test_each_phrase_has_its_image_s_best_region_with_its_box(opened):
    inputs, method = opened
    rows = find_correspondences(method, inputs, "train").set_index(["caption_id", "start"])
    pairs = inputs.pairs("train")
    with evaluation(method):
        regions = region_vectors(method, pairs, np.array([2]))[0][0]
        trees = pairs.forest().take(np.array([4]))
        dog = method.embed_nodes(trees, torch.tensor([2]))[0]
    scores = regions @ dog
    row = rows.loc[("c#0", 0)]
    assert row["region"] == 1 + int(scores[1:].argmax())
    assert row["confidence"] == pytest.approx(float(scores[row["region"]]), abs=1e-5)
    assert (row["x"], row["height"]) == (10 * row["region"], 30 + row["region"])
    assert (rows["confidence"].abs() <= 1 + 1e-5).all()


def test_an_image_without_detections_gives_its_phrases_the_whole_image(opened):
    inputs, method = opened
    rows = find_correspondences(method, inputs, "train")
    assert (rows["region"] == 0).eq(rows["image_id"] == "b").all()


def test_the_number_of_images_at_once_changes_nothing(opened, monkeypatch):
    inputs, method = opened
    whole = find_correspondences(method, inputs, "train")
    monkeypatch.setattr("densevse.models.embedding.IMAGES_AT_ONCE", 1)
    pd.testing.assert_frame_equal(find_correspondences(method, inputs, "train"), whole, rtol=1e-5)


def test_an_image_without_a_sentence_changes_no_assignment(files, opened, monkeypatch):
    inputs, method = opened
    whole = find_correspondences(method, inputs, "train")
    captions = schema.read(files.input_path("caption_table"), CAPTIONS)
    few = files.input_path("caption_table").replace("captions", "few_captions")
    schema.write(captions[captions["image_id"] != "b"], CAPTIONS, few)
    inputs = Inputs(files.replace_inputs(caption_table=few), ["trees"])
    monkeypatch.setattr("densevse.models.embedding.IMAGES_AT_ONCE", 1)
    rest = whole[whole["image_id"] != "b"].reset_index(drop=True)
    pd.testing.assert_frame_equal(find_correspondences(method, inputs, "train"), rest, rtol=1e-5)


def test_a_round_reads_what_was_assigned(files, opened, tmp_path):
    output = str(tmp_path / "correspondences.parquet")
    inputs, method = opened
    write_correspondences(method, inputs, "train", output)
    joined = files.replace_inputs(correspondences=output)
    found = Inputs(joined, ["trees"]).pairs("train").batch(np.array([0, 1, 5])).correspondences
    assert found.sentence.tolist() == [0, 0, 1, 1, 2, 2]
    first = schema.read(output, CORRESPONDENCES).sort_values(["caption_id", "start"])
    assert found.region[:2].tolist() == first["region"][:2].tolist()


def boxes_of_phrases(*phrases):
    """BOXES rows of (caption, start, end, box)."""
    rows = [
        {"caption_id": c, "image_id": c[0], "phrase": "", "start": s, "end": e, **dict(zip(BOX, box, strict=True))}
        for c, s, e, box in phrases
    ]
    return pd.DataFrame(rows)


@pytest.mark.parametrize("at_once", [1, 5, 100])
def test_true_boxes_decide_what_phrases_mean(at_once, opened, tmp_path, monkeypatch):
    """Regions are (10 rank, 5, 20, 30 + rank): the dog of a#0 is region 2, by the second of its boxes."""
    monkeypatch.setattr("densevse.models.embedding.PHRASES_AT_ONCE", at_once)
    inputs, method = opened
    true = boxes_of_phrases(
        ("a#0", 0, 2, (90, 0, 9, 9)), ("a#0", 0, 2, (21, 6, 20, 32)), ("a#0", 3, 5, (90, 0, 9, 9)),
        ("c#1", 3, 4, (10, 5, 20, 31)), ("c#1", 0, 1, (10, 5, 20, 31)), ("c#0", -1, -1, (10, 5, 20, 31)),
    )  # fmt: skip
    output = tmp_path / "correspondences.parquet"
    write_correspondences(method, inputs, "train", output, true)
    rows = schema.read(output, CORRESPONDENCES)
    assert rows[["caption_id", "start", "end", "phrase", "region", "confidence"]].values.tolist() == [
        ["a#0", 0, 2, "A dog", 2, 1],
        ["c#1", 3, 4, "balls", 1, 1],
    ]
    assert rows[BOX].values.tolist() == [[20, 5, 20, 32], [10, 5, 20, 31]]


def test_boxes_that_no_region_overlaps_are_an_error(opened, tmp_path):
    inputs, method = opened
    output = tmp_path / "correspondences.parquet"
    with pytest.raises(InputError, match="none of 12 phrases has a region"):
        write_correspondences(method, inputs, "train", output, boxes_of_phrases(("a#0", 0, 2, (90, 0, 9, 9))))
    assert not output.exists()


@pytest.fixture
def vse(files, tmp_path):
    """A VSE on the same data: it knows no phrases."""
    path, whole, tokens = (str(tmp_path / name) for name in ("vse.safetensors", "whole.parquet", "tokens.parquet"))
    with FeatureWriter(whole, IMAGE_FEATURES, (6,), np.float32) as writer:
        writer.append(pd.DataFrame({"image_id": [*NAMES, "d", "e", "f"]}), np.ones((6, 6), np.float32))
    captions = schema.read(files.input_path("caption_table"), CAPTIONS)
    tokens_of_captions = captions["text"].str.lower().str.split()
    rows = captions[["caption_id", "image_id", "split"]].assign(tokens=tokens_of_captions)
    schema.write(rows, TOKENS, tokens)
    files = files.replace_inputs(view_regions=[], view_whole=whole, parses=[], tokens=tokens)
    made = build_method("vse", {"dimension": 4, "word_dimension": 3}, Inputs(files, ["words"]).shapes())
    save_model(made, "vse", ["words"], path)
    return files, path


def test_a_model_without_phrases_is_refused(vse):
    with pytest.raises(InputError, match="a model of the method vse cannot embed_phrases or assign"):
        open_model(*vse, CPU, "embed_phrases", "assign")


def test_any_method_is_embedded_as_far_as_it_can(vse, tmp_path):
    files, path = vse
    inputs, _ = open_model(files, path, CPU)
    embed_split(str(path), 1, {"split": "train"}, str(tmp_path / "embeddings.parquet"), **files.paths_by_input())
    store = FeatureStore([tmp_path / "embeddings.parquet"], EMBEDDINGS)
    rows, vectors = store.rows, store.gather(np.arange(len(store)))
    assert rows["kind"].value_counts().to_dict() == {"image": 3, "sentence": 6, "word": 6}
    np.testing.assert_allclose(np.linalg.norm(vectors.astype(np.float32), axis=1), 1, rtol=1e-3)
    assert rows.loc[rows["kind"] == "word", "text"].tolist() == inputs.vocabulary.words
    assert (rows["width"] == 0).all()


def test_a_method_that_reads_no_words_is_embedded_without_a_vocabulary(vse):
    files, path = vse
    _, method = open_model(files, path, CPU)
    unable = {name: getattr(Method, name) for name in ("embed_sentences", "embed_words")}
    method.__class__ = type("Pictures", (type(method),), unable)
    rows, _ = embed(method, Inputs(files.replace_inputs(words=[], tokens=[]), []), "train")
    assert rows["kind"].tolist() == ["image"] * 3


def test_everything_of_a_split_is_embedded_with_its_words_and_boxes(opened):
    inputs, method = opened
    rows, vectors = embed(method, inputs, "train")
    assert rows["kind"].value_counts().to_dict() == {"image": 3, "region": 5, "sentence": 6, "phrase": 12}
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, rtol=1e-5)
    of_c = rows[rows["image_id"] == "c"]
    assert of_c.loc[of_c["kind"] == "sentence", "text"].tolist() == ["A dog sees a ball", "A dog with balls"]
    assert sorted(of_c.loc[of_c["kind"] == "phrase", "text"]) == ["A dog", "A dog", "a ball", "balls"]
    assert of_c.loc[of_c["kind"] == "region", "x"].tolist() == [10, 20, 30]


def test_embeddings_give_the_assigned_regions(opened):
    inputs, method = opened
    (rows, vectors), assigned = embed(method, inputs, "train"), find_correspondences(method, inputs, "train")
    row = assigned[assigned["image_id"] == "c"].iloc[0]
    of_phrase = (rows["kind"] == "phrase") & (rows["caption_id"] == row["caption_id"]) & (rows["start"] == row["start"])
    regions = (rows["kind"] == "region") & (rows["image_id"] == "c")
    scores = vectors[regions] @ vectors[of_phrase][0]
    assert rows["rank"][regions].iloc[int(scores.argmax())] == row["region"]
    assert scores.max() == pytest.approx(row["confidence"], abs=1e-5)


@pytest.fixture
def true_boxes(tmp_path):
    """Boxes of the test images' phrases: "A dog" of e has two, which are one region; "balls" of f has none."""
    phrases = [("e#0", 0, 2, (0, 0, 10, 10)), ("e#0", 0, 2, (30, 5, 10, 10)), ("e#1", 0, 2, (0, 0, 40, 15)),
               ("e#0", 3, 5, (50, 0, 9, 9)), ("f#0", 0, 2, (1, 2, 3, 4)), ("f#1", 0, 1, (7, 7, 7, 7))]  # fmt: skip
    path = tmp_path / "boxes.parquet"
    schema.write(boxes_of_phrases(*phrases), replace(BOXES, rules=()), path)
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
    with FeatureWriter(path, REGION_FEATURES, (6,), np.float32) as writer:
        writer.append(rows.astype({"rank": np.int32, **dict.fromkeys([*BOX, "score"], np.float32)}), vectors)
    return path


@pytest.fixture
def embeddings(files, model, true_regions, tmp_path):
    """Those of the test split, and of the true boxes' regions."""
    paths = [tmp_path / "test_embeddings.parquet", tmp_path / "true_embeddings.parquet"]
    embed_split(str(model), 1, {"split": "test"}, str(paths[0]), **files.paths_by_input())
    embed_true_regions(str(model), true_regions, 1, str(paths[1]))
    return paths


def test_true_regions_and_the_parser_s_phrases_are_ranked(embeddings, true_boxes, tmp_path):
    output = str(tmp_path / "ranking.parquet")
    rank_regions(*embeddings, true_boxes, output)
    rows = schema.read(output, RETRIEVAL)
    regions, phrases = (rows[rows["direction"] == name] for name in ("i2t", "t2i"))
    assert regions["query_id"].tolist() == ["e/1", "e/2", "f/1"]  # no phrase of the parser's means f/2
    assert phrases["query_id"].tolist() == ["e#0/0-2", "e#1/0-2", "e#0/3-5", "f#0/0-2"]
    found = schema.check(output, RETRIEVAL).found
    assert found["phrases_of_regions"] == [2, 1, 1]
    assert found["versions"]["torch"] == version("torch")  # a table's foot names what computed it
    assert set(regions["candidates"]) == {4}
    assert set(phrases["candidates"]) == {3}
    # "A dog" has the same words in three places, so its regions find it with equal scores: f's is a tie, and counts.
    assert (rows["rank"] >= 1).all()
    dog = regions.set_index("query_id")["rank"]
    assert {dog["e/1"], dog["f/1"]} <= {2, 3, 4}


def test_boxes_without_embeddings_are_an_error(embeddings, true_boxes):
    split, regions = (FeatureStore([path], EMBEDDINGS) for path in embeddings)
    phrases = np.flatnonzero(split.rows["kind"] == "phrase")
    boxes = schema.read(true_boxes, BOXES)
    boxes.loc[boxes["caption_id"] == "f#0", "x"] = 2.5
    with pytest.raises(InputError, match="1 of these boxes have no embedding"):
        rank_embeddings(
            (split.rows.iloc[phrases], split.gather(phrases)), (regions.rows, regions.gather(np.arange(6))), boxes
        )


@pytest.fixture
def image_table(tmp_path):
    """The images of the true regions, of one family."""
    rows = pd.DataFrame({"image_id": ["e", "f"], "source": "images", "file": ["e.jpg", "f.jpg"], "split": "test"})
    rows = rows.assign(width=4, height=4, sha256="", captions=2, status="ok", family="one")
    schema.write(rows, IMAGES, tmp_path / "image_table.parquet", dataset="small")
    return str(tmp_path / "image_table.parquet")


def test_the_table_of_regions_sets_ours_beside_the_published(embeddings, true_boxes, image_table, tmp_path):
    ranking = str(tmp_path / "ranking.parquet")
    wildcards = {"dataset": "small", "variant": "hm_lstm", "seed": "0", "round": "1"}
    with making(Statement(wildcards=wildcards)):
        rank_regions(*embeddings, true_boxes, ranking)
    assert read_identity(ranking) == Identity("small", "hm_lstm", 0, 1, "regions", "test")
    variant = MeasuredVariant(title="HM-LSTM", seeds=[0], model="hm_lstm", round=1)
    of = {"title": "Small", "dataset": "small", "protocol": "regions", "published": "coco_region"}
    plan = TablePlan(
        title="Regions",
        reference=None,
        published=[PrintedTable(paper="hm_lstm", table="4")],
        sections=[SectionPlan(**of, measured={"hm_lstm": variant})],
    )
    outputs = Outputs(*(str(tmp_path / f"table.{ending}") for ending in ("md", "html", "tex", "csv", "parquet")))
    published = Path(__file__).parents[2] / "config/published"
    make_table(
        plan.model_dump(mode="json"),
        images=[image_table],
        retrievals=[ranking],
        published=[str(published / "hm_lstm.csv")],
        papers=[str(published / "hm_lstm.yaml")],
        **outputs._asdict(),
    )
    rows = schema.read(outputs.parquet, RESULTS).set_index(["variant", "kind"])
    assert rows.loc[("hm_lstm", "published"), "i2t_r1"] == pytest.approx(10.8)
    assert np.isnan(rows.loc[("hm_lstm", "published"), "difference"])  # the paper's regions are others
    ours = schema.read(ranking, RETRIEVAL)
    first = ours.loc[ours["direction"] == "i2t", "rank"] == 1
    assert rows.loc[("hm_lstm", "measured"), "i2t_r1"] == pytest.approx(100 * first.mean())
    # A region with 2 of the 4 phrases finds one first half the time, the two with one a quarter of the time.
    assert rows.loc[("random", "random"), "i2t_r1"] == pytest.approx(100 * (0.5 + 0.25 + 0.25) / 3)
    text = Path(outputs.markdown).read_text(encoding="utf-8")
    assert "3 regions, 4 phrases" in text
    assert "Small: 3 regions; the papers' are others, so no Difference is printed." in text
