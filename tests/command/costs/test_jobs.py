"""The work of planned jobs: networks by their operations and crops, methods by their steps."""

import csv
from math import ceil

import pytest

from densevse.command.costs.jobs import BOXES, WORK_OF_MODE, Arithmetic, find_pass, passes
from densevse.command.costs.rates import ESTIMATES, Rates, cache_file, known_rates, today
from densevse.command.shared import ROOT, PlannedJob, configured_project
from densevse.config.networks import CLASSES
from densevse.config.registries import ARCHITECTURES
from densevse.dag.project import Project
from snakeproof.errors import InputError

RATES = Rates(ESTIMATES)


@pytest.fixture(scope="module")
def arithmetic():
    return Arithmetic(configured_project([]))


@pytest.fixture
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))


def work(arithmetic, stage, **names):
    return arithmetic.job_work(PlannedJob(stage, {"dataset": "flickr30k", **names}, [], stage))


def test_networks_are_planned_by_their_operations_and_crops(arithmetic):
    whole, grid, ten = (
        work(arithmetic, "extract_features", network="vgg19", view=view, shard="00-of-06")
        for view in ("whole", "grid", "ten_crop")
    )
    batches = 1 + ceil(31_014 / 6 / 32)
    assert whole["half_convolutions"] == pytest.approx(32 * batches * 39.26e9, rel=1e-3), (
        "batches are full, and one is blank; precision auto is bf16 where that is faster"
    )
    assert grid["half_convolutions"] == pytest.approx(whole["half_convolutions"], rel=0.01)
    assert ten["half_convolutions"] == pytest.approx(10 * whole["half_convolutions"], rel=0.02)
    assert ten["pixels"] == whole["pixels"], "an image is decoded once"
    small = work(arithmetic, "extract_features", network="alexnet", view="whole", shard="00-of-06")
    assert whole["half_convolutions"] / small["half_convolutions"] == pytest.approx(27.6, rel=0.02)


def test_r_cnn_reads_a_crop_for_each_proposal(arithmetic):
    found = work(
        arithmetic, "extract_regions", network="rcnn_ilsvrc13", proposer="selective_search_fast", shard="00-of-06"
    )
    assert found["crops"] == pytest.approx(31_014 / 6 * (1 + BOXES["fast"] * (500 * 375) ** (2 / 3)))
    shared = work(
        arithmetic, "extract_regions", network="mobilenet_v2", proposer="selective_search_fast", shard="00-of-06"
    )
    assert shared["crops"] == pytest.approx(31_014 / 6 * 20), "the kept regions alone; proposals share a pass"
    assert "half_convolutions" not in found, "R-CNN computes in float32, as its entry says"


def with_regions(network, **options):
    """The work of a network's regions with other options."""
    own = Arithmetic(Project(ROOT, {"networks": {network: {"regions": options}}}))
    return lambda proposer: work(own, "extract_regions", network=network, proposer=proposer, shard="00-of-06")


def test_what_is_read_from_a_map_costs_the_rest_of_the_network():
    images, boxes = 31_014 / 6, BOXES["fast"] * (500 * 375) ** (2 / 3)
    shared = with_regions("rcnn_ilsvrc13", scoring="roi_align", map="conv5")("selective_search_fast")
    after = 1442260032 - 1331569728  # fc6, fc7 and fc8, in config/network_costs.csv
    assert shared["convolutions"] > images * boxes * after, "each box has a head"
    both = {"scoring": "roi_align", "features": "roi_align", "map": "conv5_4"}
    concepts = with_regions("vgg19", **both)("clustered_fast")
    assert concepts["crops"] == pytest.approx(images), "the whole image alone is a crop"
    crops = with_regions("vgg19", scoring="roi_align", map="conv5_4")("clustered_fast")
    assert crops["crops"] == pytest.approx(50 * images), "chosen boxes are not scored, and are described by crops"
    larger = with_regions("vgg19", **both, map_size=750)("clustered_fast")
    assert larger["half_convolutions"] > 2.5 * concepts["half_convolutions"], "a map costs by its pixels"


def test_a_concept_network_that_is_trained_in_bf16_is_planned_so(arithmetic):
    names = {"concept_network": "multi_label_cnn"}
    half = {"concept_networks": {"multi_label_cnn": {"training": {"cpu_precision": "bf16"}}}}
    plain = work(arithmetic, "train_concept_network", **names)
    found = work(Arithmetic(Project(ROOT, half)), "train_concept_network", **names)
    assert found["half_convolutions"] == pytest.approx(plain["convolutions"])
    assert "half_convolutions" not in plain
    assert "convolutions" not in found


def test_a_training_is_planned_by_its_method(arithmetic):
    by_method = {
        name: RATES.seconds(work(arithmetic, "train", variant=name, seed="0"))
        for name in ("vse", "sm_lstm", "scan", "sm_lstm_1_step")
    }
    assert by_method["sm_lstm"] > 2 * by_method["sm_lstm_1_step"] > 4 * by_method["vse"]
    assert by_method["scan"] > 2 * by_method["vse"]
    alone = work(arithmetic, "retrieve", variant="scan", seed="0", round="0")
    both = work(arithmetic, "retrieve_by_ensemble", ensemble="scan_ensemble", seed="0")
    assert both["products"] == pytest.approx(2 * alone["products"], rel=0.01), "one member for each direction"


@pytest.mark.parametrize("dataset", ["scenes", "flickr30k"])
def test_every_variant_of_the_papers_methods_has_work(arithmetic, dataset):
    for name in arithmetic.config.variant_names():
        entry = arithmetic.project.variant(dataset, name)
        if hasattr(entry.parameters, "cost"):
            job = PlannedJob("train", {"dataset": dataset, "variant": name, "seed": "0"}, [], "train")
            assert RATES.seconds(arithmetic.job_work(job)) > 0


def test_what_has_no_arithmetic_is_left_to_recorded_costs(arithmetic):
    assert work(arithmetic, "table") is None
    assert work(arithmetic, "extract_regions", network="faster_rcnn", proposer="none", shard="0") is None
    assert work(arithmetic, "retrieve", variant="clip", seed="0", round="0") is None
    assert arithmetic.unknown_methods == {"clip"}


def test_every_named_layer_has_a_pass():
    named = {(name, layer) for name in ARCHITECTURES.listed_names for layer in (*ARCHITECTURES[name].layers, CLASSES)}
    own = {(name, layer) for name, layer in named if not ARCHITECTURES[name].finds_boxes}
    own = {(name, layer) for name, layer in own if ARCHITECTURES[name].implementation.startswith("densevse.")}
    assert own <= passes().keys()


def test_a_larger_input_costs_by_its_area(arithmetic):
    network = arithmetic.config.networks["mobilenet_v2"]
    small, large = (find_pass(network.model_copy(update={"size": side}), "pooled") for side in (224, 448))
    assert large.flop == pytest.approx(4 * small.flop)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["vgg19", "mobilenet_v2", "tf_efficientnet_lite2", "rcnn_ilsvrc13", "scenes_net"])
def test_the_operations_of_networks_are_those_that_torch_counts(name):
    from tools.network_costs import CostRow, architecture_rows

    with open(ROOT / "config/network_costs.csv", encoding="utf-8", newline="") as lines:
        kept = [row for row in csv.reader(lines) if row[0] == name]
    assert [list(map(str, row)) for row in architecture_rows(name)] == kept
    assert len(kept[0]) == len(CostRow._fields)


@pytest.mark.slow
def test_modes_of_selective_search():
    from densevse.vision.selective_search import MODES

    assert MODES.keys() == WORK_OF_MODE.keys() == BOXES.keys()


def test_measured_rates_are_kept_for_this_processor_and_torch(cache):
    assert known_rates() == RATES, "estimates, until something is measured"
    measured = Rates({kind: 2 * rate for kind, rate in ESTIMATES.items()}, today())
    assert measured.keep() == cache_file()
    assert known_rates() == measured
    cache_file().write_text('{"measured": "yesterday"}')
    with pytest.raises(InputError, match=r"rates-.*\.json: .*measure the rates again"):
        known_rates()


@pytest.mark.slow
def test_every_kind_of_work_is_measured(monkeypatch):
    from densevse.command.costs import measuring

    monkeypatch.setattr(measuring, "SECONDS", 0.0)
    monkeypatch.setattr(measuring, "_starts", lambda: 1.0)
    monkeypatch.setattr(measuring, "time_work", lambda work: work() is None or 1.0)
    found = measuring.measure_rates()
    assert found.by_kind.keys() == ESTIMATES.keys()
    assert all(rate > 0 for rate in found.by_kind.values())
