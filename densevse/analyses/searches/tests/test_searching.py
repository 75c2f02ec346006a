"""Searches: the best of all answers, tile by tile, over encodings on disk."""

from typing import NamedTuple

import numpy as np
import pandas as pd
import pytest
import torch

from densevse.analyses.searches.own import write_sentences
from densevse.analyses.searches.schemas import FOUND
from densevse.analyses.searches.searching import Question, answers, write_given_answers
from densevse.artifacts.schemas.datasets import CAPTIONS
from densevse.artifacts.schemas.sentences import PARSES
from densevse.config.given import GivenLayout
from densevse.data.distinct import Distinct
from densevse.data.inputs import Inputs
from densevse.language.tokens import write_tokens
from densevse.methods.interface import DualEncoder, Embeddings, Method, Shapes
from densevse.models import searching
from densevse.models.encoding import encode_images, encode_sentences
from densevse.models.encodings import KeptImages, write_encodings
from densevse.models.searching import score_encodings, search
from snakeproof import schema
from snakeproof.errors import InputError
from tests.pictures import write_images

DOT = GivenLayout(similarity="dot")
# Five images with two sentences each; whole numbers, so that many scores are equal.
IMAGE_VECTORS = np.random.default_rng(0).integers(-2, 3, (5, 3)).astype(np.float32)
SENTENCE_VECTORS = np.random.default_rng(1).integers(-2, 3, (10, 3)).astype(np.float32)


class ExistingVectors:
    """One side of a search: existing vectors."""

    def __init__(self, vectors):
        self.vectors, self.encoded = vectors, 0

    @property
    def distinct(self):
        return Distinct.from_contents(self.vectors)

    def encoding(self, rows):
        self.encoded += len(rows)
        return Embeddings(self.vectors[torch.from_numpy(rows)])


class Products(DualEncoder):
    """Scores are products of vectors; images are their features, sentences the sums of their words' numbers."""

    def __init__(self):
        super().__init__(None, Shapes({"whole": 6}, 11))
        self.scale = torch.nn.Parameter(torch.ones(()))

    def encode_images(self, images):
        return Embeddings(images.views["whole"] * self.scale)

    def encode_sentences(self, sentences):
        words = torch.nn.functional.one_hot(sentences["words"].index, 11)[..., 2:8]
        return Embeddings(words.sum(dim=1).float())

    def loss(self, images, sentences, batch, moment):
        raise AssertionError


class RegionEncodings(NamedTuple):
    vectors: torch.Tensor
    present: torch.Tensor


class BestRegions(Method):
    """An encoding of two parts, as wide as the image in its batch with the most regions: vectors, and which exist."""

    images_as = RegionEncodings

    def __init__(self):
        super().__init__(None, Shapes({"regions": 6}, 11))
        self.scale = torch.nn.Parameter(torch.ones(()))

    def encode_images(self, images):
        return RegionEncodings(images.views["regions"] * self.scale, images.present)

    def encode_sentences(self, sentences):
        return Embeddings(torch.nn.functional.one_hot(sentences["words"].index, 11)[..., 2:8].sum(dim=1).float())

    def score(self, images, sentences):
        products = torch.einsum("ird,sd->isr", images.vectors, sentences.vectors)
        return products.masked_fill(~images.present.unsqueeze(1), -torch.inf).amax(dim=2)

    def loss(self, images, sentences, batch, moment):
        raise AssertionError


def by_products(images, sentences):
    """(I, S) scores."""
    return score_encodings(Products(), images, sentences)


def best(scores, top):
    """The places of the best scores; of equal ones the earlier."""
    return sorted(range(len(scores)), key=lambda place: (-scores[place], place))[:top]


def best_by_loops(scores, top):
    """Of (queries, rows) scores: query, row, from the best on; of equal ones the earlier."""
    return [(query, row) for query, of_query in enumerate(scores.tolist()) for row in best(of_query, top)]


@pytest.mark.parametrize("asked", ["sentences", "photographs"])
@pytest.mark.parametrize("rows_at_once", [3, 7, 4096])
def test_a_search_finds_what_a_loop_over_all_scores_finds(asked, rows_at_once, monkeypatch):
    monkeypatch.setattr(searching, "MOST_ROWS", rows_at_once)
    generator = torch.Generator().manual_seed(0)
    # whole numbers: products are exact, and many scores are equal
    images = torch.randint(-2, 3, (40, 4), generator=generator).float()
    sentences = torch.randint(-2, 3, (25, 4), generator=generator).float()
    found = search(by_products, ExistingVectors(images), ExistingVectors(sentences), asked, top=6)
    scores = images @ sentences.T
    scores = scores.T if asked == "sentences" else scores
    assert list(zip(found.query.tolist(), found.row.tolist(), strict=True)) == best_by_loops(scores, 6)
    assert found.score.tolist() == [scores[query, row] for query, row in zip(found.query, found.row, strict=True)]


@pytest.mark.parametrize(("kept", "groups"), [(2**28, 1), (7 * 16, 4)])
def test_queries_are_encoded_once_and_candidates_once_for_those_that_are_kept(kept, groups, monkeypatch):
    monkeypatch.setattr(searching, "MOST_ROWS", 7)
    monkeypatch.setattr(searching, "KEPT_BYTES", kept)
    generator = torch.Generator().manual_seed(0)
    images, sentences = (ExistingVectors(torch.randn(count, 4, generator=generator)) for count in (40, 25))
    found = search(by_products, images, sentences, "sentences", top=3)
    scores = sentences.vectors @ images.vectors.T
    assert list(zip(found.query.tolist(), found.row.tolist(), strict=True)) == best_by_loops(scores, 3)
    size = 1  # the row whose encoding tells how large a tile may be
    assert sentences.encoded == 25 + size
    assert images.encoded == groups * (40 + size)


def test_fewer_rows_than_answers_are_all_found():
    found = search(by_products, ExistingVectors(torch.eye(3)), ExistingVectors(torch.eye(3)[:1]), "sentences", top=10)
    assert found.row.tolist() == [0, 1, 2]


def test_a_score_that_is_no_number_is_an_error_that_names_the_query():
    sentences = torch.tensor([[1.0, 0.0], [torch.nan, 0.0]])
    with pytest.raises(InputError, match="query 1 "):
        search(by_products, ExistingVectors(torch.eye(2)), ExistingVectors(sentences), "sentences", top=1)


def test_rows_in_a_tile_follow_from_the_size_of_an_encoding(monkeypatch):
    monkeypatch.setattr(searching, "MOST_BYTES", 4 * 5 * 10)
    assert [len(tile) for tile in searching._tiles(ExistingVectors(torch.eye(25, 5) + torch.arange(25)[:, None]))] == [
        10,
        10,
        5,
    ]
    assert len(searching._tiles(ExistingVectors(torch.eye(2, 999)))) == 2


@pytest.mark.parametrize("scale", [1, 1e-6, 1e8])
def test_kept_encodings_are_those_of_the_method(scale, files, folder, tmp_path):
    inputs, method = Inputs(files, ["words"]), Products()
    method.scale.data.fill_(scale)
    write_encodings(method, inputs, "train", tmp_path / "kept.parquet")
    kept = KeptImages(tmp_path / "kept.parquet", Products, torch.device("cpu"))
    pairs = inputs.pairs("train")
    assert kept.image_ids.tolist() == pairs.rows.image_ids.tolist()
    found = kept.encoding(np.array([3, 0]))
    assert torch.equal(found.vectors, encode_images(method, pairs).vectors[[3, 0]])


def test_encodings_of_several_parts_and_widths_are_kept(files, folder, tmp_path):
    inputs = Inputs(files.replace_inputs(view_whole=[], view_regions=[str(folder / "regions.parquet")]), ["words"])
    method, pairs = BestRegions(), inputs.pairs("train")
    write_encodings(method, inputs, "train", tmp_path / "kept.parquet")
    kept = KeptImages(tmp_path / "kept.parquet", BestRegions, torch.device("cpu")).encoding(np.arange(5))
    assert (kept.vectors.shape, kept.present.dtype) == ((5, 4, 6), torch.bool)
    images, sentences = encode_images(method, pairs), encode_sentences(method, pairs)
    assert torch.equal(method.score(kept, sentences), method.score(images, sentences)[:5])


def ask(files, folder, sentences, parses=None):
    """The answers of the miniature's images to a user's sentences."""
    method, inputs = Products(), Inputs(files, ["words"])
    write_encodings(method, inputs, "train", folder / "kept.parquet")
    write_sentences(sentences, folder / "own.parquet")
    write_tokens(str(folder / "own.parquet"), str(folder / "own_tokens.parquet"))
    own = files.replace_inputs(
        caption_table=str(folder / "own.parquet"),
        tokens=str(folder / "own_tokens.parquet"),
        view_whole=[],
        image_table=[],
        **({"parses": [parses]} if parses else {}),
    )
    kept = KeptImages(folder / "kept.parquet", Products, torch.device("cpu"))
    rows = answers(method, Inputs(own, ["words"]), kept, "test", "sentences", 3)
    schema.write(rows, FOUND, folder / "found.parquet")
    return schema.read(folder / "found.parquet", FOUND)


def test_a_sentence_of_ones_own_is_answered_and_its_unknown_words_are_named(files, folder):
    found = ask(files, folder, ["A red dog", "a small zebra\n sleeps"])
    assert found["query"].tolist() == [0, 0, 0, 1, 1, 1]
    assert found["rank"].tolist() == [1, 2, 3] * 2
    assert found["text"].unique().tolist() == ["A red dog", "a small zebra sleeps"]
    assert [list(words) for words in found["unknown_words"]] == [[]] * 3 + [["zebra"]] * 3
    assert (found.groupby("query")["score"].diff().dropna() <= 0).all()


@pytest.mark.parametrize("nothing", ["zebra xylophone", "!", "  "])
def test_a_sentence_without_a_known_word_is_an_error_that_names_it(files, folder, nothing):
    with pytest.raises(InputError, match="knows no word of") as error:
        ask(files, folder, ["a dog", nothing])
    assert repr(" ".join(nothing.split())) in str(error.value)
    assert "a dog" not in str(error.value)


def test_a_sentence_that_could_not_be_parsed_is_refused_where_parses_are_read(files, folder):
    parses = pd.read_parquet(folder / "parses.parquet").head(1)
    assert parses["status"].item() != "ok"
    schema.write(parses.assign(caption_id="#0"), PARSES, folder / "own_parses.parquet")
    with pytest.raises(InputError, match=r"'a dog' \(too long\) could not be parsed"):
        ask(files, folder, ["a dog"], str(folder / "own_parses.parquet"))


def test_sentences_of_ones_own_are_captions_of_no_image(tmp_path):
    write_sentences(["A dog.", "a\n cat"], tmp_path / "captions.parquet")
    rows = schema.read(tmp_path / "captions.parquet", CAPTIONS)
    assert rows["caption_id"].tolist() == ["#0", "#1"]
    assert rows["text"].tolist() == ["A dog.", "a cat"]
    assert set(rows["image_id"]) == {""}


@pytest.fixture
def ask_given(tmp_path):
    """A function that searches the given vectors, and returns the answers."""
    ids = [f"i{number}" for number in range(5)]
    write_images(tmp_path, ids)
    captions = [
        {"caption_id": f"{i}#{n}", "image_id": i, "position": n, "text": f"about {i}", "split": "test"}
        for i in ids for n in range(2)
    ]  # fmt: skip
    schema.write(captions, CAPTIONS, tmp_path / "captions.parquet")

    def answers(question, layout=DOT, **arrays):
        arrays = {"images": IMAGE_VECTORS, "sentences": SENTENCE_VECTORS, **arrays}
        files = {"image_table": "images.parquet", "caption_table": "captions.parquet"}
        for key, array in arrays.items():
            np.save(tmp_path / f"{key}.npy", array)
            files[key] = f"{key}.npy"
        paths = {key: str(tmp_path / file) for key, file in files.items()}
        settings = layout.model_dump(mode="json"), question._asdict()
        write_given_answers(*settings, str(tmp_path / "found.parquet"), **paths)
        return schema.read(tmp_path / "found.parquet", FOUND)

    return answers


def test_a_row_of_several_vectors_each_is_not_searched(ask_given):
    with pytest.raises(InputError, match="similarity: max_sum: a search compares one vector of each image"):
        ask_given(Question("all", 3), GivenLayout(similarity="max_sum"))


def test_sentences_of_the_split_are_asked_of_its_images(ask_given):
    found = ask_given(Question("all", 3, caption_ids=["i3#1", "i0#0"]))
    scores = SENTENCE_VECTORS[[7, 0]] @ IMAGE_VECTORS.T
    assert found["query"].tolist() == [0] * 3 + [1] * 3
    assert found["rank"].tolist() == [1, 2, 3] * 2
    assert found["image_id"].tolist() == [f"i{row}" for query in scores for row in best(query, 3)]
    assert found["score"].tolist() == [query[row] for query in scores for row in best(query, 3)]
    assert found["text"].tolist() == ["about i3"] * 3 + ["about i0"] * 3
    assert not any(map(len, found["unknown_words"]))


def test_images_of_the_split_are_asked_of_its_sentences(ask_given):
    found = ask_given(Question("all", 4, image_ids=["i2"]))
    expected = best(IMAGE_VECTORS[2] @ SENTENCE_VECTORS.T, 4)
    assert found["caption_id"].tolist() == [f"i{row // 2}#{row % 2}" for row in expected]
    assert found["image_id"].unique().tolist() == ["i2"]


def test_sentences_of_ones_own_are_asked_by_their_vectors(ask_given):
    own = np.array([[1, 0, 0], [0, -2, 1]], np.float32)
    found = ask_given(Question("all", 2, sentences=["a dog", "a cat"]), vectors=own)
    assert found["image_id"].tolist() == [f"i{row}" for query in own @ IMAGE_VECTORS.T for row in best(query, 2)]
    assert found["caption_id"].tolist() == ["#0", "#0", "#1", "#1"]
    assert found["text"].tolist() == ["a dog", "a dog", "a cat", "a cat"]


def test_the_similarity_and_the_copies_of_a_row_hold_in_its_searches(ask_given):
    vectors = IMAGE_VECTORS + 0.5
    layout = GivenLayout(similarity="cosine", copies=2)
    found = ask_given(Question("all", 5, caption_ids=["i1#0"]), layout, images=vectors.repeat(2, axis=0))
    cosine = vectors @ SENTENCE_VECTORS[2] / np.linalg.norm(vectors, axis=1) / np.linalg.norm(SENTENCE_VECTORS[2])
    assert found["image_id"].tolist() == [f"i{row}" for row in np.argsort(-cosine)]
    assert found["score"].to_numpy() == pytest.approx(np.sort(cosine)[::-1], abs=1e-6)


@pytest.mark.parametrize(
    ("question", "arrays", "message"),
    [
        ({"image_ids": ["i1", "i9"]}, {}, "image_ids: the search names i9, which the test split does not have"),
        ({"caption_ids": ["i1#2"]}, {}, r"caption_ids: .* i1#2, .* column caption_id of captions\.parquet"),
        ({"sentences": ["a dog"]}, {"vectors": np.ones((2, 3))}, r"vectors\.npy: expected 1 x 3, .* found 2 x 3"),
        ({"sentences": ["a dog"]}, {"vectors": np.full((1, 3), np.nan)}, r"vectors\.npy: row 0, column 0 is not a"),
        ({"image_ids": ["i1"]}, {"images": np.ones((4, 3))}, r"images\.npy: expected 5 x 3"),
    ],
)
def test_what_does_not_fit_is_named(ask_given, question, arrays, message):
    with pytest.raises(InputError, match=message):
        ask_given(Question("all", 1, **question), **arrays)
