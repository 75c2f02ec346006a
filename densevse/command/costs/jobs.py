"""The work of planned jobs by its kind: crops through networks, steps of methods, pairs that are ranked, and others.

Sizes come from a data set's tables where they exist; until then from its configuration and from what is usual.
"""

import csv
from collections import Counter
from collections.abc import Callable, Collection, Mapping
from functools import cache
from importlib import import_module
from math import ceil
from typing import Any, NamedTuple

from densevse.command.costs.sizes import DatasetSizes
from densevse.command.shared import ROOT, PlannedJob
from densevse.config.costs import InputSizes, MethodCost
from densevse.config.methods import MethodConfig
from densevse.config.networks import CLASSES, NetworkConfig
from densevse.config.proposers import Proposer
from densevse.config.registries import VIEWS, feature_view
from densevse.config.values import DatasetName, VariantName
from densevse.dag.features import network_settings
from densevse.dag.project import Project
from densevse.runtime.project import PACKAGE

Amounts = Mapping[str, float]
"""Kind of work -> its amount, in the units of `ESTIMATES` in densevse/command/costs/rates.py."""

SENTENCES, WORDS, PHRASES, KNOWN, LENGTH, REGIONS = 5, 12, 4, 8000, 2048, 19
"""Usual numbers: an image's sentences, a sentence's words and noun phrases, a vocabulary's words, the values of a
vector of an unknown network, and an image's regions besides the whole."""

SHAPE = 4 / 3
"""The ratio of a photograph's sides."""

WORK_OF_MODE = {"single": 1, "fast": 5, "quality": 40}
"""Mode of selective search -> its work, in that of the mode single (quality by its number of groupings)."""

BOXES = {"single": 0.11, "fast": 0.42, "quality": 1.4}
"""The boxes that it finds in a photograph, divided by its pixels to the power of 2/3 (quality: a guess)."""


class Pass(NamedTuple):
    """A crop's pass through a network, as config/network_costs.csv has it."""

    side: int
    flop: float
    written: float
    cells: int
    length: int

    def crops_work(self, crops: float, precision: str = "fp32") -> Amounts:
        """The work of so many crops; `auto` and `bf16` are as fast as a core computes in bf16, if it does."""
        kind = "half_convolutions" if precision in ("auto", "bf16") else "convolutions"
        return {kind: crops * self.flop, "written": crops * self.written}


@cache
def passes() -> Mapping[tuple[str, str], Pass]:
    """(network, layer) -> the pass of a crop that ends there."""
    with open(ROOT / "config/network_costs.csv", encoding="utf-8", newline="") as lines:
        _, *rows = csv.reader(lines)
    return {(network, layer): Pass(*map(int, numbers)) for network, layer, *numbers in rows}


def find_pass(network: NetworkConfig, layer: str) -> Pass | None:
    """The pass of a crop of a network's size that ends at a layer, or after all; None for an unmeasured network."""
    name = network.architecture.removeprefix("torchvision:")
    found = passes().get((name, layer)) or passes().get((name, CLASSES))
    if found is None or network.library is not None:
        return found
    larger = (network.size / found.side) ** 2
    cells = max(1, round(found.cells * larger))
    return found._replace(flop=found.flop * larger, written=found.written * larger, cells=cells)


class Arithmetic:
    """The work of jobs."""

    def __init__(self, project: Project, replaced: Collection[str] = ()) -> None:
        """`replaced` are files that are there and made again, so that they say nothing."""
        self.project, self.config = project, project.config
        self.known = DatasetSizes(project, replaced)
        self.sizes = self.known.find
        self.unknown_methods: set[str] = set()  # those of counted jobs whose parameters have no function `cost`

    def job_work(self, job: PlannedJob) -> Amounts | None:
        """The work of a job; None if it is not known by arithmetic."""
        count = work_counters().get(job.stage)
        if count is None or not self._has_images(job):
            return None
        found = count(self, job.wildcards)
        return None if found is None else add_amounts(found, {"starts": 1})

    def count_images(self, job: PlannedJob) -> int | None:
        """The number of images that a job works on; None for a job of no data set with images."""
        if not self._has_images(job):
            return None
        dataset = DatasetName(job.wildcards["dataset"])
        images = self.sizes(dataset).images
        return round(self._images_of_shard(dataset) if "shard" in job.wildcards else images) or None

    def _has_images(self, job: PlannedJob) -> bool:
        """True for a job of a data set of the configuration, or of photographs of a search."""
        entry = self.project.datasets.get(DatasetName(job.wildcards.get("dataset", "")))
        return entry is not None and (entry.sentences_have_images or bool(entry.local))

    def features(self, names: Mapping[str, Any]) -> Amounts | None:
        """The extraction of a view from a shard's images."""
        dataset, view = names["dataset"], names["view"]
        network = network_settings(self.project, dataset, names["network"])
        one = find_pass(network, network.layers[view])
        images, crops = self._images_of_shard(dataset), 10 if view == "ten_crop" else 1
        batch = max(1, network.batch_size // crops)
        read = batch * (1 + ceil(images / batch))  # the last batch is filled up, and a first one shows the shape
        work = one and one.crops_work(read * crops, network.precision)
        return work and add_amounts(work, self._decoding_work(dataset, images))

    def regions(self, names: Mapping[str, Any]) -> Amounts | None:
        """The extraction of a shard's regions: all proposals are crops, or the kept ones alone, or none.

        What is read from the shared map costs the rest of the network.
        """
        dataset, proposer = names["dataset"], names.get("proposer")
        network = network_settings(self.project, dataset, names["network"])
        one, images = find_pass(network, network.layers["regions"]), self._images_of_shard(dataset)
        if one is None or proposer not in self.config.proposers:
            return None
        entry, options = self.config.proposers[proposer], network.regions
        found = min(options.maximum_proposals, self._boxes(dataset, proposer))
        chosen = entry.kind in ("clustered", "detections")  # before, so that nothing is scored to choose
        kept = found if entry.kind == "clustered" else min(found, options.detections)
        scored = options.features if chosen else options.scoring
        cropped = 0 if options.features == "roi_align" else kept
        crops = images * (1 + (found if scored == "crops" and not chosen else cropped))
        work = one.crops_work(crops, network.precision)
        work = add_amounts(work, {"crops": crops}, self._decoding_work(dataset, images))
        if scored == "crops":
            return work
        return add_amounts(work, self._map_work(network, dataset, images, kept if chosen else found))

    def _map_work(self, network: NetworkConfig, dataset: DatasetName, images: float, boxes: float) -> Amounts:
        """The work of a pass over each image, and of the network after its map for each of an image's boxes."""
        options, pixels = network.regions, self.sizes(dataset).pixels
        if options.map_size is not None:
            pixels = options.map_size**2 * SHAPE
        shared, read, every = (find_pass(network, name) for name in (options.map, network.layers["regions"], CLASSES))
        if shared is None or read is None or every is None:
            return {}
        # Convolutions after the map cost by its cells; linear layers have their own input, whatever the map's.
        heads = boxes * (options.cells**2 / shared.cells if read.cells > 1 else 1)
        rest = every._replace(flop=every.flop - shared.flop, written=every.written - shared.written)
        crops = images * pixels / shared.side**2
        return add_amounts(
            *(one.crops_work(n, network.precision) for one, n in ((shared, crops), (rest, images * heads)))
        )

    def proposals(self, names: Mapping[str, Any]) -> Amounts | None:
        """Selective search on a shard's images."""
        dataset, entry = names["dataset"], self.config.proposers[names["proposer"]]
        if entry.kind != "selective_search":
            return None
        pixels = self._images_of_shard(dataset) * self.sizes(dataset).pixels
        return {"searched": WORK_OF_MODE[_options(entry).mode] * pixels, "pixels": pixels}

    def parses(self, names: Mapping[str, Any]) -> Amounts:
        """The parsing of the sentences about a shard's images by CoreNLP."""
        return {"parsed": SENTENCES * self._images_of_shard(names["dataset"])}

    def concept_network(self, names: Mapping[str, Any]) -> Amounts | None:
        """The training of all layers of a concept network: backwards costs twice forwards."""
        dataset, name = names["dataset"], names["concept_network"]
        entry, network = self.config.concept_networks[name], network_settings(self.project, dataset, name)
        one, sizes = find_pass(network, CLASSES), self.sizes(dataset)
        if one is None or entry.train != "all":
            return None
        epochs = sum(phase.epochs for phase in entry.phases.values())
        seen = epochs * (3 * sizes.train + sizes.val)
        decoded = self._decoding_work(dataset, epochs * (sizes.train + sizes.val))
        return add_amounts(one.crops_work(seen, entry.training.cpu_precision), decoded)

    def training(self, names: Mapping[str, Any]) -> Amounts | None:
        """A round of a method's training."""
        dataset, variant = names["dataset"], names["variant"]
        return self.round_work(self.project.variant(dataset, variant), dataset, variant, int(names.get("round", 0)))

    def round_work(
        self, entry: MethodConfig, dataset: DatasetName, variant: VariantName, round: int = 0
    ) -> Amounts | None:
        """The work of a round of training with the settings of `entry`, on the features that a variant reads.

        Validation follows each epoch.
        """
        sizes, cost = self.sizes(dataset), self._cost(dataset, variant, entry, assigned=round > 0)
        if cost is None or entry.training == "none":
            return None
        training, epochs = entry.training, sum(phase.epochs for phase in entry.round_phases(round))
        images = min(sizes.train, training.training_images or sizes.train)
        drawn = min(training.batch_size, images * SENTENCES)
        batch = min(drawn * (1 + training.siblings), images * SENTENCES)
        one = add_amounts(cost.step_work(batch), self._reading_work(dataset, variant, batch))
        validated = min(sizes.val, training.validation_images or sizes.val)
        steps = epochs * images * SENTENCES / drawn
        ranked = cost.ranking_work(validated, validated * SENTENCES)
        return add_amounts(multiply_amounts(one, steps), multiply_amounts(ranked, epochs))

    def retrieval(self, names: Mapping[str, Any]) -> Amounts | None:
        """The ranking of the test split by a variant, or by an ensemble's members."""
        dataset, test = names["dataset"], self.sizes(names["dataset"]).test
        members = self.config.ensembles()[names["ensemble"]].members if "ensemble" in names else [names["variant"]]
        variants = [name for name in members if name not in self.config.given_rows()]
        costs = [self._cost(dataset, variant) for variant in variants]
        known = [cost.ranking_work(test, test * SENTENCES) for cost in costs if cost]
        return add_amounts(*known) if variants and len(known) == len(variants) else None

    def correspondences(self, names: Mapping[str, Any]) -> Amounts | None:
        """The encoding of all training sentences and regions, and the best region of each phrase."""
        dataset, train = names["dataset"], self.sizes(names["dataset"]).train
        cost = self._cost(dataset, names["variant"])
        if cost is None:
            return None
        regions = self._regions(dataset, names["variant"])
        products = train * (regions * cost.image + SENTENCES * cost.sentence)
        return {"products": products, "written": train * regions * LENGTH, "operators": train * SENTENCES}

    def _images_of_shard(self, dataset: DatasetName) -> float:
        return self.sizes(dataset).images / self.project.datasets[dataset].shards

    def _decoding_work(self, dataset: DatasetName, images: float) -> Amounts:
        return {"pixels": images * self.sizes(dataset).pixels}

    def _boxes(self, dataset: DatasetName, proposer: str) -> float:
        """The boxes of an image; of a proposer other than selective search, as many as it may have."""
        entry = self.config.proposers[proposer]
        most = float(_options(entry).boxes)
        if entry.kind != "selective_search":
            return most
        if self.project.datasets[dataset].reader == "scenes":
            return BOXES_OF_SCENE
        return min(most, BOXES[_options(entry).mode] * float(self.sizes(dataset).pixels ** (2 / 3)))

    def _regions(self, dataset: DatasetName, variant: VariantName) -> int:
        """The regions of an image that a variant reads, with the whole image; 1 if it reads no regions."""
        entry = self.project.variant(dataset, variant)
        for view in (view for view in entry.views if VIEWS[feature_view(view)].of_proposals):
            network = self.config.networks.get(self.project.view_network(variant, dataset, view, entry.networks))
            most = network.regions.detections if network else REGIONS
            return 1 + round(min(most, self._boxes(dataset, self.project.datasets[dataset].proposer)))
        return 1

    def _cost(
        self, dataset: DatasetName, variant: VariantName, own: MethodConfig | None = None, *, assigned: bool = False
    ) -> MethodCost | None:
        """The cost that a method's parameters count, the variant's or its `own`; None if they have no `cost`."""
        entry = own or self.project.variant(dataset, variant)
        count = getattr(type(entry.parameters), "cost", None)
        if count is None:
            self.unknown_methods.add(entry.model)
            return None
        return MethodCost(*count(entry.parameters, self._input_sizes(dataset, variant, assigned=assigned)))

    def _input_sizes(self, dataset: DatasetName, variant: VariantName, *, assigned: bool = False) -> InputSizes:
        entry = self.project.variant(dataset, variant)
        found = {view: self._view_shape(dataset, variant, view) for view in entry.views}
        vectors = self.project.datasets[dataset].word_vectors if entry.word_vectors else None
        return InputSizes(
            features={view: length for view, (_, length) in found.items()},
            regions=self._regions(dataset, variant),
            cells=found["grid"][0] if "grid" in found else 1,
            words=WORDS,
            phrases=PHRASES,
            assigned=assigned,
            vector=self.config.word_vectors[vectors].dimension if vectors else None,
            known=self.known.count_rows(dataset, "vocabulary/words.parquet") or KNOWN,
        )

    def _view_shape(self, dataset: DatasetName, variant: VariantName, view: str) -> tuple[int, int]:
        """The cells of a view and the values of each."""
        entry = self.project.variant(dataset, variant)
        if VIEWS[view].made_by == "generator":
            return 1, 0
        name = self.project.view_network(variant, dataset, view, entry.networks)
        if VIEWS[view].made_by == "concept_network":
            return 1, self.project.datasets[dataset].concepts
        network = self.config.networks.get(name)
        one = find_pass(network, network.layers[feature_view(view)]) if network else None
        return (one.cells if view == "grid" else 1, one.length) if one else (36, LENGTH)

    def _reading_work(self, dataset: DatasetName, variant: VariantName, batch: int) -> Amounts:
        """The work of reading a batch's features; of pixels, that of the network that is trained with the method."""
        read = self._input_sizes(dataset, variant)
        places = {"grid": read.cells, "regions": read.regions}
        values = sum(places.get(view, 1) * length for view, length in read.features.items())
        crops = [view for view in read.features if VIEWS[view].pixels]
        if not crops:
            return {"written": batch * values}
        entry = self.project.variant(dataset, variant)
        network = self.config.networks[self.project.view_network(variant, dataset, crops[0], entry.networks)]
        one = find_pass(network, network.layers[feature_view(crops[0])])
        return one.crops_work(3 * batch * read.regions) if one else {}


BOXES_OF_SCENE = 13
"""The boxes that selective search finds in a picture of the generated data set scenes."""

Count = Callable[[Arithmetic, Mapping[str, Any]], Amounts | None]
"""A function that counts the work of a job from its wildcards; None if it is not known."""

_COUNTED: Mapping[str, Count] = {
    "choose_precision": lambda arithmetic, names: {},
    "extract_features": Arithmetic.features,
    "extract_regions": Arithmetic.regions,
    "propose": Arithmetic.proposals,
    "parse": Arithmetic.parses,
    "parse_original": Arithmetic.parses,
    "train_concept_network": Arithmetic.concept_network,
    "train": Arithmetic.training,
    "retrieve": Arithmetic.retrieval,
    "retrieve_by_ensemble": Arithmetic.retrieval,
    "correspond": Arithmetic.correspondences,
}
"""Stages of the core."""


@cache
def work_counters() -> Mapping[str, Count]:
    """Stage -> the function that counts its work; an analysis has those of its own in its costs.py, as COUNTED."""
    folders = [file.parent.name for file in PACKAGE.glob("analyses/*/costs.py")]
    modules = [import_module(f"densevse.analyses.{folder}.costs") for folder in folders]
    return {**_COUNTED, **{stage: count for module in modules for stage, count in module.COUNTED.items()}}


def add_amounts(*amounts: Amounts) -> Amounts:
    """The sum of several works."""
    return sum(map(Counter, amounts), Counter())


def multiply_amounts(amounts: Amounts, number: float) -> Amounts:
    """A work that is done several times."""
    return {kind: number * amount for kind, amount in amounts.items()}


def _options(proposer: Proposer) -> Any:
    """A proposer's options, whose type depends on its kind."""
    return proposer.options
