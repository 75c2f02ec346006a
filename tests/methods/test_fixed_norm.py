"""A method of DeFrag's paper reads features of any scale as vectors of one mean norm."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from densevse.artifacts.schemas.features import IMAGE_FEATURES
from densevse.config.training import TrainingJob
from densevse.methods.devise import DeViSE
from densevse.methods.global_ranking import FixedNorm
from densevse.methods.interface import Shapes
from densevse.methods.parameters.devise import Parameters
from densevse.models.files import load_model
from snakeproof.errors import InputError
from snakeproof.store import FeatureStore
from tests.methods import test_defrag as defrag
from tests.miniature import files, folder
from tests.trainings import train_method

__all__ = ["files", "folder"]


def devise(**parameters):
    torch.manual_seed(0)
    shapes = Shapes({"regions": defrag.FEATURE}, defrag.WORDS, torch.randn(defrag.WORDS, 4))
    return DeViSE(Parameters(**parameters), shapes).double()


def job():
    return TrainingJob(
        method="devise",
        parameters={"word_vectors": "learned", "word_dimension": 4, "feature_norm": 20.0},
        sentences=["words"],
        training={"batch_size": 4, "optimizer": "sgd", "ema_decay": 0.5},
        phases=[{"name": "main", "epochs": 1, "learning_rate": 0.01}],
        seed=0,
    )


@pytest.mark.parametrize("make", [devise, defrag.make])
def test_the_scale_of_features_changes_nothing(make):
    method, images = make(feature_norm=20.0), defrag.images()
    images = replace(images, scores=torch.ones(images.present.shape))
    found = []
    for scale in (0.1, 1.0, 10.0):
        scaled = replace(images, views={"regions": images.views["regions"] * scale})
        method.measure(scaled)
        found.append(method.encode_images(scaled)[0])
    torch.testing.assert_close(found[0], found[1])
    torch.testing.assert_close(found[2], found[1])


def test_vectors_get_the_mean_norm():
    vectors, scaled = torch.tensor([[3.0, 4.0], [0.0, 1.0]]), FixedNorm(6.0)
    scaled.measure(vectors)
    assert scaled(vectors).norm(dim=1).tolist() == pytest.approx([10.0, 2.0])


def test_without_a_norm_vectors_stay_and_nothing_is_stored():
    """So that models of versions without this parameter load as they did."""
    as_they_are, vectors = FixedNorm(None), torch.randn(3, 2)
    assert as_they_are(vectors) is vectors
    assert not as_they_are.state_dict()


def test_features_that_are_all_zero_are_named():
    with pytest.raises(ValueError, match="feature_norm: the features of training images are all zero"):
        FixedNorm(1.0).measure(torch.zeros(2, 3))


def test_training_on_features_that_are_all_zero_is_refused(files, tmp_path, monkeypatch):
    gather = FeatureStore.gather
    monkeypatch.setattr(FeatureStore, "gather", lambda *asked: np.zeros_like(gather(*asked)))
    with pytest.raises(InputError, match="all zero; look at the files of the data set's features"):
        train_method(files, job(), tmp_path / "model.safetensors", tmp_path / "history.parquet")


def test_a_trained_model_keeps_the_factor_of_its_training_images(files, tmp_path):
    train_method(files, job(), tmp_path / "model.safetensors", tmp_path / "history.parquet")
    store = FeatureStore(files.view("whole"), IMAGE_FEATURES)
    of_training = store.rows.index[store.rows["image_id"].str.startswith("train")]
    norms = torch.from_numpy(store.gather(of_training.to_numpy())).float().norm(dim=1)
    assert norms.shape == (12,)
    factor = load_model(tmp_path / "model.safetensors").fixed_norm.factor
    assert factor.item() == pytest.approx(20 / norms.mean().item(), rel=1e-5)
