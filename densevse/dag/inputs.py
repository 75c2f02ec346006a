"""The artifacts that models read of a data set: parses, vocabularies, concepts, and the inputs of a job by name."""

from collections.abc import Collection, Iterable, Mapping

from densevse.config.registries import STRUCTURES, VIEWS, feature_view
from densevse.config.values import DatasetName
from densevse.dag import datasets, features
from densevse.dag.fields import WORD_VECTORS_FILE, dump_entry, dump_fields
from densevse.dag.project import Project
from snakeproof.errors import InputError
from snakeproof.jobs import Job
from snakeproof.paths import Values


def parsing_job(project: Project, parser: str) -> Job:
    """The parsing of sentences by CoreNLP: all its options but the memory, which decides no parse."""
    options = dump_entry(project.config.parsers[parser].options)
    return Job({"options": {name: value for name, value in options.items() if name != "memory_mb"}})


def parse_shards(project: Project, dataset: DatasetName, dependencies: str = "enhanced") -> list[Values]:
    """The shards of a data set's parses, by its parser, in the folder `parses` that has a kind of dependencies.

    Raises `InputError` for original dependencies by another parser than CoreNLP.
    """
    of = project.image_dataset(dataset)
    parser = project.datasets[of].parser
    if dependencies == "original" and project.config.parsers[parser].kind != "corenlp":
        raise InputError(
            f"dependencies: original: the parser {parser} of {of} does not have these; only CoreNLP makes them. Name "
            "other dependencies, or measure the variant on another data set."
        )
    folder = "original_parses" if dependencies == "original" else "parses"
    return project.shards(of, dataset=of, parser=parser, parses=folder)


def concepts_job(project: Project, dataset: DatasetName) -> Job:
    """The mining of concepts. The grammar takes no first word for a name, so its concepts have no revision."""
    parser = project.config.parsers[project.datasets[project.image_dataset(dataset)].parser]
    revisions = {"first_words": 2} if parser.kind == "corenlp" else {}
    return Job({"most": project.datasets[dataset].concepts}, revisions=revisions)


def picked_vectors(project: Project, dataset: DatasetName) -> Values | None:
    """The pre-trained vectors of a data set's words, if it uses any."""
    name = project.datasets[dataset].word_vectors
    return {"vectors": name} if name else None


def vectors_job(project: Project, vectors: str) -> Job:
    """The reading of word vectors: all settings but the place of their file."""
    return Job({"settings": dump_fields(project.config.word_vectors[vectors], WORD_VECTORS_FILE)})


InputFiles = dict[str, str | list[str]]


def view_files(
    project: Project, reader: str, dataset: DatasetName, views: Iterable[str], networks: Mapping[str, str]
) -> InputFiles:
    """The image table, and the features of views by `networks` or else by the data set's networks.

    Raises `InputError` that names the `reader` and a view without a network.
    """
    # not `images`, which may be the name of a data set's source
    inputs: InputFiles = {"image_table": f"{project.results}/{dataset}/images.parquet"}
    for view in views:
        network = project.view_network(reader, dataset, view, networks)
        inputs[f"view_{view}"] = features.files(project, dataset, feature_view(view), network)
        if VIEWS[view].pixels:
            inputs |= {f"source_{name}": path for name, path in datasets.sources_by_name(project, dataset).items()}
    return inputs


def structure_files(
    project: Project, dataset: DatasetName, structures: Collection[str], dependencies: str = "enhanced"
) -> InputFiles:
    """The sentences, the structures that are read of them, and their vocabularies.

    `dependencies` is the kind of dependencies in triplets.
    """
    folder, known_by = (
        f"{project.results}/{dataset}",
        f"{project.results}/{project.training_dataset(dataset)}/vocabulary",
    )
    inputs: InputFiles = {"caption_table": f"{folder}/captions.parquet"}
    read = [STRUCTURES[name] for name in structures]
    if not all(structure.by_network for structure in read):
        inputs |= {"tokens": f"{folder}/tokens.parquet", "words": f"{known_by}/words.parquet"}
    kind = "basic" if any(structure.basic for structure in read) else dependencies
    if any(structure.parsed for structure in read):
        shards = parse_shards(project, dataset, kind)
        inputs["parses"] = [
            "{}/{dataset}/{parses}/{parser}/{shard}.parquet".format(project.results, **of) for of in shards
        ]
    for structure in read:
        for name, file in structure.vocabularies.items():
            inputs[name] = f"{known_by}/{file.format(dependencies=kind)}.parquet"
    return inputs
