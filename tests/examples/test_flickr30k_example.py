"""The cheaper table of Flickr30k changes the concepts alone, and its map fits the network that reads it."""

import yaml

from densevse.command.shared import ROOT
from densevse.config.registries import ARCHITECTURES
from densevse.dag.project import Project

FILE = ROOT / "examples/flickr30k_cheaper.yaml"


def test_the_cheaper_table_reads_concepts_from_one_map_and_learns_as_it_scores():
    plain, cheaper = (Project(ROOT, values).config for values in ({}, yaml.safe_load(FILE.read_text("utf-8"))))
    named = cheaper.datasets["flickr30k"].networks["concepts"]
    assert cheaper.datasets["flickr30k"].networks["concepts_whole"] == named
    entry = cheaper.concept_networks[named]
    assert (entry.train, entry.learns_from, entry.proposer) == ("head", "regions", "clustered_fast")
    network, usual = cheaper.networks[entry.network], plain.networks["vgg19"]
    assert (network.weights.file, network.weights.sha256) == (usual.weights.file, usual.weights.sha256)
    options = network.regions
    assert (options.scoring, options.features) == ("roi_align", "roi_align")
    assert options.map in ARCHITECTURES[network.architecture].layers
    assert options.cells == network.size // 16, "as many cells as a crop has on that map"
    changed = {name for name in cheaper.networks if cheaper.networks[name] != plain.networks.get(name)}
    assert changed == {entry.network}, "every other network is the papers' own"
