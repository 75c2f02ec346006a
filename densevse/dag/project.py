"""The project that all stages share: the validated configuration, questions about it, and the code of the rules."""

import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache, partial
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any, get_args

from densevse.artifacts.shards import shard_names
from densevse.config import groups
from densevse.config.config import Config
from densevse.config.datasets import Dataset
from densevse.config.environment import check_extra
from densevse.config.load import generator, load, variant
from densevse.config.methods import GeneratorConfig, MethodConfig
from densevse.config.networks import NetworkConfig
from densevse.config.registries import ARCHITECTURES, VIEWS, Architecture, feature_view
from densevse.config.sources import Source
from densevse.config.tables import Protocol
from densevse.config.values import DatasetName, VariantName
from densevse.moved import MOVED, OLD_CALLS
from densevse.runtime.exact import REVISION, why_not_exact
from snakeproof import plugins
from snakeproof.code import Code
from snakeproof.contents import PROJECT, Contents
from snakeproof.errors import InputError
from snakeproof.jobs import Job
from snakeproof.paths import Values
from snakeproof.plugins import Plugin
from snakeproof.strict import validate
from snakeproof.yaml_files import read_yaml

_KEPT = ".snakemake/densevse-code.json"
_DECLARATIONS = (
    r"densevse/(moved\.py|config/|extensions/(readers|architectures)/|methods/parameters/|analyses/\w+/settings\.py)"
)
"""The modules that declare the configuration, and that of old names; they have no logic that a job runs."""
_KNOW_WEIGHTS = {Architecture.implementation, "densevse.vision.architectures.efficientnet_lite"}
"""The modules of architectures that know the input of published weights."""
_USUAL = "alexnet-owt-7be5be79|mobilenet_v2-b0353104|resnet152-394f9c45|squeezenet1_0-b66bff10|vgg19-dcbb9e9d"
_PUBLISHED = re.compile(rf"(?!{_USUAL})(.*-[0-9a-f]{{8}}|tf_efficientnet_lite.*)\.\w+")
"""Files that may be published weights with another input than the default one; torchvision takes seconds to import."""
OWN_FOLDERS = ("benchmarks", "config", "densevse", "docs", "envs", "profiles", "snakeproof", "tests", "workflow")


class Project:
    """A project: the code below `root` with its config/, and `overrides` of the configuration (Snakemake's config)."""

    def __init__(self, root: str | Path, overrides: Mapping[str, Any], contents: Contents | None = None) -> None:
        """`contents` reads the user's files. Raises `InputError` for an invalid configuration."""
        self.root, self.overrides, self.contents = Path(root), overrides, contents or Contents()
        self.config = load(self.root / "config", overrides)
        self.results, self.resources = self.config.results, self.config.resources
        _check_folders(self.config, Path(os.path.abspath(root)))
        # Data sets of the configuration and of analyses, which go through the same stages.
        self.datasets: dict[DatasetName, Dataset] = dict(self.config.datasets)
        for settings in self.config.analyses():
            self.datasets |= settings.datasets(self.config)
        self.why_not_exact = why_not_exact(self.config.gpu)
        self.code = project_code(self.root, _KEPT, plugins.plugins(*groups.GROUPS))
        # (data set, name) -> its settings there
        self._variant: Callable[[DatasetName | None, VariantName], MethodConfig] = cache(partial(variant, self.config))
        self.generator: Callable[[DatasetName, str], GeneratorConfig] = cache(partial(generator, self.config))
        self.packaged_dataset = cache(self._packaged_dataset)
        self.network_entry: Callable[[str], NetworkConfig] = cache(self._network_entry)

    def variant(self, dataset: DatasetName | None, variant: VariantName) -> MethodConfig:
        """A variant's settings, as it is trained for a data set; without one, those that all data sets share."""
        return self._variant(dataset and self.training_dataset(dataset), variant)

    def _trainer_of_round_0(self, dataset: DatasetName, name: VariantName) -> VariantName:
        """The variant whose round 0 a variant uses on a data set: itself, unless `round_0_of` names another.

        Raises `InputError` if the two differ in settings of round 0, or if the other does not train its own.
        """
        entry = self.variant(dataset, name)
        if entry.round_0_of is None:
            return name
        other, where = self.variant(dataset, entry.round_0_of), f"{name} on {dataset}: round_0_of: {entry.round_0_of}"
        if other.round_0_of is not None:
            raise InputError(f"{where} itself uses the round 0 of {other.round_0_of}; name that one.")
        different = entry.differences_in_round_0(other)
        if different:
            raise InputError(
                f"{where} differs in {' and '.join(different)}, so its round 0 differs; remove round_0_of."
            )
        return entry.round_0_of

    def source_names(self, dataset: DatasetName) -> list[str]:
        """The names of the files from which a data set is read; Karpathy's only if the options name it."""
        entry = self.datasets[dataset]
        names = list({**entry.sources, **entry.local})
        return names if getattr(entry.options, "karpathy", None) else [name for name in names if name != "karpathy"]

    def image_dataset(self, dataset: DatasetName) -> DatasetName:
        """The data set whose images, features and parses are read: itself, unless it has new splits of another's."""
        resplit = self.datasets[dataset].resplit
        return resplit.of if resplit else dataset

    def training_dataset(self, dataset: DatasetName) -> DatasetName:
        """The data set whose networks and vocabulary are used: itself, unless it relies on another one."""
        return self.datasets[dataset].training_dataset or dataset

    def view_network(self, reader: str, dataset: DatasetName, view: str, own: Mapping[str, str]) -> str:
        """The network of a view: the `reader`'s own, or the data set's. Raises `InputError` if neither names one."""
        networks, described = {**self.datasets[dataset].networks, **own}, feature_view(view)
        if described not in networks:
            raise InputError(
                f"datasets.{dataset}.networks: {reader} reads the view {view}; name the network of its features."
            )
        return networks[described]

    def _network_entry(self, network: str) -> NetworkConfig:
        """A network's entry with what its weights say: see densevse.vision.architectures.libraries.WeightsTable.

        Of others, this is the input of published weights, where the entry does not say it. Raises
        `InputError` with the choices if the weights may be several that read images otherwise.
        """
        entry = self.config.networks[network]
        source = None if entry.local else entry.weights
        file = Path(entry.local or f"{self.resources}/{network}/{source.file if source else ''}")
        places = [place for place in (source.hub, *source.addresses) if place] if source else []
        if entry.library is not None:
            check_library(network, entry)
            table = import_module(entry.library.implementation).TABLE
            found = table.resolve(entry.architecture, entry.options, file, places, f"networks.{network}")
        else:
            implementation = ARCHITECTURES[entry.architecture].implementation
            unsaid = {"size", "resize", "mean", "std"} - entry.model_fields_set
            if implementation not in _KNOW_WEIGHTS or not _PUBLISHED.fullmatch(file.name) or not unsaid:
                return entry
            known = import_module(implementation).published_input(entry.architecture, file.name)
            found = {name: known[name] for name in unsaid & known.keys()}
        return entry.model_copy(update=found)

    def title_of_variant(self, dataset: DatasetName, variant: VariantName) -> str:
        """The title of a picture of one variant."""
        return f"{self.variant(dataset, variant).title} ({variant}) on {self.datasets[dataset].title}"

    def threads(self, dataset: DatasetName) -> int:
        """The threads of a torch job; a setting, as the last bits of a sum depend on their number."""
        return 1 if self.is_exact(dataset) else self.datasets[dataset].threads or self.config.threads

    def is_exact(self, dataset: DatasetName | None) -> bool:
        """True if the jobs of a data set, or those without one, compute the same bits on every processor."""
        own = None if dataset is None else self.datasets[dataset].exact
        return bool(self.config.exact if own is None else own) and self.why_not_exact is None

    def revisions(self, dataset: DatasetName | None = None, table: str | None = None) -> dict[str, int]:
        """The revision of exact jobs. A table is exact if the data sets of all its sections are."""
        # A table without an entry in config/tables is the main one of the data set of its name.
        entry = self.config.tables.get(table or "")
        of = [section.dataset for section in entry.sections] if entry else [DatasetName(table) if table else dataset]
        return {REVISION: 1} if all(map(self.is_exact, of)) else {}

    def ranking(self, dataset: DatasetName) -> dict[str, Any]:
        """The settings of every retrieval by a trained model on a data set."""
        entry = self.datasets[dataset]
        return {"ranked_sentences": entry.sentences, "top": entry.top, "threads": self.threads(dataset)}

    def shards(self, dataset: DatasetName, /, **values: str) -> list[Values]:
        """The shards of a data set's artifacts, in order."""
        return [{"shard": shard, **values} for shard in shard_names(self.datasets[dataset].shards)]

    def first_seed(self, dataset: DatasetName) -> int:
        """The first seed with which variants are trained."""
        return self.datasets[self.training_dataset(dataset)].seeds[0]

    def last_round(self, dataset: DatasetName, variant: VariantName, seed: int | None = None) -> Values:
        """The last round of a variant, for its first seed unless one is given: values of variant, seed and round."""
        seed = self.first_seed(dataset) if seed is None else seed
        return self.variant_round(dataset, variant, seed, self.variant(dataset, variant).last_round)

    def variant_round(self, dataset: DatasetName, variant: VariantName, seed: int, round: int) -> Values:
        """A round of a variant: values of variant, seed and round. Its round 0 may be another variant's."""
        trainer = self._trainer_of_round_0(dataset, variant) if round == 0 else variant
        return {"variant": trainer, "seed": seed, "round": round}

    def round_correspondences(self, dataset: DatasetName, variant: VariantName, seed: int, round: int) -> Values:
        """The correspondences on which a round of a variant is trained: values of variant, seed and round.

        The model of the round before makes them, so variants that share round 0 share those of round 1, unless true
        boxes decide them.
        """
        learned = self.variant(dataset, variant).correspondences == "model"
        made_by = self._trainer_of_round_0(dataset, variant) if round == 1 and learned else variant
        return {"variant": made_by, "seed": seed, "round": round}

    def artifact_folder(self, kind: str, dataset: DatasetName, values: Values) -> str:
        """The folder of artifacts of a kind, e.g. models, for a round given by variant, seed and round."""
        return "{}/{}/{}/{variant}/seed{seed}/round{round}".format(self.results, dataset, kind, **values)

    def source_file(self, owner: str, source: Source | None, local: str | None) -> str:
        """The file of a source: the user's own, or the one below resources/."""
        if local is not None:
            return self.contents.mark_path(local)
        return self.contents.mark_path(f"{self.resources}/{owner}/{source.file}") if source else ""

    def packaged_file(self, file: str) -> str:
        """A file of the project's own, as rules call it."""
        return self.contents.mark_path(file if os.path.isabs(file) else f"{PROJECT}/{file}")

    def _packaged_dataset(self, name: DatasetName) -> Dataset | None:
        """A data set as its file in config/datasets defines it, without overrides; None without such a file."""
        file = self.root / f"config/datasets/{name}.yaml"
        if self.datasets[name].resplit or not file.exists():
            return None
        return validate(Dataset, read_yaml(file), str(file))


def project_code(root: str | Path, kept: str | Path, plugins: Sequence[Plugin] = ()) -> Code:
    """The code of a project, in a checkout at `root` or installed; see `Code` for `kept`."""
    checkout = Path(root)
    folder = checkout if (checkout / "densevse").is_dir() else checkout.parents[1]
    return Code(folder, ["densevse"], kept, _DECLARATIONS, plugins, MOVED | OLD_CALLS)


def _check_folders(config: Config, root: Path) -> None:
    """Raises `InputError` if results and downloads share a folder, or one holds the project's files or cannot be."""
    folders = {key: Path(os.path.abspath(getattr(config, key))) for key in ("results", "resources")}
    if folders["results"] == folders["resources"]:
        raise InputError(f"results: {config.results!r} is also the folder of resources; name another one for results.")
    own = [*(root / name for name in OWN_FOLDERS), Path.cwd() / ".snakemake"]
    for key, folder in folders.items():
        if any(map(folder.is_relative_to, own)) or any(place.is_relative_to(folder) for place in (root, Path.cwd())):
            raise InputError(f"{key}: {folder} holds files of the project; name a separate folder for {key}.")
        there = next(place for place in (folder, *folder.parents) if os.path.lexists(place))
        if there.is_symlink() and not there.exists():
            raise InputError(f"{key}: {there} is a link to {os.readlink(there)}, which is missing; make it, or relink.")
        if not there.is_dir():
            raise InputError(f"{key}: {there} is a file; name a folder for {key}.")


def name_pattern(names: Iterable[str]) -> str:
    """A wildcard constraint: one of these, or nothing."""
    return "|".join(map(re.escape, dict.fromkeys(names))) or "(?!)"


def wildcard_patterns(project: Project) -> dict[str, str]:
    """The values that wildcards of all rules may have."""
    settings = project.config
    trained = [name for name, one in settings.concept_networks.items() if one.train == "all"]
    names: dict[str, Iterable[str]] = {
        "dataset": project.datasets,
        "network": [*settings.networks, *trained],
        "concept_network": settings.concept_networks,
        "proposer": settings.proposers,
        "parser": settings.parsers,
        "vectors": settings.word_vectors,
        "ensemble": settings.ensembles(),
        "variant": settings.variant_names(),
        "protocol": [name for name in get_args(Protocol) if name != "regions"],
        "generator": settings.generator_names(),
        "view": [name for name, one in VIEWS.items() if one.extracted],
    }
    numbers = dict.fromkeys(("seed", "round", "fold"), r"0|[1-9]\d*") | {"shard": r"\d+-of-\d+"}
    return {name: name_pattern(known) for name, known in names.items()} | numbers


class Stage:
    """The functions of a module of the plan, each with the project as its first argument."""

    def __init__(self, project: Project, module: ModuleType) -> None:
        self.project, self._module = project, module

    def __getattr__(self, name: str) -> Callable[..., Any]:
        return partial(getattr(self._module, name), self.project)


def check_library(network: str, entry: NetworkConfig) -> None:
    """Raises `InputError` if the library of a network is not installed."""
    if entry.library is not None and entry.library.extra is not None:
        check_extra(entry.library.package, entry.library.extra, f"networks.{network} ({entry.architecture})")


class Analyses:
    """The stages whose files a data set's target `<data set>.done` requests: tables, and every included analysis."""

    def __init__(self, project: Project) -> None:
        self._project = project
        self._modules: list[ModuleType] = []

    def add(self, module: ModuleType) -> Stage:
        """Adds a stage, whose function `target_files`, if it has one, lists files of a data set's target."""
        self._modules.append(module)
        return Stage(self._project, module)

    def target_files(self, dataset: DatasetName) -> list[str]:
        """The files of a data set's target."""
        listing = [module.target_files for module in self._modules if hasattr(module, "target_files")]
        return sorted(file for target_files in listing for file in target_files(self._project, dataset))

    def target_values(self, dataset: DatasetName) -> list[Values]:
        """The same as values of paths."""
        return [{"file": file} for file in self.target_files(dataset)]

    def listing_job(self, dataset: DatasetName) -> Job:
        """The list of these files."""
        return Job({"title": self._project.datasets[dataset].title, "files": self.target_files(dataset)})
