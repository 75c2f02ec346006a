from pathlib import Path

import pytest

from densevse.command.shared import configuration, overrides
from densevse.config.load import variant

ROOT = Path(__file__).parents[2]


def example(*names):
    return configuration(overrides([str(ROOT / f"examples/{name}.yaml") for name in names]))


@pytest.mark.parametrize(("name", "network"), [("flickr8k", "mobilenet_v2"), ("flickr8k_lite", "lite2")])
@pytest.mark.parametrize("dataset", ["flickr8k", "flickr8k_resplit0"])
def test_the_example_sets_regions_of_a_detector_for_all_splits(dataset, name, network):
    config = example(name)
    assert config.datasets[dataset].proposer == "detections"
    for method in ("hm_lstm", "hm_lstm_phrases", "defrag_no_mil", "devise", "sdt_rnn"):
        assert variant(config, dataset, method).networks["regions"] == f"{network}_six"
    assert config.datasets[dataset].networks["whole"] == network


@pytest.mark.parametrize("more", [(), ("flickr8k_defrag", "flickr8k_pooling")])
def test_all_rows_of_the_lite_example_with_the_hardest_negative_are_trained_as_vsepp(more):
    config = example("flickr8k_lite", *more)
    rows = {name: variant(config, "flickr8k", name) for name in config.methods["vse"].variants}
    hardest = {name: row for name, row in rows.items() if row.parameters.negatives == "hardest"}
    assert {"vsepp_regions", "vsepp_res"} <= set(hardest)
    for row in hardest.values():
        assert (row.training, row.round_phases(0)) == (rows["vsepp"].training, rows["vsepp"].round_phases(0))


def test_pooled_regions_are_those_of_defrag():
    config = example("flickr8k_lite", "flickr8k_defrag", "flickr8k_pooling")
    rows = [variant(config, "flickr8k_resplit0", name) for name in ("vsepp_pooled", "vsepp_regions", "defrag_hardest")]
    assert len({row.networks["regions"] for row in rows}) == 1
    assert [row.parameters.pooling for row in rows[:2]] == ["generalised", "mean"]
