"""Saliency of a split as an artifact, a training of sm-LSTM that starts from a VSE, and one of SCAN."""

from pathlib import Path

import numpy as np
import pytest

from densevse.analyses.attention.explaining import write_saliency
from densevse.analyses.attention.saliency import SALIENCY
from densevse.artifacts.boxes import BOX
from densevse.artifacts.identity import Identity, read_identity
from densevse.artifacts.schemas.features import IMAGE_FEATURES
from densevse.artifacts.schemas.training import HISTORY
from densevse.config.training import TrainingJob
from densevse.data.inputs import Inputs
from densevse.models.attention import entropies
from densevse.models.encoding import encode_images, encode_sentences
from densevse.models.ensembles import sum_scorers
from densevse.models.files import build_method, load_model, open_model, save_model
from densevse.models.scoring import scorer
from snakeproof import schema
from snakeproof.errors import InputError
from snakeproof.statements import Statement, making
from snakeproof.store import FeatureWriter
from tests.miniature import SIZE, files, folder
from tests.trainings import train_method

__all__ = ["files", "folder"]

SMALL = {
    "hidden": 6,
    "word_hidden": 4,
    "word_dimension": 4,
    "context_dimension": 8,
    "context_word_dimension": 4,
    "attention_units": 5,
    "similarity": 6,
    "score_units": 5,
    "mismatched": 3,
}
VSE = {"dimension": 8, "word_dimension": 4}


@pytest.fixture
def with_grid(folder, files):
    """The miniature data set with a grid of four cells for each image."""
    images = Inputs(files, ["words"]).images
    generator = np.random.default_rng(3)
    with FeatureWriter(folder / "grid.parquet", IMAGE_FEATURES, (4, SIZE), np.float16) as file:
        file.append(images[["image_id"]], generator.normal(size=(len(images), 4, SIZE)))
    return files.replace_inputs(view_grid=[str(folder / "grid.parquet")], view_regions=[], parses=[])


def run(files, folder, method, parameters, start=None, epochs=2, learning_rate=0.01, **training):
    job = TrainingJob(
        method=method,
        parameters=parameters,
        sentences=["words"],
        training={"batch_size": 4, "grad_clip": 2.0, **training},
        phases=[{"name": "main", "epochs": epochs, "learning_rate": learning_rate}],
        seed=0,
        round=0,
        threads=1,
    )
    folder.mkdir()
    model, history = folder / "model.safetensors", folder / "history.parquet"
    train_method(files.replace_inputs(start=str(start) if start else []), job, model, history)
    return str(model), schema.read(history, HISTORY)


def explained(files, model, variant):
    """The saliency of the test split, written beside its model."""
    output = str(Path(model).with_name("saliency.parquet"))
    wildcards = {"dataset": "scenes", "variant": variant, "seed": "0", "round": "0", "split": "test"}
    with making(Statement(wildcards=wildcards)):
        write_saliency(model, 1, wildcards, output, **files.paths_by_input())
    assert read_identity(output) == Identity("scenes", variant, 0, 0, split="test")
    return schema.read(output, SALIENCY)


def test_saliency_of_each_image_with_its_first_sentence(with_grid, tmp_path):
    inputs = Inputs(with_grid, ["words"])
    method, model = build_method("sm_lstm", SMALL, inputs.shapes()), str(tmp_path / "model.safetensors")
    save_model(method, "sm_lstm", ["words"], model, features=inputs.feature_settings(), device="cpu")
    rows = explained(with_grid, model, "sm_lstm")
    pairs = inputs.pairs("test")
    assert list(rows["caption_id"].unique()) == [f"{image_id}#0" for image_id in pairs.rows.image_ids]
    is_word = rows["word"] != ""
    for part in (rows[is_word], rows[~is_word]):
        sums = part.groupby(["image_id", "step"])["weight"].sum()
        assert len(sums) == 3 * len(pairs.rows.image_ids)
        np.testing.assert_allclose(sums, 1, atol=1e-5)
    first = rows[(rows["caption_id"] == rows["caption_id"].iloc[0]) & (rows["step"] == 2)]
    words = first[first["word"] != ""].sort_values("place")["word"]
    assert list(words) == inputs.sentence_tokens(np.array([rows["caption_id"].iloc[0]], dtype=object))[0]
    cells = first[first["word"] == ""].sort_values("place")[BOX].to_numpy()
    np.testing.assert_allclose(cells, [[0, 0, 4, 4], [4, 0, 4, 4], [0, 4, 4, 4], [4, 4, 4, 4]])  # of 8 x 8 pixels
    found = entropies(method, pairs)
    weights = rows[~is_word].groupby(["image_id", "step"])["weight"]
    assert found["entropy_places"] == pytest.approx(weights.apply(lambda w: -(w * np.log(w)).sum()).mean(), abs=1e-5)
    assert 0 < found["entropy_words"] <= np.log(7)


def test_training_starts_from_a_vse_and_says_how_sharp_attention_is(with_grid, tmp_path):
    without_grid = with_grid.replace_inputs(view_grid=[])
    vse, _ = run(without_grid, tmp_path / "vse", "vse", VSE)
    model, history = run(with_grid, tmp_path / "sm_lstm", "sm_lstm", SMALL, start=vse, validation_images=2)
    assert list(history["epoch"]) == [0, 1, 2]
    assert history["entropy_places"].between(0, np.log(4) + 1e-6).all()
    assert {"entropy_words", "rsum"} <= set(history)
    assert load_model(model).can("saliency")
    with pytest.raises(InputError, match="cannot saliency"):
        open_model(without_grid, vse, "cpu", "saliency")


def test_a_start_that_does_not_fit_is_named(with_grid, tmp_path):
    vse, _ = run(with_grid.replace_inputs(view_grid=[]), tmp_path / "vse", "vse", {**VSE, "dimension": 9})
    with pytest.raises(InputError, match=r"vse/model\.safetensors: training cannot start.*context_dimension"):
        run(with_grid, tmp_path / "sm_lstm", "sm_lstm", SMALL, start=vse)


def test_an_ensemble_adds_the_scores_of_its_members(with_grid):
    inputs = Inputs(with_grid, ["words"])
    pairs = inputs.pairs("test")
    images, sentences = np.arange(len(pairs.rows.image_ids)), np.arange(len(pairs.rows.caption_ids))
    members = []
    for select in ("mean", "attention", "context"):
        method = build_method("sm_lstm", {**SMALL, "select": select}, inputs.shapes())
        members.append(scorer(method, encode_images(method, pairs), encode_sentences(method, pairs)))
    block = slice(0, len(images)), slice(1, len(sentences))
    expected = sum(member(images, sentences)(*block) for member in members)
    np.testing.assert_allclose(sum_scorers(members)(images, sentences)(*block), expected, rtol=1e-6)


def test_what_a_trained_scan_attends_to_is_an_artifact(files, folder, tmp_path):
    files = files.replace_inputs(view_whole=[], view_regions=[str(folder / "regions.parquet")])
    small = {"dimension": 6, "word_dimension": 4}
    model, history = run(files, tmp_path / "scan", "scan", small, epochs=3, learning_rate=0.02)
    assert history["loss"].iloc[-1] < history["loss"].iloc[0]
    assert (history["entropy_words"].abs() < 1e-6).all()  # a word's step has itself alone
    inputs, rows = Inputs(files, ["words"]), explained(files, model, "scan")
    tokens = inputs.sentence_tokens(rows["caption_id"].unique())
    assert list(rows.groupby("caption_id", sort=False)["step"].nunique()) == [len(words) for words in tokens]
    places = rows[rows["word"] == ""]
    np.testing.assert_allclose(places.groupby(["caption_id", "step"])["weight"].sum(), 1, atol=1e-5)
    assert (places["width"] == 8).all()
    regions = inputs.regions.rows.groupby("image_id").size()
    attended = places.groupby("image_id")["place"].nunique()
    assert (attended == (regions[attended.index] - 1).clip(lower=1)).all()
