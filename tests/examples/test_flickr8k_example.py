from pathlib import Path

import pytest
import yaml

from densevse.config.load import load, variant

ROOT = Path(__file__).parents[2]


def example(name):
    return load(ROOT / "config", yaml.safe_load((ROOT / f"examples/{name}.yaml").read_text()))


@pytest.mark.parametrize(("name", "network"), [("flickr8k", "mobilenet_v2"), ("flickr8k_lite", "lite2")])
@pytest.mark.parametrize("dataset", ["flickr8k", "flickr8k_resplit0"])
def test_the_example_sets_regions_of_a_detector_for_all_splits(dataset, name, network):
    config = example(name)
    assert config.datasets[dataset].proposer == "detections"
    for method in ("hm_lstm", "hm_lstm_phrases", "defrag_no_mil", "devise", "sdt_rnn"):
        assert variant(config, dataset, method).networks["regions"] == f"{network}_six"
    assert config.datasets[dataset].networks["whole"] == network


def test_all_rows_of_the_lite_example_with_the_hardest_negative_are_trained_as_vsepp():
    config = example("flickr8k_lite")
    rows = {name: variant(config, "flickr8k", name) for name in config.methods["vse"].variants}
    hardest = {name: row for name, row in rows.items() if row.parameters.negatives == "hardest"}
    assert {"vsepp_regions", "vsepp_res"} <= set(hardest)
    for row in hardest.values():
        assert (row.training, row.round_phases(0)) == (rows["vsepp"].training, rows["vsepp"].round_phases(0))
