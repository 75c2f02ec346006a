"""Small generators on the miniature data set: a joint space, tagged parses, and training."""

import pytest
import torch

from densevse.artifacts.schemas.sentences import PARSES, TAGS
from densevse.config.training import NamedPhase, TrainingConfig, TrainingJob
from densevse.data.inputs import Inputs
from densevse.models.embedding import embed_split
from densevse.models.files import build_method, save_model
from snakeproof import schema
from tests.trainings import train_writing

PARAMETERS = {"dimension": 8, "factors": 16, "attribute_dimension": 8, "word_context": 2, "tag_context": 2}
TAG_OF = {"a": "DT", ".": ".", "runs": "VBZ", "sleeps": "VBZ", "dog": "NN", "cat": "NN"}
CPU = torch.device("cpu")


def space(folder, files, method="vse", **parameters):
    """An untrained joint space and its embeddings of all splits, as inputs of a generator."""
    inputs = Inputs(files, ["words"])
    torch.manual_seed(0)
    model = build_method(method, {"dimension": 8, **parameters}, inputs.shapes())
    path = folder / f"{method}.safetensors"
    save_model(model, method, ["words"], path, features=inputs.feature_settings(), device="cpu")
    for split in ("train", "val", "test"):
        embed_split(str(path), 1, {"split": split}, str(folder / f"{split}.parquet"), **files.paths_by_input())
    found = {f"joint_embedding_{split}": str(folder / f"{split}.parquet") for split in ("train", "val", "test")}
    return {**found, "joint_embedding": str(path)}


@pytest.fixture
def with_tags(folder, files):
    """The data set's files with tagged parses and a joint space; the first sentence could not be parsed."""
    parses = schema.read(folder / "parses.parquet", PARSES)
    parses["tags"] = [[TAG_OF.get(token, "JJ") for token in tokens] for tokens in parses["tokens"]]
    schema.write(parses, PARSES, folder / "parses.parquet")
    rows = [{"index": number, "tag": tag, "count": 1} for number, tag in enumerate(["JJ", "NN", "DT", "VBZ", "."], 2)]
    schema.write(rows, TAGS, folder / "tags.parquet")
    tagged = {"parses": [str(folder / "parses.parquet")], "tags": str(folder / "tags.parquet"), "view_whole": []}
    return files.replace_inputs(**tagged, **space(folder, files))


def trained(folder, files, model="sc_nlm", sentences=("tags",), epochs=2, **parameters):
    job = TrainingJob(
        method=f"generators.{model}",
        parameters=parameters,
        sentences=list(sentences),
        training=TrainingConfig(batch_size=8),
        phases=[NamedPhase(name="main", epochs=epochs, learning_rate=0.01)],
        seed=0,
    )
    path = folder / f"{model}.safetensors"
    read = files.replace_inputs(joint_embedding=[], joint_embedding_test=[])
    train_writing(read, job, path, folder / "history.parquet")
    return files.replace_inputs(model=str(path), joint_embedding_train=[], joint_embedding_val=[])
