"""Training in the plan: the inputs, settings and rounds of variants."""

from collections.abc import Iterable
from importlib import import_module
from pathlib import Path

from densevse.config.methods import MethodConfig, module_of_method
from densevse.config.networks import NetworkConfig
from densevse.config.registries import VIEWS, feature_view
from densevse.config.values import DatasetName, VariantName
from densevse.dag import features
from densevse.dag.features import modules_of_architecture, trainable_network
from densevse.dag.fields import PHASE, TRAINING, dump_entry, dump_fields
from densevse.dag.inputs import InputFiles, structure_files, view_files
from densevse.dag.project import Project
from snakeproof.errors import InputError
from snakeproof.jobs import Job
from snakeproof.paths import Values, Wildcards


def inputs(project: Project, wildcards: Wildcards) -> InputFiles:
    """The artifacts that the variant of a job reads."""
    return inputs_of_variant(project, wildcards.dataset, wildcards.variant, wildcards.seed)


def inputs_of_variant(project: Project, dataset: DatasetName, variant: VariantName, seed: int) -> InputFiles:
    """The artifacts that a variant reads on a data set, by the names of densevse.data.files.Files."""
    return {
        **inputs_of_images(project, dataset, variant),
        **inputs_of_sentences(project, dataset, variant),
        **generated_inputs(project, dataset, variant, seed),
    }


def trained_model(project: Project, dataset: DatasetName, variant: VariantName, seed: int, round: int) -> Values:
    """The values of a model's path, of the data set whose networks and words a data set borrows, if it does."""
    return {"dataset": project.training_dataset(dataset), **project.variant_round(dataset, variant, seed, round)}


def generated_inputs(project: Project, dataset: DatasetName, variant: VariantName, seed: int) -> InputFiles:
    """The sentences of a generator about a data set's images, if a variant reads them."""
    entry = project.variant(dataset, variant)
    if entry.generator is None:
        return {}
    folder = f"{project.results}/{dataset}/generated_captions/{entry.generator}/seed{seed}"
    written = [f"{folder}/{split}.parquet" for split in ("train", "val", "test")]
    return {f"view_{view}": written for view in entry.views if VIEWS[view].made_by == "generator"}


def inputs_of_images(project: Project, dataset: DatasetName, variant: VariantName) -> InputFiles:
    """The inputs of a variant about a data set's images, without generated sentences."""
    entry = project.variant(dataset, variant)
    views = [view for view in entry.views if VIEWS[view].made_by != "generator"]
    return view_files(project, variant, dataset, views, entry.networks)


def inputs_of_sentences(project: Project, dataset: DatasetName, variant: VariantName) -> InputFiles:
    """The inputs of a variant about a data set's sentences, with its vocabularies."""
    entry, known_by = project.variant(dataset, variant), project.training_dataset(dataset)
    inputs = structure_files(project, dataset, entry.sentences, entry.dependencies)
    vectors = project.datasets[dataset].word_vectors
    if entry.word_vectors and vectors:
        inputs["word_vectors"] = f"{project.results}/{known_by}/vocabulary/vectors-{vectors}.parquet"
    return inputs


def regions(project: Project, dataset: DatasetName, variant: VariantName) -> list[Values]:
    """The shards of a variant's regions (or of those whose pixels it reads), to compare their boxes.

    Raises `InputError` if regions are given without boxes.
    """
    entry, method = project.datasets[dataset], project.variant(dataset, variant)
    view = next(view for view in map(feature_view, method.views) if VIEWS[view].of_proposals)
    network = project.view_network(variant, dataset, view, method.networks)
    if network in entry.features and not entry.features[network].has_boxes:
        raise InputError(
            f"datasets.{dataset}.features.{network}.regions: these regions have no boxes, so {variant} cannot be "
            "compared with true boxes; give their boxes, or remove the data set's true boxes."
        )
    return features.shards_of_regions(project, dataset, network)


def modules(project: Project, dataset: DatasetName, variant: VariantName) -> list[str]:
    """The modules that a variant's jobs import by name.

    These are its method, its structures and views, and a network that is trained with it.
    """
    entry = project.variant(dataset, variant)
    found = [module_of_method(entry.model), *input_modules(entry.sentences, entry.views)]
    if entry.is_untrained:
        found += modules_of_architecture(project.config.networks[entry.networks[entry.views[0]]].architecture)
    for network in _trained_networks(project, project.training_dataset(dataset), variant):
        architecture = project.config.networks[network].architecture
        found += ["densevse.vision.finetuned", *modules_of_architecture(architecture)]
    return found


def untrained_job(project: Project, dataset: DatasetName, variant: VariantName) -> Job:
    """The model of a variant without training: its network, as its features state it."""
    entry = project.variant(dataset, variant)
    networks = {
        view: {"network": name, **dump_fields(project.network_entry(name), ("architecture", "options"))}
        for view, name in entry.networks.items()
    }
    settings = {"method": entry.model, "parameters": dump_entry(entry.parameters), "networks": networks}
    encoder, file = _encoder(project, dataset, variant), tokenizer(project, dataset, variant)
    if encoder.tokenizer and encoder.library and file:
        place = (
            file
            if isinstance(file, str)
            else "{resources}/{network}/{file}".format(resources=project.resources, **file)
        )
        told = import_module(encoder.library.implementation).read_tokenizer_config(Path(place))
        settings["pad"] = encoder.tokenizer.pad or told.pop("pad")
        told.pop("pad", None)
        settings |= {"tokenizer_options": told} if told else {}
    return Job(settings, modules(project, dataset, variant))


def untrained_weights(project: Project, dataset: DatasetName, variant: VariantName) -> str | Values:
    """The weights of the network that encodes images and sentences for a variant without training."""
    return features.network_weights(project, _name_of_encoder(project, dataset, variant))


def tokenizer(project: Project, dataset: DatasetName, variant: VariantName) -> str | Values | None:
    """The file of its tokenizer; None if the library has it."""
    tokenizer = _encoder(project, dataset, variant).tokenizer
    if tokenizer is None:
        return None
    network, source = _name_of_encoder(project, dataset, variant), tokenizer.source
    return tokenizer.local or {"network": network, "file": source.file if source else ""}


def _encoder(project: Project, dataset: DatasetName, variant: VariantName) -> NetworkConfig:
    return project.config.networks[_name_of_encoder(project, dataset, variant)]


def _name_of_encoder(project: Project, dataset: DatasetName, variant: VariantName) -> str:
    """The network that encodes images and sentences for a variant without training."""
    (network,) = set(project.variant(dataset, variant).networks.values())
    return network


def job(project: Project, dataset: DatasetName, variant: VariantName, seed: int, round: int = 0) -> Job:
    """The training of a variant's round, as TrainingJob. Raises `InputError` for a round that it does not have."""
    entry = project.variant(dataset, variant)
    if round > entry.last_round:
        raise InputError(f"{variant} has the rounds 0 to {entry.last_round} on {dataset}, and no round {round}.")
    return entry_job(project, entry, dataset, variant, seed, round)


def entry_job(
    project: Project, entry: MethodConfig, dataset: DatasetName, variant: VariantName, seed: int, round: int = 0
) -> Job:
    """The training of a round with the settings of `entry`, which reads what a variant reads, as TrainingJob."""
    settings = {
        "method": entry.model,
        "parameters": dump_entry(entry.parameters),
        "sentences": list(entry.sentences),
        "training": {} if entry.training == "none" else dump_fields(entry.training, TRAINING),
        "phases": [dump_fields(phase, PHASE) for phase in entry.round_phases(round)],
        "seed": seed,
        "round": round,
        "threads": project.threads(dataset),
    }
    trained = [project.network_entry(name) for name in _trained_networks(project, dataset, variant)]
    sides = [one.regions.crop_size or one.size for one in trained]
    changed = [one for side in sides for one in features.resize_revisions(project, dataset, side).items()]
    return Job({"job": settings}, modules(project, dataset, variant), dict(changed))


def model_job(project: Project, dataset: DatasetName, variant: VariantName) -> Job:
    """A job that runs a variant's model."""
    return Job({"threads": project.threads(dataset)}, modules(project, dataset, variant))


def encoded_test_job(project: Project, dataset: DatasetName, variant: VariantName) -> Job:
    """A job that runs a variant's model on the test images and on those of their sentences that are ranked."""
    job = model_job(project, dataset, variant)
    return Job({**job.settings, "ranked_sentences": project.datasets[dataset].sentences}, job.modules)


def accuracy_job(project: Project, dataset: DatasetName, variant: VariantName) -> Job:
    """The accuracy of a variant's correspondences, given the option that limits the regions of a phrase."""
    return Job({"candidates": str(dump_entry(project.variant(dataset, variant).parameters)["candidates"])})


def origin(project: Project, dataset: DatasetName, variant: VariantName, seed: int) -> Values | None:
    """The trained variant from which a variant's round 0 starts; most start from random weights."""
    other = project.variant(dataset, variant).starts_from
    return project.last_round(dataset, other, seed) if other else None


def first_weights(project: Project, dataset: DatasetName, variant: VariantName) -> list[str | Values]:
    """The first weights of the network that is trained with a variant; most read a fixed one's features."""
    networks = _trained_networks(project, dataset, variant)
    return [features.network_weights(project, name) for name in networks]


def _trained_networks(project: Project, dataset: DatasetName, variant: VariantName) -> list[str]:
    """The network that is trained with a variant, if it reads pixels."""
    entry = project.variant(dataset, variant)
    pixels = [view for view in entry.views if VIEWS[view].pixels]
    found = [project.view_network(variant, dataset, view, entry.networks) for view in pixels]
    for name in found:
        if name not in project.config.networks:
            raise InputError(
                f"datasets.{dataset}.features.{name}: no network that could be trained with {entry.title}; name a "
                "network of config/networks as its networks.regions."
            )
        trainable_network(project, name)
    return found


def previous_round(project: Project, dataset: DatasetName, variant: VariantName, seed: int, round: int) -> Values:
    """The round before a round. Raises `ValueError` for round 0."""
    if round < 1:
        raise ValueError("round 0 has no round before it")
    return project.variant_round(dataset, variant, seed, round - 1)


def needs_true_boxes(project: Project, dataset: DatasetName, variant: VariantName) -> bool:
    """True if true boxes decide a variant's correspondences.

    Raises `InputError` if phrases have none.
    """
    if project.variant(dataset, variant).correspondences == "model":
        return False
    if not project.datasets[dataset].phrases_have_boxes:
        raise InputError(
            f"{variant}: true boxes give its correspondences, and phrases of {dataset} have none; "
            f"give some as datasets.{dataset}.boxes, or measure the variant on another data set."
        )
    return True


def last_correspondences(project: Project, dataset: DatasetName, variant: VariantName) -> Values:
    """The correspondences on which the last round of a variant's first seed was trained."""
    last = project.variant(dataset, variant).last_round
    return project.round_correspondences(dataset, variant, project.first_seed(dataset), last)


def input_modules(structures: Iterable[str], views: Iterable[str]) -> list[str]:
    """The modules that a job imports by name to read structures of sentences and views of images."""
    opened_by = dict.fromkeys(VIEWS[view].opened_by for view in views)
    return [
        *(f"densevse.data.structures.{name}" for name in structures),
        *(f"densevse.data.views.{name}" for name in opened_by),
    ]
