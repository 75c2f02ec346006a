"""The shape of every configuration file. A key that is not named here is an error that names its path.

A folder below config/ holds one file per entry, named like the entry: config/datasets/flickr8k.yaml is
`datasets.flickr8k`. Whatever stands in config/config.yaml, a --configfile or --config is merged over the files.
"""

from typing import Any, Literal, Self

from pydantic import Field, model_validator

from densevse.settings.tables import Ensemble, Table
from densevse.settings.training import NamedPhase, Phase, Training
from densevse.strict import Strict

View = Literal["whole", "ten_crop", "grid", "regions"]
Structure = Literal["words", "trees", "triplets", "dependencies", "tags"]


class Source(Strict):
    """A file that is obtained: from an address, by hand, or from a rule of this workflow."""

    file: str = Field(description="file name under resources/<owner>/")
    url: str | None = Field(None, description="its address; none for a file obtained by hand")
    manual: str | None = Field(None, description="what a person must do to obtain it")
    made_by: str | None = Field(None, description="the rule that makes it")
    size: int | None = Field(None, description="bytes, where known")
    sha256: str | None = Field(None, pattern="^[0-9a-f]{8,64}$", description="or its start, where only that is known")
    md5: str | None = Field(None, description="where only that is published")
    sha1: str | None = Field(None, description="where only that is published")
    licence: str = Field(description="its licence or terms of use")
    note: str | None = None

    @model_validator(mode="after")
    def _obtainable(self) -> Self:
        if [self.url, self.manual, self.made_by].count(None) != 2:
            raise ValueError("a source has one of url, manual (instructions to obtain it) and made_by (a rule)")
        return self


class Dataset(Strict):
    """A data set: where its files come from, who reads them, and what the stages use on it."""

    title: str
    reader: Literal["flickr", "karpathy", "coco", "pascal", "scenes"]
    sources: dict[str, Source] = Field({}, description="by name; the reader says which names it needs")
    local: dict[str, str] = Field({}, description="source name -> a file or folder of yours to use instead")
    options: dict[str, Any] = Field({}, description="the reader's own options")
    known_unreadable: list[str] = Field([], description="image ids that may be missing or unreadable")
    minimum_word_count: int = Field(1, ge=1, description="rarer words become the unknown word")
    concepts: int = Field(256, ge=1, description="the most frequent concepts that are kept (SCO's K)")
    shards: int = Field(1, ge=1, description="files per sharded artifact; results do not depend on it")
    threads: int | None = Field(None, ge=1, description="threads of a torch job instead of the general `threads`")
    networks: dict[View, str] = Field(description="view -> the network whose features every method is given")
    proposer: str = "selective_search_fast"
    proposers_compared: list[str] = Field([], description="further proposers in its table of proposals")
    parser: str = "corenlp_pcfg"
    word_vectors: str | None = Field("word2vec", description="pre-trained vectors for methods that ask for some")
    seeds: list[int] = Field([0])
    judgements: str | None = Field(
        None, description="the source that holds people's judgements of pairs, in the format of Flickr8k's"
    )
    boxes: str | None = Field(
        None, description="true boxes of yours: Parquet in the BOXES schema, or Flickr30k Entities (folder, zip, tar)"
    )


class Network(Strict):
    """A convolutional network and the images it expects."""

    architecture: str = Field(description="a torchvision model, rcnn_ilsvrc13, faster_rcnn, or scenes_net")
    weights: Source | None = Field(None, description="published weights")
    local: str | None = Field(None, description="a weights file of yours to use instead")
    trained_on: str | None = Field(None, description="the data set whose workflow trains it")
    layers: dict[View, str] = Field(description="view -> layer whose output is the feature")
    size: int = Field(224, description="side of the square input, pixels")
    resize: int = Field(256, description="shorter side before the centre crop or the ten crops, pixels")
    mean: tuple[float, float, float] = (0.485, 0.456, 0.406)
    std: tuple[float, float, float] = (0.229, 0.224, 0.225)
    precision: Literal["auto", "bf16", "fp32"] = Field(
        "auto", description="what it computes in; auto: bf16 where a machine has it in hardware, chosen once a data set"
    )
    batch_size: int = 64
    classes: str | None = Field(None, description="file with a class name a line, or imagenet")
    regions: dict[str, Any] = Field({}, description="how regions are chosen: see densevse.vision.regions")


class Proposer(Strict):
    """Where boxes that may hold an object come from."""

    kind: Literal["selective_search", "file", "detections", "mcg"]
    options: dict[str, Any] = Field({})


class Parser(Strict):
    """Who parses sentences."""

    kind: Literal["corenlp", "grammar"]
    options: dict[str, Any] = Field({})


class WordVectors(Strict):
    """Pre-trained word vectors."""

    format: Literal["word2vec", "glove"]
    source: Source | None = None
    local: str | None = Field(None, description="a file of yours to use instead, plain or packed (.gz, .zip)")
    member: str | None = Field(None, description="which file of a .zip")
    dimension: int


class Method(Strict):
    """A paper's method with its defaults, what it reads, and its variants (the paper's ablations).

    `parameters` lists every parameter of the method; variants and data sets may only change those.
    """

    title: str = Field(description="as printed in a table")
    paper: str = Field(description="the paper's key in config/published")
    model: str = Field(description="the method's file in densevse/methods: its name without .py")
    views: list[View]
    sentences: list[Structure] = Field(["words"], description="the structures that it reads of sentences")
    word_vectors: bool = Field(False, description="whether it is given the data set's pre-trained vectors")
    networks: dict[View, str] = Field({}, description="networks instead of the data set's")
    parameters: dict[str, Any]
    training: Training
    phases: dict[str, Phase] = Field(description="by name; `rounds` says which follow one another")
    rounds: list[list[str]] | None = Field(
        None, description="the phases of each round, between which correspondences are learned; by default one of all"
    )
    datasets: dict[str, dict[str, Any]] = Field({}, description="data set -> what differs there")
    variants: dict[str, dict[str, Any]] = Field({}, description="variant -> what differs (may hold `datasets`)")
    ensembles: dict[str, Ensemble] = Field({}, description="ensemble -> variants whose scores are added")

    @model_validator(mode="after")
    def _phases_exist(self) -> Self:
        named = {name for phases in self.rounds or [] for name in phases}
        if self.rounds == [] or [] in (self.rounds or []) or not self.phases:
            raise ValueError("a method has at least one round, and a round at least one phase")
        if unknown := sorted(named - set(self.phases)):
            raise ValueError(f"rounds: no phases {unknown}; known: {sorted(self.phases)}")
        return self

    @property
    def last_round(self) -> int:
        """T: how often correspondences are learned and training goes on."""
        return len(self.rounds) - 1 if self.rounds else 0

    def phases_of(self, number: int) -> list[NamedPhase]:
        """The phases of a round, in order. Raises `IndexError` if there is no such round."""
        names = self.rounds[number] if self.rounds else list(self.phases)
        return [NamedPhase(name=name, **self.phases[name].model_dump()) for name in names]


class Config(Strict):
    """All of the configuration."""

    results: str = Field("results", description="folder of everything the workflow makes")
    resources: str = Field("resources", description="folder of downloads")
    gpu: int = Field(0, description="GPUs that a feature or training job asks the executor for")
    threads: int = Field(2, ge=1, description="threads of a torch job: fixed, as sums depend on their number")
    datasets: dict[str, Dataset]
    networks: dict[str, Network]
    proposers: dict[str, Proposer]
    parsers: dict[str, Parser]
    word_vectors: dict[str, WordVectors]
    methods: dict[str, Method]
    tables: dict[str, Table] = {}

    @model_validator(mode="after")
    def _names_exist(self) -> Self:
        for name, dataset in self.datasets.items():
            used = [("networks", network) for network in dataset.networks.values()]
            used += [("proposers", proposer) for proposer in dataset.proposers_compared]
            used += [("proposers", dataset.proposer), ("parsers", dataset.parser)]
            used += [("word_vectors", dataset.word_vectors)] if dataset.word_vectors else []
            for folder, key in used:
                if key not in getattr(self, folder):
                    raise ValueError(f"datasets.{name}: no {folder}.{key}; known: {sorted(getattr(self, folder))}")
        return self
