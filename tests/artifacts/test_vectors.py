"""One contract of vectors, good, odd and bad, through every door that takes them."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
import torch
from safetensors.numpy import save_file

from densevse.artifacts.schemas.datasets import IMAGES
from densevse.artifacts.schemas.features import IMAGE_FEATURES, REGION_FEATURES
from densevse.artifacts.schemas.retrieval import RETRIEVAL
from densevse.artifacts.vectors import FEWEST, refuse_constant_vectors
from densevse.config.given import GivenFiles
from densevse.evaluation.given.measure import Measures, evaluate_files
from densevse.evaluation.given.retrieval import write_given_retrieval
from densevse.inference.model import Model
from densevse.report.made_with import choices
from densevse.vision.given_features import read_given_features
from snakeproof import schema
from snakeproof.errors import InputError
from snakeproof.statements import Statement, making, read_statement
from snakeproof.store import FeatureStore
from tests.artifacts.test_scored_boxes import IMAGES_OF
from tests.evaluation.test_given import write_tables

COUNT, LENGTH, WRONG = 20, 6, 12
GOOD = np.random.default_rng(0).normal(size=(COUNT, LENGTH)).astype(np.float32)
FORMATS = ("npy", "npz", "parquet", "safetensors")


def with_row(value):
    found = GOOD.copy()
    found[WRONG] = value
    return found


NOT_FINITE = {"not a number": with_row(np.nan), "infinite": with_row([1, np.inf, 1, 1, 1, 1])}
ZERO, CONSTANT = with_row(0), np.tile(GOOD[:1], (COUNT, 1))


def save(folder, name, vectors, ending, ids=None):
    path = str(folder / f"{name}.{ending}")
    if ending == "npy":
        np.save(path, vectors)
    elif ending == "npz":
        np.savez_compressed(path, **{name: vectors})
    elif ending == "safetensors":
        save_file({name: np.ascontiguousarray(vectors)}, path)
    else:
        frame = pd.DataFrame({name: list(vectors)})
        (frame if ids is None else frame.assign(image_id=list(ids))).to_parquet(path)
    return path


def evaluated(folder, vectors, ending, similarity="cosine"):
    """`densevse evaluate` of these vectors of images, and good ones of sentences."""
    files = {"images": save(folder, "images", vectors, ending), "sentences": save(folder, "sentences", GOOD, ending)}
    return evaluate_files(GivenFiles(**files, similarity=similarity), 1, Measures())


def given_row(folder, vectors, ending, similarity="cosine"):
    """A table's row of these vectors of sentences, and good ones of images."""
    write_tables(folder, [1] * COUNT)
    files = {"images": save(folder, "images", GOOD, ending), "sentences": save(folder, "sentences", vectors, ending)}
    wildcards = {"dataset": "d", "variant": "mine", "protocol": "full", "seed": "0"}
    tables, output = (str(folder / "images.parquet"), str(folder / "captions.parquet")), folder / "ranks.parquet"
    layout = {"similarity": similarity}
    with making(Statement(given={"layout": layout}, wildcards=wildcards)):
        write_given_retrieval(*tables, layout, "all", 10, wildcards, output, **files)
    return output


class Products(torch.nn.Module):
    """A model of `densevse.load` with a similarity."""

    def __init__(self, similarity):
        super().__init__()
        self.hyperparameters = SimpleNamespace(similarity=similarity)
        self.weight = torch.nn.Parameter(torch.zeros(1))
        self.tile = (64, 64)

    def score(self, images, sentences):
        return images.vectors @ sentences.vectors.T


def loaded(folder, vectors, ending, similarity="cosine"):
    model = Model.__new__(Model)
    model.method = Products(similarity)
    assert len(model.search(vectors, GOOD, top=2)) == 2 * COUNT
    return model.score(vectors, GOOD)


DOORS = {f"evaluate.{ending}": (evaluated, ending) for ending in FORMATS}
DOORS |= {f"row.{ending}": (given_row, ending) for ending in ("npy", "npz", "safetensors")}
DOORS["load"] = (loaded, "")


@pytest.mark.parametrize("door", DOORS)
def test_good_vectors_pass(tmp_path, door):
    enter, ending = DOORS[door]
    enter(tmp_path, GOOD, ending)


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize("name", NOT_FINITE)
def test_vectors_that_are_not_finite_are_refused_by_their_row(tmp_path, door, name):
    enter, ending = DOORS[door]
    with pytest.raises(InputError, match=rf"row {WRONG}\b"):
        enter(tmp_path, NOT_FINITE[name], ending)


@pytest.mark.parametrize("door", DOORS)
def test_a_zero_vector_has_no_cosine_and_is_a_point_of_other_similarities(tmp_path, door):
    enter, ending = DOORS[door]
    with pytest.raises(InputError, match=rf"row {WRONG} is zero, which has no cosine; correct it"):
        enter(tmp_path, ZERO, ending)
    for similarity in ("order",) if door == "load" else ("order", "dot"):
        enter(tmp_path, ZERO, ending, similarity)


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize("constant", [CONSTANT, np.ones_like(GOOD), np.zeros_like(GOOD)])
def test_one_constant_is_refused(tmp_path, door, constant):
    enter, ending = DOORS[door]
    with pytest.raises(InputError, match="all 20 vectors are the same, so that nothing can be told apart"):
        enter(tmp_path, constant, ending, "order")


def test_fewer_than_ten_equal_vectors_are_allowed():
    refuse_constant_vectors(np.ones((FEWEST - 1, LENGTH)), "v")
    with pytest.raises(InputError, match="v: all 10 vectors are the same"):
        refuse_constant_vectors(np.ones((FEWEST, LENGTH)), "v")
    refuse_constant_vectors([*np.ones((30, LENGTH)), np.zeros(LENGTH)], "v")


def test_one_constant_is_refused_whatever_the_numbers_of_regions():
    blocks = [np.ones((2 + count % 3, LENGTH)) for count in range(FEWEST)]
    with pytest.raises(InputError, match="v: all 10 vectors are the same"):
        refuse_constant_vectors(blocks, "v")
    refuse_constant_vectors([*blocks, np.zeros((2, LENGTH))], "v")
    refuse_constant_vectors([count * block for count, block in enumerate(blocks)], "v")
    refuse_constant_vectors([np.ones(count + 1) for count in range(FEWEST)], "v")


def test_zero_points_are_counted_in_the_log_and_in_the_note(tmp_path, caplog):
    vectors = with_row(0)
    vectors[3] = 0
    made = read_statement(given_row(tmp_path, vectors, "npy", "dot"))
    assert made.found["zeros"] == {"sentences": 2}
    assert "sentences.npy: 2 vectors are zero" in caplog.text
    assert choices([made])["given"].endswith("similarity dot; 2 vectors of sentences are zero")
    assert len(schema.read(tmp_path / "ranks.parquet", RETRIEVAL)) == 2 * COUNT
    caplog.clear()
    evaluated(tmp_path, vectors, "npy", "order")
    assert "images.npy: 2 vectors are zero" in caplog.text
    assert "zeros" not in choices([read_statement(given_row(tmp_path, GOOD, "npy", "dot"))])["given"]


def features(folder, vectors, given_format, view="whole", mean=False, ending="npy", **options):
    """Given features of a view, with a row or block of `vectors` for each image."""
    schema.write(IMAGES_OF, IMAGES, folder / "images.parquet")
    (folder / "ids.txt").write_text("\n".join(IMAGES_OF["image_id"]))
    name = "vector" if given_format == "parquet" else view
    ids = np.repeat(IMAGES_OF["image_id"].to_numpy(), vectors.shape[1] if vectors.ndim == 3 else 1)
    flat = vectors.reshape(-1, LENGTH) if given_format == "parquet" else vectors
    files = {"path": save(folder, name, flat, ending, ids)}
    if given_format == "array":
        files["ids"] = str(folder / "ids.txt")
    given = {"name": "f", "network": "n", "format": given_format, "image_id": "{id}", "dtype": "float32", "copies": 1}
    given |= {"view": view, "mean": mean, **options}
    output = folder / view / "00-of-01.parquet"
    whole = None
    if view == "regions":
        whole = folder / "whole" / "00-of-01.parquet"
        of_whole = given | {"view": "whole", "mean": True}
        read_given_features(
            folder / "images.parquet", of_whole, [*files], [*files.values()], whole, {"shard": "00-of-01"}
        )
    read_given_features(
        folder / "images.parquet", given, [*files], [*files.values()], output, {"shard": "00-of-01"}, whole
    )
    return FeatureStore([output], REGION_FEATURES if view == "regions" else IMAGE_FEATURES)


LAYOUTS = [("parquet", "parquet"), *(("array", ending) for ending in ("npy", "npz", "safetensors"))]


@pytest.mark.parametrize(("given_format", "ending"), LAYOUTS)
def test_given_features_are_finite_and_vary(tmp_path, given_format, ending):
    features(tmp_path, GOOD, given_format, ending=ending)
    features(tmp_path, ZERO, given_format, ending=ending)  # a vector without a cosine, which a network may read
    for vectors in NOT_FINITE.values():
        with pytest.raises(InputError, match=rf"row {WRONG} (\(image 'i{WRONG}'\): a number is not finite|.* null)"):
            features(tmp_path, vectors, given_format, ending=ending)
    for vectors in (CONSTANT, np.zeros_like(GOOD)):
        with pytest.raises(InputError, match=r"all 20 vectors are the same"):
            features(tmp_path, vectors, given_format, ending=ending)


REGIONS = np.random.default_rng(1).normal(size=(COUNT, 3, LENGTH)).astype(np.float32)
PADDED = REGIONS * np.array([1, 1, 0], np.float32)[:, None]
PADDED[WRONG, 2] = 1


@pytest.mark.parametrize("ending", ["npy", "npz", "safetensors"])
def test_zero_regions_of_a_layout_without_counts_are_refused_unless_they_are_padding(tmp_path, ending):
    with pytest.raises(InputError, match=r"row 0: 1 of 3 regions are zero, the first is 2, .* padding: zeros"):
        features(tmp_path, PADDED, "array", "regions", ending=ending)
    store = features(tmp_path, PADDED, "array", "regions", ending=ending, padding="zeros")
    counts = store.rows["image_id"].value_counts()
    assert counts.to_dict() == {image_id: 1 + 2 + (image_id == f"i{WRONG}") for image_id in IMAGES_OF["image_id"]}
    of_whole = store.gather(np.flatnonzero(store.rows["rank"] == 0))
    expected = [image[image.any(axis=1)].mean(axis=0) for image in PADDED]
    np.testing.assert_allclose(of_whole, expected, rtol=1e-5, atol=1e-6, err_msg="zeros count in no mean")
    assert store.gather(np.arange(len(store))).any(axis=1).all(), "nor in a maximum or in attention"


def test_zero_regions_with_counts_and_zero_cells_are_kept(tmp_path):
    boxes = {"x": 1.0, "y": 1.0, "width": 9.0, "height": 9.0}
    vectors = REGIONS.copy()
    vectors[4, 1] = 0
    assert len(features(tmp_path, PADDED, "array", "grid")) == COUNT
    frame = pd.DataFrame({"image_id": np.repeat(IMAGES_OF["image_id"], 3), "vector": list(vectors.reshape(-1, LENGTH))})
    frame.assign(**boxes).to_parquet(tmp_path / "regions.parquet")
    given = {"name": "f", "network": "n", "format": "parquet", "image_id": "{id}", "dtype": "float32", "copies": 1}
    files, whole = (["path"], [str(tmp_path / "regions.parquet")]), tmp_path / "whole" / "00-of-01.parquet"
    of = {"shard": "00-of-01"}
    read_given_features(tmp_path / "images.parquet", given | {"view": "whole", "mean": True}, *files, whole, of)
    output = tmp_path / "regions" / "00-of-01.parquet"
    read_given_features(
        tmp_path / "images.parquet", given | {"view": "regions", "mean": False}, *files, output, of, whole
    )
    assert len(FeatureStore([output], REGION_FEATURES)) == COUNT * 4


def test_an_image_of_which_all_regions_are_zero_is_refused(tmp_path):
    vectors = REGIONS.copy()
    vectors[WRONG] = 0
    for padding in (None, "zeros"):
        with pytest.raises(
            InputError, match=rf"row {WRONG}: 3 of 3 regions are zero; an image has at least one region"
        ):
            features(tmp_path, vectors, "array", "regions", padding=padding)
