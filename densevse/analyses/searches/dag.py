"""Searches in the plan: their queries, what they search, and their answers."""

from typing import NamedTuple

from densevse.analyses.searches.settings import (
    OwnData,
    Search,
    SearchSettings,
    photograph_folder,
    sentence_folder,
)
from densevse.config.given import GivenFiles
from densevse.config.values import DatasetName
from densevse.dag import datasets, rows, training
from densevse.dag.fields import LAYOUT, dump_fields
from densevse.dag.inputs import InputFiles
from densevse.dag.project import Project
from snakeproof.errors import InputError
from snakeproof.jobs import Job
from snakeproof.paths import Values, Wildcards

OWN_SPLIT = "test"
"""The split of a person's own sentences and photographs, from which nothing is learned."""


class Served(NamedTuple):
    """The inputs of the server of a search. Files about images and sentences have the names of `Files`."""

    title: str
    model: str
    encodings: str  # of the images that are searched
    images: InputFiles  # about these images
    sources: dict[str, str]  # source -> the folder, zip or tar with their pictures
    sentences: InputFiles  # about the data set's sentences, which a photograph finds
    split: str  # of these
    local: dict[str, str]  # network -> the user's own file of its weights
    threads: int
    made: list[str]  # the files that the workflow makes for the server


def target_files(project: Project, dataset: DatasetName) -> list[str]:
    """The pages of all searches of a data set that need no user's files."""
    return [
        f"{project.results}/search/{name}.{kind}"
        for name, entry in project.config.analysis(SearchSettings).items()
        if entry.dataset == dataset and entry.photographs is None and entry.variant not in project.config.given_rows()
        for kind in ("md", "html")
    ]


def inputs_of_images(project: Project, wildcards: Wildcards) -> InputFiles:
    """The artifacts that a variant reads of a data set's images, or of a search's photographs."""
    dataset, variant = wildcards.dataset, wildcards.variant
    inputs = training.inputs_of_images(project, dataset, variant)
    if project.variant(dataset, variant).generator is None:
        return inputs
    if isinstance(project.datasets[dataset], OwnData):
        raise InputError(
            f"searches: {variant} reads generated sentences about images, which your photographs do not have; "
            "name another variant."
        )
    words = f"{project.results}/{dataset}/vocabulary/words.parquet"
    return {**inputs, **training.generated_inputs(project, dataset, variant, wildcards.seed), "words": words}


def inputs_of_sentences(project: Project, wildcards: Wildcards) -> InputFiles:
    """The artifacts that the variant reads of the sentences that are queries or searched."""
    entry = _entry(project, wildcards.search)
    dataset = sentence_folder(wildcards.search) if entry.sentences else entry.dataset
    return training.inputs_of_sentences(project, dataset, entry.variant)


def image_table(project: Project, search: str) -> Values:
    """The data set of the images that are queries or searched."""
    return {"dataset": _image_dataset(project, search)}


def sources(project: Project, search: str) -> list[str]:
    """The files of the images that are queries or searched."""
    images = _image_dataset(project, search)
    datasets.check_pictures(project, images)
    return list(datasets.sources_by_name(project, images).values())


def encodings(project: Project, search: str) -> Values:
    """The encodings by the model of the images that are queries or searched: values of their path."""
    entry, images = _entry(project, search), _image_dataset(project, search)
    split = entry.split if entry.photographs is None else OWN_SPLIT
    return {"dataset": images, "split": split, **project.last_round(images, entry.variant, entry.seed)}


def server_inputs(project: Project, search: str) -> Served:
    """The inputs of the server of a search. Raises `InputError` if CoreNLP would have to parse each sentence."""
    entry, images, encoded = _entry(project, search), _image_dataset(project, search), encodings(project, search)
    sentences = training.inputs_of_sentences(project, entry.dataset, entry.variant)
    if "parses" in sentences:
        _check_parser(project, entry)
    datasets.check_pictures(project, images)
    searched = f"{project.artifact_folder('encodings', images, encoded)}/{encoded['split']}.parquet"
    pictures = datasets.sources_by_name(project, images)
    made = [path for name, path in pictures.items() if name not in project.datasets[images].local]
    made += [path for named in sentences.values() for path in ([named] if isinstance(named, str) else named)]
    return Served(
        title=_title(project, entry),
        model=f"{project.artifact_folder('models', entry.dataset, search_model(project, search))}/model.safetensors",
        encodings=searched,
        images=training.inputs_of_images(project, images, entry.variant),
        sources=pictures,
        sentences=sentences,
        split=entry.split,
        local={name: one.local for name, one in project.config.networks.items() if one.local},
        threads=project.threads(entry.dataset),
        made=[searched, *made],
    )


def search_model(project: Project, search: str) -> Values:
    """The trained model that a search uses."""
    entry = _entry(project, search)
    return {"dataset": entry.dataset, **project.last_round(entry.dataset, entry.variant, entry.seed)}


def given_files(project: Project, search: str) -> dict[str, str | Values]:
    """The files that a search of a given row reads, by key."""
    entry = _entry(project, search)
    own = {"vectors": entry.vectors} if entry.vectors else {}
    return rows.row_files(project, entry.dataset, _given_row(project, search), entry.seed or 0) | own


def job(project: Project, search: str) -> Job:
    """A search by a trained model, with the split of the sentences that are queries or searched."""
    entry = _entry(project, search)
    split, threads = OWN_SPLIT if entry.sentences else entry.split, project.threads(entry.dataset)
    settings = {"split": split, "asked": entry.query_kind, "top": entry.top, "threads": threads}
    return Job(settings, training.modules(project, entry.dataset, entry.variant))


def given_job(project: Project, search: str) -> Job:
    """A search with a given row: the meaning of its files' rows and columns, and the question, as `Question`."""
    entry = _entry(project, search)
    question = {
        "ranked_sentences": project.datasets[entry.dataset].sentences,
        **{key: getattr(entry, key) for key in ("image_ids", "caption_ids", "sentences", "top")},
    }
    layout = dump_fields(_given_row(project, search).layout, LAYOUT)
    return Job({"layout": layout, "question": question})


def pages_job(project: Project, search: str) -> Job:
    """The pages of a search."""
    entry = _entry(project, search)
    settings = {"asked": entry.query_kind, "title": _title(project, entry), "shown": entry.shown}
    return Job({**settings, "source_names": project.source_names(_image_dataset(project, search))})


def _check_parser(project: Project, entry: Search) -> None:
    """Raises `InputError` if the data set's parser is not the grammar of scenes, which parses at once."""
    parser = project.datasets[entry.dataset].parser
    if project.config.parsers[parser].kind != "grammar":
        raise InputError(
            f"--serve: {entry.variant} reads parses, and {parser} would have to be started for each sentence. "
            "Leave --serve out, or name a variant that reads words alone, such as vse."
        )


def _title(project: Project, entry: Search) -> str:
    dataset = project.config.datasets[entry.dataset].title
    if entry.variant in project.config.given_rows():
        title = project.config.given_rows()[entry.variant].title or entry.variant
        asked = "Your sentences" if entry.sentences else "Test sentences" if entry.caption_ids else "Test images"
        searched = "sentences" if entry.image_ids else "images"
        return f"{asked}, asked of the test {searched} of {dataset}, by {title} (given)"
    if entry.query_kind == "sentences":
        searched = "your photographs" if entry.photographs else f"the {entry.split} images of {dataset}"
    else:
        searched = "your sentences" if entry.sentences else f"the {entry.split} sentences of {dataset}"
    method = project.variant(entry.dataset, entry.variant)
    trained = "not trained here" if method.is_untrained else f"trained on {dataset}"
    return f"Your {entry.query_kind}, asked of {searched}, by {method.title}, {trained}"


def _given_row(project: Project, search: str) -> GivenFiles:
    entry = _entry(project, search)
    return project.config.given_rows()[entry.variant].dataset_files(entry.dataset)


def _entry(project: Project, search: str) -> Search:
    return project.config.analysis(SearchSettings).root[search]


def _image_dataset(project: Project, search: str) -> DatasetName:
    entry = _entry(project, search)
    return entry.dataset if entry.photographs is None else photograph_folder(entry)
