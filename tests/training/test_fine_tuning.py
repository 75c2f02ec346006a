"""DeFrag with its network trained further, on the pixels of a few synthetic images."""

import numpy as np
import pytest
import torch
from safetensors.torch import load_file

from densevse.artifacts.schemas.datasets import IMAGES
from densevse.artifacts.schemas.features import REGION_FEATURES
from densevse.artifacts.schemas.training import HISTORY
from densevse.config.registries import ARCHITECTURES, Architecture
from densevse.config.training import TrainingJob
from densevse.data.inputs import Inputs
from densevse.methods.interface import Moment
from densevse.models.encoding import encode_images
from densevse.models.files import build_method, load_model, open_model, open_new_data
from densevse.report.made_with import choices
from densevse.training.loop import Interrupted, Trainer
from densevse.training.retrieval import Retrieval
from densevse.vision.finetuned import FineTuned
from snakeproof import schema
from snakeproof.errors import InputError
from snakeproof.statements import Statement, digest, read_statement
from snakeproof.store import FeatureStore
from tests.crops import SIZE, crop_of, write_pictures, write_regions
from tests.trainings import train_method

PARAMETERS = {"dimension": 16, "word_vectors": "learned", "word_dimension": 8, "fragments": "words"}
PHASES = [{"name": "fine_tune", "epochs": 2, "learning_rate": 0.01}]
OPENED = {"trained_layers": ["classifier.fc7"], "fragment_objective": "multiple_instance"}


@pytest.fixture
def pictures(folder):
    """The pixels of each image, which lie in the folder with a network."""
    return write_pictures(folder)


@pytest.fixture
def crops(folder, files, pictures):
    """The files of a job that reads crops, whose stored vectors are those of the network."""
    write_regions(folder, pictures)
    sources = {"source_images": str(folder / "pictures"), "network": str(folder / "network.safetensors")}
    return files.replace_inputs(view_whole=[], view_crops=[str(folder / "described.parquet")], **sources)


@pytest.fixture
def job(files, crops, folder, tmp_path):
    """Trains DeFrag on the stored vectors, or goes on from that with the network; the model's path and the history."""

    def run(name, phases=PHASES, start=None, patience=None, **parameters):
        model, history = tmp_path / name / "model.safetensors", tmp_path / name / "history.parquet"
        of_vectors = files.replace_inputs(view_whole=[], view_regions=[str(folder / "described.parquet")])
        described = TrainingJob(
            method="defrag",
            parameters={**PARAMETERS, **parameters},
            sentences=["words"],
            training={"optimizer": "sgd", "batch_size": 4, "checkpoint_steps": 3, "patience": patience},
            phases=phases,
            seed=0,
        )
        read = crops.replace_inputs(start=str(start)) if start else of_vectors
        train_method(read, described, model, history)
        return model, schema.read(history, HISTORY)

    return run


def test_crops_are_the_boxes_that_the_network_was_shown(crops, pictures):
    pairs = Inputs(crops, ["words"]).pairs("val")
    images = pairs.images(np.arange(4))
    rows = FeatureStore(crops.input_paths("view_crops"), REGION_FEATURES).rows
    assert images.views["crops"].shape == (4, images.present.shape[1], 3, SIZE, SIZE)
    assert images.views["crops"].dtype == torch.uint8
    for number, image in enumerate(pairs.rows.image_ids):
        of_image = [row for row in rows.itertuples() if row.image_id == image]
        expected = np.stack([crop_of(pictures[image], row) for row in of_image])
        assert images.present[number].sum() == len(of_image)
        assert (images.views["crops"][number, : len(of_image)].permute(0, 2, 3, 1).numpy() == expected).all()
        assert not images.views["crops"][number, len(of_image) :].any()


def test_an_image_that_comes_twice_has_its_crops_twice(crops):
    images = Inputs(crops, ["words"]).pairs("val").images(np.array([1, 1, 0]))
    assert torch.equal(images.views["crops"][0], images.views["crops"][1])


def test_images_that_a_table_leaves_out_have_no_crops(crops, folder):
    """The images of a resplit are fewer than those whose regions are stored."""
    images = schema.read(folder / "images.parquet", IMAGES)
    kept = images.drop(images.index[images["split"] == "train"][0])
    schema.write(kept, IMAGES, folder / "resplit.parquet")
    few = Inputs(crops.replace_inputs(image_table=str(folder / "resplit.parquet")), ["words"]).pairs("val")
    whole = Inputs(crops, ["words"]).pairs("val")
    every = np.arange(len(whole.rows.image_ids))
    assert torch.equal(few.images(every).views["crops"], whole.images(every).views["crops"])


def test_regions_of_a_shared_map_have_no_crops(folder, crops, pictures):
    write_regions(folder, pictures, features="roi_align")
    with pytest.raises(InputError, match=r"set the network's regions\.features to crops"):
        Inputs(crops, ["words"]).pairs("val")


def test_the_network_begins_with_the_features_that_were_extracted(crops):
    inputs = Inputs(crops, ["words"])
    store = FeatureStore(crops.input_paths("view_crops"), REGION_FEATURES)
    pairs = inputs.pairs("val")
    images, network = pairs.images(np.arange(4)), inputs.shapes().network
    stored = store.gather(np.flatnonzero(store.rows["image_id"].isin(pairs.rows.image_ids)))
    found = network.train()(images.views["crops"][images.present])
    np.testing.assert_allclose(found.numpy(), stored, atol=0.01)
    assert not any(module.training for module in network.modules())


def test_gradients_reach_the_opened_layers_alone(crops):
    inputs = Inputs(crops, ["words"])
    method = build_method("defrag", {**PARAMETERS, **OPENED}, inputs.shapes())
    batch = inputs.pairs("train").batch(np.arange(6))
    method.loss(*method.encode_batch(batch), batch, Moment(1, "fine_tune", method.hyperparameters)).backward()
    reached = {name for name, weights in method.network.layers.named_parameters() if weights.grad is not None}
    assert reached == {"classifier.fc7.weight", "classifier.fc7.bias"}
    assert method.network.layers.classifier.fc7.weight.grad.abs().sum() > 0
    method = build_method("defrag", {**PARAMETERS, "trained_layers": ["features", "classifier"]}, inputs.shapes())
    method.loss(*method.encode_batch(batch), batch, Moment(1, "fine_tune", method.hyperparameters)).backward()
    assert all(weights.grad is not None for weights in method.network.parameters())


@pytest.mark.parametrize("layers", [["fc7"], ["classifier.relu7"]])
def test_a_layer_that_cannot_be_trained_is_refused(crops, layers):
    with pytest.raises(InputError, match=r"no layer .* with weights; known: features.0, .*classifier.fc7"):
        build_method("defrag", {**PARAMETERS, "trained_layers": layers}, Inputs(crops, ["words"]).shapes())


def test_layers_need_crops(files, folder):
    inputs = Inputs(files.replace_inputs(view_whole=[], view_regions=[str(folder / "regions.parquet")]), ["words"])
    with pytest.raises(InputError, match="none without the view crops"):
        build_method("defrag", {**PARAMETERS, **OPENED}, inputs.shapes())


def test_opened_layers_move_and_the_others_stay(job, folder, monkeypatch):
    start, _ = job("start", phases=[{"name": "dense", "epochs": 1, "learning_rate": 0.01}])
    rising = iter(range(9))
    monkeypatch.setattr(Retrieval, "validate", lambda task: {"rsum": float(next(rising))})
    model, history = job("finetuned", start=start, **OPENED)
    assert history["epoch"].tolist() == [0, 1, 2]  # the model that it starts from is validated first
    before, after = load_file(folder / "network.safetensors"), load_file(model)
    kept = {name for name, value in before.items() if torch.equal(value, after.get(f"network.layers.{name}", value))}
    assert before.keys() - kept == {"classifier.fc7.weight", "classifier.fc7.bias"}
    assert not torch.equal(load_file(start)["image.weight"], after["image.weight"])


def test_where_val_does_not_rise_the_network_stays_as_it_was(job, folder):
    start, _ = job("start", phases=[{"name": "dense", "epochs": 1, "learning_rate": 0.01}])
    still = [{"name": "fine_tune", "epochs": 9, "learning_rate": 1e-30}]
    model, history = job("still", phases=still, start=start, patience=2, **OPENED)
    assert history["epoch"].tolist() == [0, 1, 2]
    before, after = load_file(folder / "network.safetensors"), load_file(model)
    assert torch.equal(before["classifier.fc7.weight"], after["network.layers.classifier.fc7.weight"])


def test_an_interrupted_training_goes_on_as_if_nothing_had_happened(job, monkeypatch):
    start, _ = job("start", phases=[{"name": "dense", "epochs": 1, "learning_rate": 0.01}])
    whole, _ = job("whole", start=start, **OPENED)
    original, steps = Trainer.step, []

    def step(self, *given):
        steps.append(1)
        if len(steps) == 5:
            raise Interrupted("stopped")
        return original(self, *given)

    monkeypatch.setattr(Trainer, "step", step)
    with pytest.raises(Interrupted):
        job("broken", start=start, **OPENED)
    broken, history = job("broken", start=start, **OPENED)
    assert broken.read_bytes() == whole.read_bytes()
    assert history["resumed"].max() == 1


def test_a_trained_model_brings_its_network(job, crops, files, monkeypatch):
    start, _ = job("start", phases=[{"name": "dense", "epochs": 1, "learning_rate": 0.01}])
    path, _ = job("finetuned", start=start, **OPENED)
    edited = Architecture({"fc7": "classifier.fc8"}, ARCHITECTURES["scenes_net"].implementation)
    monkeypatch.setitem(ARCHITECTURES._entries, "scenes_net", edited)  # the model keeps its own layer
    weights = load_file(path)
    inputs, method = open_model(crops.replace_inputs(network=[]), path, torch.device("cpu"))
    assert torch.equal(method.network.layers.classifier.fc7.weight, weights["network.layers.classifier.fc7.weight"])
    images = encode_images(method, inputs.pairs("test"))
    assert torch.isfinite(images[0]).all()
    loaded = load_model(path).network
    assert isinstance(loaded, FineTuned)
    assert loaded.node == method.network.node == "classifier.relu7"
    _, asked = open_new_data(files.replace_inputs(view_whole=[]), path, torch.device("cpu"))  # sentences alone
    assert torch.equal(asked.image.weight, weights["image.weight"])


def test_a_table_knows_the_network_by_the_features_that_it_begins_with(job, crops):
    start, _ = job("start")
    read = {"model": job("finetuned", start=start, **OPENED)[0], "view_crops": crops.input_path("view_crops")}
    inputs = {name: {"file": digest(path)} for name, path in read.items()}
    above = {digest(path): read_statement(path).values() for path in read.values()}
    assert choices([Statement(inputs=inputs, above=above)])["network of regions"] == "miniature"
