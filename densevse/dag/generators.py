"""Generators in the plan, which write sentences, each trained on every data set that uses it."""

from densevse.config.methods import module_of_method
from densevse.config.values import DatasetName
from densevse.dag.fields import DECODING, PHASE, TRAINING, dump_entry, dump_fields
from densevse.dag.inputs import InputFiles, structure_files, view_files
from densevse.dag.project import Project
from densevse.dag.training import input_modules
from snakeproof.jobs import Job
from snakeproof.paths import Wildcards


def inputs_of_training(project: Project, wildcards: Wildcards) -> InputFiles:
    """The artifacts on which a generator is trained, by the names of densevse.data.files.Files."""
    return _inputs(project, wildcards.dataset, wildcards.generator, wildcards.seed, ["train", "val"])


def inputs_of_captions(project: Project, wildcards: Wildcards) -> InputFiles:
    """The artifacts from which sentences about a split's images are written, besides the generator."""
    dataset, seed = wildcards.dataset, wildcards.seed
    inputs = _inputs(project, dataset, wildcards.generator, seed, [wildcards.split])
    space = project.generator(dataset, wildcards.generator).joint_embedding
    if space:
        folder = project.artifact_folder("models", dataset, project.last_round(dataset, space, int(seed)))
        inputs["joint_embedding"] = f"{folder}/model.safetensors"
    return inputs


def job(project: Project, dataset: DatasetName, generator: str, seed: int) -> Job:
    """The training of a generator, as TrainingJob."""
    entry = project.generator(dataset, generator)
    settings = {
        "method": f"generators.{entry.model}",
        "parameters": dump_entry(entry.parameters),
        "sentences": list(entry.sentences),
        "training": dump_fields(entry.training, TRAINING),
        "phases": [dump_fields(phase, PHASE) for phase in entry.named_phases()],
        "seed": seed,
        "threads": project.threads(dataset),
    }
    return Job({"job": settings}, _modules(project, dataset, generator))


def captions_job(project: Project, dataset: DatasetName, generator: str, seed: int) -> Job:
    """The writing and ranking of a generator's sentences, as CaptionJob."""
    entry, modules = project.generator(dataset, generator), _modules(project, dataset, generator)
    if entry.joint_embedding:
        modules += [module_of_method(project.variant(dataset, entry.joint_embedding).model)]
    settings = {"decoding": dump_fields(entry.decoding, DECODING), "seed": seed, "threads": project.threads(dataset)}
    return Job({"job": settings}, modules)


def _modules(project: Project, dataset: DatasetName, generator: str) -> list[str]:
    entry = project.generator(dataset, generator)
    views = [] if entry.view is None else [entry.view]
    return [f"densevse.methods.generators.{entry.model}", *input_modules(entry.sentences, views)]


def _inputs(project: Project, dataset: DatasetName, generator: str, seed: str, splits: list[str]) -> InputFiles:
    entry = project.generator(dataset, generator)
    views = [] if entry.view is None else [entry.view]
    read = view_files(project, generator, dataset, views, {})
    read |= structure_files(project, dataset, entry.sentences)
    if entry.joint_embedding:
        embeddings = project.artifact_folder(
            "embeddings", dataset, project.last_round(dataset, entry.joint_embedding, int(seed))
        )
        read |= {f"joint_embedding_{split}": f"{embeddings}/{split}.parquet" for split in splits}
    return read
