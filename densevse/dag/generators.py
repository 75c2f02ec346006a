"""Generators: what they read on a data set, what decides their training and decoding, and where their sentences are."""

from typing import Any

from densevse.config.generators import Generator
from densevse.dag.inputs import Files, Inputs
from densevse.dag.project import Stage, Wildcards, any_of
from densevse.dag.training import modules_reading


class Generators(Stage):
    """The generators of config/generators, each trained on every data set that asks for it."""

    def names(self) -> str:
        """Every generator and variant."""
        return any_of(self.config.generator_names())

    def entry(self, wildcards: Wildcards) -> Generator:
        """A generator's settings on a data set."""
        return self.project.generator(wildcards.generator, wildcards.dataset)

    def inputs_of_training(self, wildcards: Wildcards) -> Files:
        """The artifacts that a generator is trained on, by the names that densevse.data.files.Files takes."""
        return self._inputs(wildcards, ["train", "val"])

    def inputs_of_captions(self, wildcards: Wildcards) -> Files:
        """The artifacts that sentences about a split's images are written from, besides the generator."""
        space = self.entry(wildcards).space
        inputs = self._inputs(wildcards, [wildcards.split])
        if space:
            folder = self.folder_of_round("models", wildcards.dataset, space, wildcards.seed)
            inputs["space"] = f"{folder}/model.safetensors"
        return inputs

    def code(self, wildcards: Wildcards) -> str:
        """The code of a generator's training."""
        return self.project.code.digest("train_generator.py", *self._modules(wildcards))

    def code_of_captions(self, wildcards: Wildcards) -> str:
        """The code that writes sentences."""
        space, modules = self.entry(wildcards).space, self._modules(wildcards)
        modules += [f"densevse.methods.{self.project.variant(space, wildcards.dataset).model}"] if space else []
        return self.project.code.digest("write_captions.py", *modules)

    def model(self, wildcards: Wildcards) -> str:
        """The name of a generator's module below densevse/methods."""
        return f"generators.{self.entry(wildcards).model}"

    def parameters(self, wildcards: Wildcards) -> dict[str, Any]:
        """The parameters of a generator."""
        return self.read_by("train_generator.py", self.entry(wildcards).parameters, *self._modules(wildcards))

    def sentences(self, wildcards: Wildcards) -> list[str]:
        """The structures of sentences that a generator reads."""
        return list(self.entry(wildcards).sentences)

    def training(self, wildcards: Wildcards) -> dict[str, Any]:
        """What holds in all phases of a generator's training."""
        return self.read_by("train_generator.py", self.entry(wildcards).training, *self._modules(wildcards))

    def phases(self, wildcards: Wildcards) -> list[dict[str, Any]]:
        """The phases of a generator's training, in order."""
        phases = self.entry(wildcards).named_phases()
        return [self.read_by("train_generator.py", phase, *self._modules(wildcards)) for phase in phases]

    def decoding(self, wildcards: Wildcards) -> dict[str, Any]:
        """How a generator's sentences are written and ranked."""
        return self.read_by("write_captions.py", self.entry(wildcards).decoding)

    def _modules(self, wildcards: Wildcards) -> list[str]:
        entry = self.entry(wildcards)
        views = [] if entry.view is None else [entry.view]
        return [f"densevse.methods.generators.{entry.model}", *modules_reading(entry.sentences, views)]

    def _inputs(self, wildcards: Wildcards, splits: list[str]) -> Files:
        entry, inputs = self.entry(wildcards), Inputs(self.project)
        views = [] if entry.view is None else [entry.view]
        read = inputs.of_images(wildcards.generator, wildcards.dataset, views, {})
        read |= inputs.of_sentences(wildcards.dataset, entry.sentences)
        if entry.space:
            embeddings = self.folder_of_round("embeddings", wildcards.dataset, entry.space, wildcards.seed)
            read |= {f"space_{split}": f"{embeddings}/{split}.parquet" for split in splits}
        return read
