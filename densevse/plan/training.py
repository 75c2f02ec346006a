"""Training: what a variant reads on a data set, what decides its training, and the rounds that follow one another."""

from typing import Any

from densevse.methods.registry import METHODS
from densevse.plan.features import Features
from densevse.plan.language import Parses
from densevse.plan.project import Stage, Wildcards
from densevse.settings.load import merge, validate
from densevse.settings.model import Training as Settings


class Training(Stage):
    """The training of every method, and the inputs of whatever computes with a trained model."""

    def inputs(self, wildcards: Wildcards) -> dict[str, str | list[str]]:
        """The artifacts that a variant reads on a data set, by the names that densevse.training.data.Files takes."""
        entry, dataset = self.variant(wildcards), self.dataset(wildcards)
        folder, features = f"{self.results}/{wildcards.dataset}", Features(self.project)
        networks = {**dataset.networks, **entry.networks}
        inputs: dict[str, str | list[str]] = {
            "image_table": f"{folder}/images.parquet",  # not `images`: so may a data set's source be called
            "caption_table": f"{folder}/captions.parquet",
            "words": f"{folder}/vocabulary/words.parquet",
        }
        for view in entry.views:
            inputs[f"features_{view}"] = features.files(wildcards.dataset, view, networks[view])
        if "trees" in entry.sentences:
            inputs["parses"] = Parses(self.project).files(wildcards)
        if entry.word_vectors and dataset.word_vectors:
            inputs["word_vectors"] = f"{folder}/vocabulary/vectors-{dataset.word_vectors}.parquet"
        return inputs

    def regions(self, wildcards: Wildcards) -> str | list[str]:
        """The regions that a variant reads."""
        return self.inputs(wildcards)["features_regions"]

    def code(self, wildcards: Wildcards) -> str:
        """The code of training: methods are imported by name."""
        return self.project.code.digest("train.py", self.module(wildcards))

    def code_of_retrieval(self, wildcards: Wildcards) -> str:
        """The code of retrieval."""
        return self.project.code.digest("retrieve.py", self.module(wildcards))

    def module(self, wildcards: Wildcards) -> str:
        """The module of a variant's method."""
        return METHODS[self.variant(wildcards).model].split(":")[0]

    def method(self, wildcards: Wildcards) -> dict[str, Any]:
        """A variant's method and the parameters of it."""
        entry = self.variant(wildcards)
        return {"model": entry.model, "parameters": entry.parameters}

    def training(self, wildcards: Wildcards) -> dict[str, Any]:
        """How a variant is trained: in round 0, nothing of what differs in later rounds."""
        entry = self.variant(wildcards)
        rounds = entry.round_training if hasattr(wildcards, "round") else {}
        values = merge(entry.training.model_dump(mode="json"), rounds)
        settings = validate(Settings, values, f"round_training of {wildcards.variant}")
        return self.read_by("train.py", settings, self.module(wildcards))

    def seed(self, wildcards: Wildcards) -> int:
        """A job's seed."""
        return int(wildcards.seed)

    def round(self, wildcards: Wildcards) -> int:
        """A job's round."""
        return int(wildcards.round)

    def previous(self, wildcards: Wildcards) -> str:
        """The model that a round starts from. Round 0 starts from nothing: rule train makes it."""
        if int(wildcards.round) < 1:
            raise ValueError("round 0 has no round before it")
        return f"{self.folder(wildcards)}/round{int(wildcards.round) - 1}/model.safetensors"

    def last(self, wildcards: Wildcards, file: str) -> str:
        """A file of the last round of a variant's first seed."""
        return self.run(wildcards.dataset, wildcards.variant, self.dataset(wildcards).seeds[0]) + (
            f"/round{self.variant(wildcards).rounds}/{file}"
        )

    def last_model(self, wildcards: Wildcards) -> str:
        """The model of the last round of a variant's first seed."""
        return self.last(wildcards, "model.safetensors")

    def last_correspondences(self, wildcards: Wildcards) -> str:
        """The correspondences that the last round was trained on."""
        return self.last(wildcards, "correspondences.parquet")

    def candidates(self, wildcards: Wildcards) -> str:
        """What a phrase may be assigned: beyond the model itself, all that assigning depends on."""
        return str(self.variant(wildcards).parameters["candidates"])

    def folder(self, wildcards: Wildcards) -> str:
        """The folder of a training and its rounds."""
        return self.run(wildcards.dataset, wildcards.variant, wildcards.seed)

    def run(self, dataset: str, variant: str, seed: int | str) -> str:
        """The folder of a variant's rounds with a seed."""
        return f"{self.results}/{dataset}/models/{variant}/seed{seed}"
