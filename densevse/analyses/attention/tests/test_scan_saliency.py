"""SCAN's training on a miniature data set, and its attention as an artifact."""

import numpy as np

from densevse.analyses.attention.explaining import write_saliency
from densevse.analyses.attention.saliency import SALIENCY
from densevse.artifacts import schema
from densevse.artifacts.schemas.training import HISTORY
from densevse.config.training import TrainingJob
from densevse.data.inputs import Inputs
from densevse.training.retrieval import train_method
from tests.miniature import files, folder

__all__ = ["files", "folder"]

SMALL = {"dimension": 6, "word_dimension": 4}


def test_training_learns_and_what_it_attends_to_is_an_artifact(files, folder, tmp_path):
    files = files.with_changes(view_whole=[], view_regions=[str(folder / "regions.parquet")])
    job = TrainingJob(
        method="scan",
        parameters=SMALL,
        sentences=["words"],
        training={"batch_size": 4, "grad_clip": 2.0},
        phases=[{"name": "main", "epochs": 3, "learning_rate": 0.02}],
        seed=0,
        round=0,
        threads=1,
    )
    train_method(files, job, tmp_path / "model.safetensors", tmp_path / "history.parquet")
    history = schema.read(tmp_path / "history.parquet", HISTORY)
    assert history["loss"].iloc[-1] < history["loss"].iloc[0]
    assert (history["entropy_words"].abs() < 1e-6).all()  # a word's step has itself alone
    wildcards = {"dataset": "scenes", "variant": "scan", "seed": "0", "round": "0", "split": "test"}
    model, output = str(tmp_path / "model.safetensors"), str(tmp_path / "saliency.parquet")
    write_saliency(model, 1, wildcards, output, **files.named())
    inputs, rows = Inputs(files, ["words"]), schema.read(output, SALIENCY)
    tokens = inputs.tokens_of(rows["caption_id"].unique())
    assert list(rows.groupby("caption_id", sort=False)["step"].nunique()) == [len(words) for words in tokens]
    places = rows[rows["word"] == ""]
    np.testing.assert_allclose(places.groupby(["caption_id", "step"])["weight"].sum(), 1, atol=1e-5)
    assert (places["width"] == 8).all()
    regions = inputs.regions.rows.groupby("image_id").size()
    attended = places.groupby("image_id")["place"].nunique()
    assert (attended == (regions[attended.index] - 1).clip(lower=1)).all()
