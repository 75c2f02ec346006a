"""The example of the protocol on photographs has the settings that val chose."""

from pathlib import Path

import pytest
import yaml

from densevse.analyses.effort.dag import printed_settings
from densevse.analyses.effort.settings import EffortSettings
from densevse.config.load import load, merge, variant

ROOT = Path(__file__).parents[4]
LITE = ROOT / "examples/flickr8k_lite.yaml"
CONFIG = load(ROOT / "config", yaml.safe_load(LITE.read_text()))
CHOSEN_LATER = {"vsepp"}
ROWS = set(CONFIG.analysis(EffortSettings).dataset_entry("flickr8k_resplit0").rows)


@pytest.mark.parametrize("name", sorted(ROWS - CHOSEN_LATER))
def test_the_lite_example_has_the_settings_that_val_chose(name):
    table = (ROOT / "docs/tables/flickr8k_resplit0_effort.md").read_text()
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in table.splitlines() if ", chosen" in line]
    entry = variant(CONFIG, "flickr8k_resplit0", name)
    (settings,) = (row[2] for row in rows if row[0] == entry.title)
    printed = ", ".join(f"{key} {value}" for key, value in printed_settings(entry).items())
    assert printed.removesuffix(", dropout 0.0") == settings.removesuffix(", dropout 0.0")  # DeFrag's came later


def test_vsepp_of_the_lite_example_is_the_row_that_was_tested_at_the_steps_of_vse():
    files = LITE, ROOT / "examples/flickr8k_tuned.yaml"
    tested = load(ROOT / "config", merge(*(yaml.safe_load(file.read_text()) for file in files)))
    rate = variant(tested, "flickr8k_apart1", "vsepp_rate_002")
    assert variant(CONFIG, "flickr8k", "vsepp").model_dump(exclude={"title"}) == rate.model_dump(exclude={"title"})
