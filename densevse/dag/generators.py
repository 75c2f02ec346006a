"""Generators in the plan: their inputs on a data set, their training and decoding, and their sentences."""

from densevse.config.strict import DatasetName
from densevse.dag.fields import DECODING, PHASE, TRAINING, passed, whole
from densevse.dag.inputs import InputFiles, InputStage
from densevse.dag.jobs import Job
from densevse.dag.paths import Wildcards
from densevse.dag.project import Stage
from densevse.dag.training import modules_reading


class GeneratorStage(Stage):
    """The generators of config/generators, each trained on every data set that uses it."""

    def inputs_of_training(self, wildcards: Wildcards) -> InputFiles:
        """The artifacts on which a generator is trained, by the names of densevse.data.files.Files."""
        return self._inputs(wildcards.dataset, wildcards.generator, wildcards.seed, ["train", "val"])

    def inputs_of_captions(self, wildcards: Wildcards) -> InputFiles:
        """The artifacts from which sentences about a split's images are written, besides the generator."""
        dataset, seed = wildcards.dataset, wildcards.seed
        inputs = self._inputs(dataset, wildcards.generator, seed, [wildcards.split])
        space = self.project.generator(dataset, wildcards.generator).joint_embedding
        if space:
            folder = self.folder_of("models", dataset, self.last_round(dataset, space, int(seed)))
            inputs["joint_embedding"] = f"{folder}/model.safetensors"
        return inputs

    def job(self, dataset: DatasetName, generator: str, seed: int) -> Job:
        """The training of a generator, as TrainingJob."""
        entry = self.project.generator(dataset, generator)
        settings = {
            "method": f"generators.{entry.model}",
            "parameters": whole(entry.parameters),
            "sentences": list(entry.sentences),
            "training": passed(entry.training, TRAINING),
            "phases": [passed(phase, PHASE) for phase in entry.named_phases()],
            "seed": seed,
            "threads": self.threads(dataset),
        }
        return Job({"job": settings}, self._modules(dataset, generator))

    def captions_job(self, dataset: DatasetName, generator: str, seed: int) -> Job:
        """The writing and ranking of a generator's sentences, as CaptionJob."""
        entry, modules = self.project.generator(dataset, generator), self._modules(dataset, generator)
        if entry.joint_embedding:
            modules += [f"densevse.methods.{self.project.variant(dataset, entry.joint_embedding).model}"]
        settings = {"decoding": passed(entry.decoding, DECODING), "seed": seed, "threads": self.threads(dataset)}
        return Job({"job": settings}, modules)

    def _modules(self, dataset: DatasetName, generator: str) -> list[str]:
        entry = self.project.generator(dataset, generator)
        views = [] if entry.view is None else [entry.view]
        return [f"densevse.methods.generators.{entry.model}", *modules_reading(entry.sentences, views)]

    def _inputs(self, dataset: DatasetName, generator: str, seed: str, splits: list[str]) -> InputFiles:
        entry, inputs = self.project.generator(dataset, generator), InputStage(self.project)
        views = [] if entry.view is None else [entry.view]
        read = inputs.of_images(generator, dataset, views, {})
        read |= inputs.of_sentences(dataset, entry.sentences)
        if entry.joint_embedding:
            embeddings = self.folder_of(
                "embeddings", dataset, self.last_round(dataset, entry.joint_embedding, int(seed))
            )
            read |= {f"joint_embedding_{split}": f"{embeddings}/{split}.parquet" for split in splits}
        return read
