"""Choices in the plan: where questions are from, and the models that answer them."""

from collections.abc import Iterable

from densevse.analyses.choices.settings import PUBLISHED, Asked, ChoiceSettings, ChoicesPlan, choice_folder
from densevse.config.values import DatasetName, VariantName
from densevse.dag import datasets, inputs, tables, training
from densevse.dag.inputs import InputFiles
from densevse.dag.project import Project
from snakeproof.errors import InputError
from snakeproof.jobs import Job
from snakeproof.paths import Values, Wildcards


def folders(project: Project, kinds: Iterable[str]) -> list[str]:
    """The folders of the questions of some kinds."""
    return [choice_folder(name) for name, entry in _settings(project).items() if entry.questions in kinds]


def scenes(project: Project, dataset: DatasetName) -> str | Values:
    """The zip of the data set whose scenes are asked of."""
    return datasets.sources(project, _entry(project, dataset).dataset)[0]


def parses(project: Project, dataset: DatasetName) -> list[Values]:
    """The parses of the data set whose sentences are put into other orders."""
    return inputs.parse_shards(project, _entry(project, dataset).dataset)


def own_files(project: Project, dataset: DatasetName) -> list[str]:
    """The user's file of questions, and the pictures of published ones."""
    entry = _entry(project, dataset)
    return [path for path in (entry.file, entry.pictures) if path]


def asked_dataset(project: Project, dataset: DatasetName) -> Values:
    """The data set whose test images are asked of."""
    return {"dataset": _image_dataset(project, dataset)}


def model_inputs(project: Project, wildcards: Wildcards) -> InputFiles:
    """The artifacts that a variant reads of the images and of the questions' sentences.

    Raises `InputError` for one that reads generated sentences, which questions do not have.
    """
    dataset, variant = wildcards.dataset, wildcards.variant
    if project.variant(dataset, variant).generator is not None:
        raise InputError(f"choices: {variant} reads generated sentences of images; leave it out of `measure`.")
    return {
        **training.inputs_of_images(project, _image_dataset(project, dataset), variant),
        **training.inputs_of_sentences(project, dataset, variant),
    }


def making_job(project: Project, dataset: DatasetName) -> Job:
    """The making of questions."""
    return Job({"seed": _entry(project, dataset).seed})


def ordering_job(project: Project, dataset: DatasetName) -> Job:
    """The making of questions from the sentences that the data set ranks."""
    entry = _entry(project, dataset)
    return Job({"seed": entry.seed, "ranked_sentences": project.datasets[entry.dataset].sentences})


def reading_job(project: Project, dataset: DatasetName) -> Job:
    """The reading of published questions."""
    return Job({"layout": _entry(project, dataset).questions})


def scoring_job(project: Project, dataset: DatasetName, variant: VariantName) -> Job:
    """The scoring of questions by a variant's model."""
    model = training.model_job(project, dataset, variant)
    return Job({**model.settings, "seed": _entry(project, dataset).seed}, model.modules)


def measured_rounds(project: Project, asked: str) -> list[Values]:
    """The last round of each variant that answers, of each seed."""
    return [
        {"dataset": choice_folder(asked), **values}
        for values in tables.last_rounds(project, choice_folder(asked), _measured(project, asked))
    ]


def table_job(project: Project, asked: str) -> Job:
    """The table."""
    rounds = tables.plan_of_last_rounds(project, choice_folder(asked), _measured(project, asked))
    plan = ChoicesPlan(**dict(rounds), references=_settings(project).root[asked].references)
    return Job({"plan": plan.model_dump(mode="json")})


def _measured(project: Project, asked: str) -> list[VariantName]:
    entry = _settings(project).root[asked]
    return [*dict.fromkeys((*(entry.measure or tables.variants(project, entry.dataset)), *entry.references))]


def _image_dataset(project: Project, dataset: DatasetName) -> DatasetName:
    entry = _entry(project, dataset)
    return dataset if entry.questions in PUBLISHED else entry.dataset


def _entry(project: Project, dataset: DatasetName) -> Asked:
    return _settings(project).root[dataset.removeprefix(choice_folder(""))]


def _settings(project: Project) -> ChoiceSettings:
    return project.config.analysis(ChoiceSettings)
