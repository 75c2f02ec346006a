"""Jobs other than the training of methods on the tested device, each with the CPU's results."""

import numpy as np
import pandas as pd
import pytest
import torch
from safetensors.torch import load_file, save_file

from densevse.artifacts.schemas.captions import GENERATED
from densevse.artifacts.schemas.datasets import IMAGES
from densevse.artifacts.schemas.features import IMAGE_FEATURES, REGION_FEATURES
from densevse.artifacts.schemas.proposals import PROPOSALS
from densevse.config.load import generator
from densevse.config.registries import VIEWS
from densevse.config.training import NamedPhase, TrainingJob
from densevse.models.captioning import write_captions
from densevse.models.concepts import score_concepts
from densevse.models.embedding import embed_split
from densevse.scenes.network import ScenesNet
from densevse.training.concepts import PixelConceptJob
from densevse.training.loop import Trainer
from densevse.vision.extract import NetworkFiles
from densevse.vision.mcg.contours import HEDContours
from densevse.vision.mcg.hed import HED
from densevse.vision.networks import load_network
from densevse.vision.regions import RegionNetwork
from snakeproof import schema
from snakeproof.store import FeatureStore
from tests import concepts
from tests.crops import NETWORK
from tests.device.chosen import CPU, DEVICE, counting_waits
from tests.device.files import files_of
from tests.device.jobs import VSE, on_both, same_draws, untrained
from tests.device.test_methods import CONFIG, DATASET, small
from tests.extraction import write_features, write_regions
from tests.trainings import train_all, train_head, train_method, train_writing

__all__ = ["on_both", "same_draws"]

LENGTH = 8  # of vectors of the joint space


@pytest.fixture(scope="session")
def concept_folder(tmp_path_factory):
    return concepts.folder.__wrapped__(tmp_path_factory)


@pytest.mark.parametrize("name", CONFIG.generator_names())
def test_a_generator(made, on_both, name, monkeypatch):
    """It waits once at most in a step, after the first ones."""
    entry, step, waits = generator(CONFIG, DATASET, name), Trainer.step, []

    def counted(self, *given):
        with counting_waits() as waited:
            found = step(self, *given)
            waits.append(waited())
        return found

    monkeypatch.setattr(Trainer, "step", counted)

    def job(folder):
        files, model = untrained(made, folder, "vse", ["words"], ["whole"], **VSE)
        for split in ("train", "val", "test"):
            embedded = str(folder / f"{split}.parquet")
            embed_split(str(model), 1, {"split": split}, embedded, **files.paths_by_input())
        files = files_of(made, [entry.view] if entry.view else [], entry.sentences, "enhanced", False)
        if entry.joint_embedding:
            embedded = {f"joint_embedding_{split}": str(folder / f"{split}.parquet") for split in ("train", "val")}
            files = files.replace_inputs(**embedded)
        phases = [NamedPhase(**{**phase.model_dump(), "epochs": 1}) for phase in entry.named_phases()]
        described = TrainingJob(
            method=f"generators.{entry.model}",
            parameters=small(entry.parameters.model_dump()),
            sentences=entry.sentences,
            training=entry.training.model_dump() | {"batch_size": 8, "validation_images": None},
            phases=phases,
            seed=0,
        )
        train_writing(files, described, folder / "model.safetensors", folder / "history.parquet")
        files = files.replace_inputs(model=str(folder / "model.safetensors"), joint_embedding_train=[])
        files = files.replace_inputs(joint_embedding_val=[])
        if entry.joint_embedding:
            test = str(folder / "test.parquet")
            files = files.replace_inputs(joint_embedding=str(model), joint_embedding_test=test)
        decoding = entry.decoding.model_copy(update={"beam": 3, "kept": 2, "tag_sequences": 2, "longest_sentence": 5})
        settings = {"decoding": decoding.model_dump(), "seed": 0, "threads": 1}
        wildcards = {"dataset": "scenes", "generator": name, "seed": "0", "split": "test"}
        write_captions(settings, wildcards, str(folder / "written.parquet"), **files.paths_by_input())
        rows = schema.read(folder / "written.parquet", GENERATED)
        weights = {key: value.numpy() for key, value in load_file(folder / "model.safetensors").items()}
        return weights | {"scores": rows["score"].to_numpy(float)}

    on_both(job)
    assert waits[-1] <= 1


@pytest.mark.parametrize("learns_from", ["whole", "regions"])
def test_the_last_layer_of_a_concept_network(concept_folder, on_both, learns_from):
    def job(folder):
        files, regions = concepts.written(folder), str(concept_folder / "regions.parquet")
        train_head(concepts.tables(concept_folder), [regions], concepts.job(1, learns_from=learns_from), files)
        views = {view: str(folder / view / "00-of-01.parquet") for view in ("concepts", "concepts_whole")}
        score_concepts(regions, files.weights, "head", 1, **views)
        stores = {view: FeatureStore([path], IMAGE_FEATURES) for view, path in views.items()}
        found = {view: store.gather(range(len(store))) for view, store in stores.items()}
        return found | {key: value.numpy() for key, value in load_file(files.weights).items()}

    on_both(job)


@pytest.mark.slow
def test_all_layers_of_a_concept_network(concept_folder, on_both):
    def job(folder):
        start = str(folder / "start.safetensors")
        save_file(ScenesNet(4).state_dict(), start)
        of = {"built_from": "scenes_net", "architecture": "scenes_net"}
        described = concepts.job(1, 0.003, PixelConceptJob, **of, pixels=CONFIG.networks["scenes_net"].model_copy())
        described = described.model_copy(
            update={"training": described.training.model_copy(update={"optimizer": "sgd"})}
        )
        files = concepts.written(folder)
        train_all(concepts.tables(concept_folder), {"images": str(concept_folder / "images")}, start, described, files)
        return {key: value.numpy() for key, value in load_file(files.weights).items()}

    on_both(job)


@pytest.mark.parametrize("view", [name for name, declared in VIEWS.items() if declared.extracted])
def test_features_of_images(made, on_both, view):
    settings = NETWORK | {"layers": {view: "conv4" if view == "grid" else "fc7"}, "resize": 36}

    def job(folder):
        network = NetworkFiles("miniature", settings, made / "network.safetensors")
        out = folder / "00-of-01.parquet"
        write_features(made / "images.parquet", {"images": str(made / "pictures")}, network, view, "00-of-01", out)
        store = FeatureStore([out], IMAGE_FEATURES)
        return {"features": store.gather(range(len(store)))}

    on_both(job)


def test_regions_as_crops(made, on_both):
    settings = NETWORK | {"regions": {"features": "crops"}, "layers": {"regions": "fc7"}}
    images = schema.read(made / "images.parquet", IMAGES)
    boxes = pd.DataFrame({"image_id": images["image_id"].repeat(2), "rank": [0, 1] * len(images)})
    boxes = boxes.assign(x=[0.0, 2.0] * len(images), y=1.0, width=5.0, height=4.0, score=1.0, class_name="")
    names, sources = ["background", "one", "two"], {"images": str(made / "pictures")}

    def job(folder):
        proposals, out = folder / "proposals.parquet", folder / "00-of-01.parquet"
        schema.write(boxes, PROPOSALS, proposals)
        network = NetworkFiles("miniature", settings, made / "network.safetensors")
        write_regions(made / "images.parquet", proposals, sources, network, names, "00-of-01", out, all_stay=True)
        store = FeatureStore([out], REGION_FEATURES)
        return {"features": store.gather(range(len(store))), "scores": store.rows["score"].to_numpy()}

    on_both(job)


def test_regions_of_a_shared_map(made, on_both):
    image = np.random.default_rng(0).integers(0, 256, (64, 80, 3), dtype=np.uint8)
    boxes = np.array([[0, 0, 80, 64], [10, 5, 40, 30]], np.float32)

    def job(folder):
        network = RegionNetwork(load_network(NETWORK, made / "network.safetensors"), "fc7", "conv4", background=0)
        return network.describe_boxes(image, boxes, cells=4)._asdict()

    on_both(job)


def test_contours_of_hed(on_both):
    image = np.random.default_rng(0).integers(0, 256, (24, 20, 3), dtype=np.uint8)

    def job(folder):
        network = HED().eval().requires_grad_(False)
        maps = HEDContours(network, half_precision=False).find_maps(image, [1, 0.5], 10_000)
        return {"maps": np.stack(maps).astype(float)}

    on_both(job)


@pytest.mark.parametrize("place", [CPU, DEVICE], ids=str)
def test_a_training_goes_on_from_its_checkpoint(made, tmp_path, compute_on, monkeypatch, place):
    """With dropout and an average of weights; the random numbers go on as well."""
    files = files_of(made, ["whole"], ["words"], "enhanced", False)
    described = TrainingJob(
        method="vse",
        parameters=VSE | {"dropout": 0.3},
        sentences=["words"],
        training={"batch_size": 4, "checkpoint_steps": 2, "ema_decay": 0.8},
        phases=[{"name": "main", "epochs": 2, "learning_rate": 0.01}],
        seed=0,
    )
    compute_on(place)
    train_method(files, described, tmp_path / "whole/model.safetensors", tmp_path / "whole/history.parquet")
    step, count = Trainer.step, []

    def interrupted(self, *given):
        count.append(1)
        if len(count) == 5:
            raise KeyboardInterrupt
        return step(self, *given)

    with monkeypatch.context() as patch:
        patch.setattr(Trainer, "step", interrupted)
        with pytest.raises(KeyboardInterrupt):
            train_method(files, described, tmp_path / "broken/model.safetensors", tmp_path / "broken/history.parquet")
    train_method(files, described, tmp_path / "broken/model.safetensors", tmp_path / "broken/history.parquet")
    whole, broken = (load_file(tmp_path / name / "model.safetensors") for name in ("whole", "broken"))
    assert all(torch.equal(whole[name], broken[name]) for name in whole)
