from pathlib import Path

import pytest
import yaml

from densevse.config.load import load, variant

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize(("example", "network"), [("flickr8k", "mobilenet_v2"), ("flickr8k_lite", "lite2")])
@pytest.mark.parametrize("dataset", ["flickr8k", "flickr8k_resplit0"])
def test_the_example_sets_regions_of_a_detector_for_all_splits(dataset, example, network):
    config = load(ROOT / "config", yaml.safe_load((ROOT / f"examples/{example}.yaml").read_text()))
    assert config.datasets[dataset].proposer == "detections"
    for name in ("hm_lstm", "hm_lstm_phrases", "defrag_no_mil", "devise", "sdt_rnn"):
        assert variant(config, dataset, name).networks["regions"] == f"{network}_six"
    assert config.datasets[dataset].networks["whole"] == network


def test_all_rows_of_the_lite_example_with_the_hardest_negative_are_trained_as_vsepp():
    config = load(ROOT / "config", yaml.safe_load((ROOT / "examples/flickr8k_lite.yaml").read_text()))
    vsepp = variant(config, "flickr8k", "vsepp")
    for name in ("vsepp_regions", "vsepp_res"):
        other = variant(config, "flickr8k", name)
        assert (other.training, other.phases_of(0)) == (vsepp.training, vsepp.phases_of(0))
