from pathlib import Path

import pytest
import yaml

from densevse.analyses.effort.dag import printed_settings
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


LITE = load(ROOT / "config", yaml.safe_load((ROOT / "examples/flickr8k_lite.yaml").read_text()))
CHOSEN = {"VSE": "vse", "VSE++": "vsepp", "VSE, bag of words": "vse_bag_of_words"}


@pytest.mark.parametrize("method", CHOSEN)
def test_the_lite_example_has_the_settings_that_val_chose_at_equal_effort(method):
    table = (ROOT / "docs/tables/flickr8k_resplit0_effort.md").read_text()
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in table.splitlines() if ", chosen" in line]
    (settings,) = (row[2] for row in rows if row[0] == method)
    entry = variant(LITE, "flickr8k_resplit0", CHOSEN[method])
    assert ", ".join(f"{key} {value}" for key, value in printed_settings(entry).items()) == settings


def test_all_rows_of_the_lite_example_with_the_hardest_negative_are_trained_as_vsepp():
    vsepp = variant(LITE, "flickr8k", "vsepp")
    for name in ("vsepp_regions", "vsepp_res"):
        other = variant(LITE, "flickr8k", name)
        assert (other.training, other.phases_of(0)) == (vsepp.training, vsepp.phases_of(0))
