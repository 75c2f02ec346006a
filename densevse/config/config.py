"""The whole configuration, and checks across its entries.

A folder below config/ holds one file for each entry, named like the entry: config/datasets/flickr8k.yaml is
`datasets.flickr8k`. densevse/analyses/<name>/settings.yaml holds the settings of an analysis, which it declares; if
they are many entries, entries/ beside it holds a file for each. config/config.yaml, a --configfile and --config are
merged over these files.
"""

import re
from collections.abc import Iterable, Mapping
from functools import cache
from typing import Annotated, Any, Literal, Self, TypeVar

from pydantic import AfterValidator, Discriminator, Field, Tag, create_model, model_validator

from densevse.config.analyses import AnalysisSettings, Entries, settings_key, settings_of_analyses
from densevse.config.datasets import Dataset, ParserConfig, WordVectors
from densevse.config.given import GivenEntry
from densevse.config.methods import GeneratorConfig, GeneratorEntry, MethodConfig, MethodEntry
from densevse.config.networks import MEAN_OF_REGIONS, ConceptNetwork, NetworkConfig
from densevse.config.proposers import Clustered, Proposer
from densevse.config.registries import VIEWS, WATCHERS
from densevse.config.sources import PlainPath
from densevse.config.tables import Ensemble, Table
from densevse.config.values import DatasetKey, DatasetName, Exact, Threads, VariantKey, VariantName
from snakeproof.strict import FileName, Strict, check_known_names

Settings = TypeVar("Settings", bound=AnalysisSettings)
FOLDERS = frozenset({"tables", "figures", "logs", "rankers"})
"""Folders below results/ whose names no data set may have, besides those of analyses."""
_TRAINED, _GIVEN = "[trained]", "[given]"


def _row_tag(entry: Any) -> str:
    return _GIVEN if isinstance(entry, GivenEntry) or (isinstance(entry, Mapping) and "given" in entry) else _TRAINED


def _check_gres_name(name: str) -> str:
    if not re.fullmatch(r"gpu(:[A-Za-z_][\w.]*)?", name):
        raise ValueError(f"{name!r} is neither gpu nor gpu:<model>; `gpu` says how many")
    return name


Row = Annotated[Annotated[MethodEntry, Tag(_TRAINED)] | Annotated[GivenEntry, Tag(_GIVEN)], Discriminator(_row_tag)]
"""An entry of config/methods: a trained method or, with the key `given`, scores or embeddings from elsewhere."""


class Config(Strict):
    """The whole configuration."""

    results: PlainPath = Field("results", description="folder of everything that the workflow makes")
    resources: PlainPath = Field("resources", description="folder of downloads")
    gpu: Literal["auto", 0] | Threads = Field(
        "auto",
        description="GPUs that a feature or training job requests and requires; 0: never use one; auto: request "
        "none, but use one if it is visible",
    )
    gres: Annotated[str, AfterValidator(_check_gres_name)] | None = Field(
        None, description="gpu or gpu:<model>, for a Slurm cluster that wants --gres for --gpus; `gpu` says how many"
    )
    jobs_per_gpu: Threads = Field(1, description="jobs of a user on one GPU at a time; others wait")
    loader_threads: Literal["auto"] | Threads = Field(
        "auto",
        description="threads of a job that read, decode and plan for a GPU; auto: the cores, shared by the jobs that "
        "run on GPUs",
    )
    plain_on_gpu: list[Literal["features", "hlstm", "recurrent", "relations", "tanh_sums"]] = Field(
        default=[],
        description="computations that a GPU does as a CPU would, to compare the two ways; results differ by rounding. "
        "features: copied for each batch and not kept on the GPU, with the same results; "
        "recurrent: LSTMs and GRUs step by step and not by cuDNN; relations: DeFrag's maps one relation after the "
        "other; tanh_sums: the attention of sm-LSTM by PyTorch and not by kernels in Triton; hlstm: the same for the "
        "H-LSTM",
    )
    numbers_at_once: Literal["auto"] | Annotated[int, Field(gt=0)] = Field(
        "auto",
        description="numbers in one intermediate result on a GPU, where pairs are compared in parts; auto: by the "
        "card's memory and `jobs_per_gpu`",
    )
    logging: dict[str, bool] = Field(
        default={},
        description="watchers of trainings while they run: tensorboard, or that of a package of yours; they change no "
        "artifact, and nothing runs again for them",
    )
    threads: Threads = Field(
        2, description="threads of a torch job; fixed, as the last bits of sums depend on their number"
    )
    exact: Exact = Field(
        False,
        description="compute the same bits on every x86-64 processor with AVX2, with one thread and without a GPU; "
        "auto: where this machine can",
    )
    datasets: dict[DatasetKey, Dataset] = Field(description="photographs and sentences, with their splits")
    networks: dict[FileName, NetworkConfig] = Field(description="convolutional networks, which describe images")
    concept_networks: dict[FileName, ConceptNetwork] = Field(
        default={}, description="networks that predict the concepts of an image"
    )
    proposers: dict[FileName, Proposer] = Field(description="sources of boxes that may hold an object")
    parsers: dict[FileName, ParserConfig] = Field(description="parsers of sentences")
    word_vectors: dict[FileName, WordVectors] = Field(description="pre-trained word vectors")
    methods: dict[VariantKey, Row] = Field(description="methods that score images with sentences")
    generators: dict[FileName, GeneratorEntry] = Field(default={}, description="models that write sentences")
    tables: dict[FileName, Table] = Field(default={}, description="results/tables/<name>.md")

    @model_validator(mode="after")
    def _check_gres(self) -> Self:
        if self.gres and not self.gpus:
            raise ValueError(f"gres: {self.gres} is asked for by jobs with a GPU; say how many, as `gpu: 1`")
        return self

    @model_validator(mode="after")
    def _check_name_clashes(self) -> Self:
        for kind in ("datasets", "networks", "concept_networks", "proposers", "parsers", "word_vectors", "tables"):
            self.check_names(kind, getattr(self, kind))
        for settings in self.analyses():
            if isinstance(settings, Entries):
                self.check_names(settings_key(type(settings)), settings.root)
        return self

    def check_names(self, kind: str, names: Iterable[str]) -> None:
        """Raises `ValueError` for entries of a kind that would share files, or a folder of results, by their names."""
        taken = FOLDERS.union(*(settings.FOLDERS for settings in settings_of_analyses().values()))
        for name in names if kind == "datasets" else ():
            if name.casefold() in taken:
                raise ValueError(f"datasets.{name}: {self.results} has a folder of this name; rename the data set")
        _check_distinct_names(kind, names)

    @model_validator(mode="after")
    def _check_names_exist(self) -> Self:
        check_known_names("logging", self.logging, WATCHERS)
        for owner, dataset in self.datasets.items():
            where = f"datasets.{owner}"
            check_known_names(f"{where}.proposer", [dataset.proposer], self.proposers)
            check_known_names(f"{where}.parser", [dataset.parser], self.parsers)
            check_known_names(f"{where}.word_vectors", [dataset.word_vectors or ""], {**self.word_vectors, "": None})
            self._check_features(where, dataset)
            self.check_networks(f"{where}.networks", dataset.networks, [dataset])
        for name, network in self.networks.items():
            if not (network.weights or network.local or network.trained_on or network.folder):
                raise ValueError(f"networks.{name}: one of weights, local (your own file) and trained_on is needed")
            check_known_names(f"networks.{name}.trained_on", [network.trained_on or ""], {**self.datasets, "": None})
        self._check_masks()
        self._check_concepts()
        for name, method in self.method_entries().items():
            self._check_method(f"methods.{name}", method)
        for name, row in self.given_rows().items():
            check_known_names(f"methods.{name}.datasets", row.datasets, self.datasets)
            for given in (row.given, *(there.given for there in row.datasets.values())):
                self._check_encoder(f"methods.{name}.given.network", given.network)
        self._check_names_of_variants()
        self._check_generators()
        for settings in self.analyses():
            settings.check(self)
        return self

    @property
    def watchers(self) -> list[str]:
        """The watchers that are turned on."""
        return [name for name, on in self.logging.items() if on]

    @property
    def gpus(self) -> int:
        """The number of GPUs that a feature or training job requests from the executor."""
        return 0 if self.gpu == "auto" else self.gpu

    @property
    def accelerator(self) -> dict[str, int | str]:
        """The resource that a job with a GPU requests, by its name: `gpu`, or `gres` for some Slurm clusters."""
        return {"gres": f"{self.gres}:{self.gpus}"} if self.gres else {"gpu": self.gpus}

    def analysis(self, kind: type[Settings]) -> Settings:
        """The settings of an analysis, by their class."""
        found: Settings = getattr(self, settings_key(kind))
        return found

    def analyses(self) -> list[AnalysisSettings]:
        """The settings of all analyses."""
        return [getattr(self, name) for name in settings_of_analyses()]

    def dataset_lineage(self, dataset: DatasetName | None) -> list[DatasetName]:
        """A data set, after the one whose images it divides if it is a resplit: settings on both apply, in order."""
        resplit = self.datasets[dataset].resplit if dataset else None
        return [name for name in (resplit and resplit.of, dataset) if name]

    def check_networks(
        self, where: str, networks: Mapping[str, str], datasets: Iterable[Dataset] | None = None
    ) -> None:
        """Raises `ValueError` for an unknown network, or one without a layer for its view.

        The given features of one of `datasets`, by default of all, may take the place of a network.
        """
        among = self.datasets.values() if datasets is None else datasets
        given = {name: features.views for dataset in among for name, features in dataset.features.items()}
        for view, network in networks.items():
            by_concepts = VIEWS[view].made_by == "concept_network"
            check_known_names(
                f"{where}.{view}", [network], {**(self.concept_networks if by_concepts else self.networks), **given}
            )
            if network in given:
                check_known_names(f"{where}.{view}", [view], given[network])
                continue
            if by_concepts:
                continue
            if view not in self.networks[network].layers:
                raise ValueError(f"{where}.{view}: networks.{network}.layers names no layer for this view")

    def _check_features(self, where: str, dataset: Dataset) -> None:
        _check_distinct_names(f"{where}.features", dataset.features)
        for name, given in dataset.features.items():
            if name in self.networks or name in self.concept_networks:
                raise ValueError(f"{where}.features.{name}: a network has this name; rename the features")
            if given.whole_by not in (None, MEAN_OF_REGIONS):
                self.check_networks(f"{where}.features.{name}.whole_by", {"whole": given.whole_by}, [])
        if not dataset.has_pictures:
            for view, network in dataset.networks.items():
                if network in self.networks:
                    raise ValueError(
                        f"{where}.networks.{view}: {network} needs pictures, and the data set has none; name features "
                        f"of {where}.features"
                    )

    def _check_masks(self) -> None:
        for name, proposer in self.proposers.items():
            masks = getattr(proposer.options, "masks", None)
            if masks:
                having = [other for other, dataset in self.datasets.items() if dataset.has_masks]
                check_known_names(f"proposers.{name}.options.masks.dataset", [masks.dataset], having)
                if masks.shards > self.datasets[masks.dataset].shards:
                    most = self.datasets[masks.dataset].shards
                    raise ValueError(f"proposers.{name}.options.masks.shards: {masks.dataset} has only {most}")

    def _check_concepts(self) -> None:
        for name, proposer in self.proposers.items():
            if isinstance(proposer.options, Clustered):
                others = [other for other, entry in self.proposers.items() if entry.kind != "clustered"]
                check_known_names(f"proposers.{name}.options.of", [proposer.options.of], others)
        for name, concepts in self.concept_networks.items():
            where = f"concept_networks.{name}"
            check_known_names(f"{where}.network", [concepts.network or ""], {**self.networks, "": None})
            check_known_names(f"{where}.proposer", [concepts.proposer], self.proposers)

    def _check_method(self, where: str, method: MethodEntry) -> None:
        self.check_networks(f"{where}.networks", method.networks)
        if method.is_untrained:
            self._check_sentence_encoder(where, method)
        check_known_names(f"{where}.datasets", method.datasets, self.datasets)
        for name, variant in method.variants.items():
            check_known_names(f"{where}.variants.{name}.datasets", variant.datasets, self.datasets)

    def _check_sentence_encoder(self, where: str, method: MethodConfig) -> None:
        """Raises `ValueError` unless an untrained method names one network that encodes sentences."""
        for view in method.views:
            if view not in method.networks:
                raise ValueError(f"{where}.networks.{view}: name the network of open_clip that is measured")
            network = self.networks.get(method.networks[view])
            if network is None or network.library is None or not network.library.has_text:
                raise ValueError(
                    f"{where}.networks.{view}: {method.networks[view]} encodes no sentences, as the structure text "
                    "requires; name a network of open_clip"
                )
        if len({method.networks[view] for view in method.views}) > 1:
            raise ValueError(
                f"{where}.networks: one network must encode images and sentences; name the same for all views"
            )

    def _check_encoder(self, where: str, network: str | None) -> None:
        """Checks that a given row's network, if it has one, is an encoder in a folder."""
        check_known_names(where, [network or ""], {**self.networks, "": None})
        if network and self.networks[network].folder is None:
            raise ValueError(
                f"{where}: {network} is {self.networks[network].architecture}, and only a folder of "
                "sentence_transformers makes vectors of both sides here; measure the network by the method clip"
            )

    def method_entries(self) -> dict[VariantName, MethodEntry]:
        """The methods of config/methods that the workflow trains or takes from networks."""
        return {name: entry for name, entry in self.methods.items() if isinstance(entry, MethodEntry)}

    def given_rows(self) -> dict[VariantName, GivenEntry]:
        """The rows of config/methods whose scores or embeddings are given."""
        return {name: entry for name, entry in self.methods.items() if isinstance(entry, GivenEntry)}

    def untrained_names(self) -> list[VariantName]:
        """The variants without training."""
        return [
            name
            for method, entry in self.method_entries().items()
            if entry.is_untrained
            for name in (method, *entry.variants)
        ]

    def variant_names(self) -> list[VariantName]:
        """All variants with a model: each method by its name, then its variants."""
        return [name for method, entry in self.method_entries().items() for name in (method, *entry.variants)]

    def ensembles(self) -> dict[VariantName, Ensemble]:
        """All ensembles of config/methods."""
        return {name: entry for method in self.method_entries().values() for name, entry in method.ensembles.items()}

    def _check_names_of_variants(self) -> None:
        names = [
            *self.variant_names(),
            *self.given_rows(),
            *(name for one in self.method_entries().values() for name in one.ensembles),
        ]
        _check_distinct_names("methods", names)
        for method, entry in self.method_entries().items():
            for name, ensemble in entry.ensembles.items():
                where = f"methods.{method}.ensembles.{name}"
                check_known_names(f"{where}.members", ensemble.members, [*self.variant_names(), *self.given_rows()])
                untrained = sorted({*ensemble.members} & {*self.untrained_names()})
                if untrained and ensemble.seeds_each > 1:
                    raise ValueError(f"{where}.seeds_each: {untrained[0]} is not trained, so that all seeds are alike")

    def generator_names(self) -> list[str]:
        """All generators: those of config/generators by their names, then their variants."""
        return [name for generator, entry in self.generators.items() for name in (generator, *entry.variants)]

    def _check_generators(self) -> None:
        names = self.generator_names()
        _check_distinct_names("generators", names)
        for name, entry in self.generators.items():
            check_known_names(f"generators.{name}.datasets", entry.datasets, self.datasets)
            for variant, differences in entry.variants.items():
                check_known_names(f"generators.{name}.variants.{variant}.datasets", differences.datasets, self.datasets)

    def check_generator(self, where: str, entry: GeneratorConfig) -> None:
        """Raises `ValueError` for an unknown generator variant."""
        check_known_names(f"{where}.joint_embedding", [entry.joint_embedding or ""], [*self.variant_names(), ""])

    def check_variant(self, where: str, entry: MethodConfig) -> None:
        """Raises `ValueError` for an unknown variant."""
        self.check_networks(f"{where}.networks", entry.networks)
        if entry.is_untrained:
            self._check_sentence_encoder(where, entry)
        check_known_names(f"{where}.generator", [entry.generator or ""], [*self.generator_names(), ""])
        check_known_names(f"{where}.starts_from", [entry.starts_from or ""], [*self.variant_names(), ""])
        check_known_names(f"{where}.round_0_of", [entry.round_0_of or ""], [*self.variant_names(), ""])


@cache
def config_type() -> type[Config]:
    """The type of the whole configuration: the core's keys, and one for each analysis with settings."""
    fields: dict[str, Any] = {
        name: (kind, Field(default={}, validate_default=True, description=f"see densevse/analyses/{name}/settings.py"))
        for name, kind in settings_of_analyses().items()
    }
    return create_model("Config", __base__=Config, __doc__=Config.__doc__, **fields)


def _check_distinct_names(where: str, names: Iterable[str]) -> None:
    """Raises `ValueError` for a name that is there twice, as file systems compare names: capitals do not count."""
    alike: dict[str, list[str]] = {}
    for name in names:
        alike.setdefault(name.casefold(), []).append(name)
    for found in alike.values():
        if len(found) > 1:
            raise ValueError(f"{where}: {' and '.join(found)} would share their files; rename all but one")
