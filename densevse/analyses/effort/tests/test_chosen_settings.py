"""The example of the protocol on photographs has the settings that val chose."""

from pathlib import Path

import pytest
import yaml

from densevse.analyses.effort.dag import printed_settings
from densevse.analyses.effort.settings import EffortSettings
from densevse.config.load import load, variant

ROOT = Path(__file__).parents[4]
CONFIG = load(ROOT / "config", yaml.safe_load((ROOT / "examples/flickr8k_lite.yaml").read_text()))


@pytest.mark.parametrize("name", CONFIG.analysis(EffortSettings).dataset_entry("flickr8k_resplit0").rows)
def test_the_lite_example_has_the_settings_that_val_chose(name):
    table = (ROOT / "docs/tables/flickr8k_resplit0_effort.md").read_text()
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in table.splitlines() if ", chosen" in line]
    entry = variant(CONFIG, "flickr8k_resplit0", name)
    (settings,) = (row[2] for row in rows if row[0] == entry.title)
    printed = ", ".join(f"{key} {value}" for key, value in printed_settings(entry).items())
    assert printed.removesuffix(", dropout 0.0") == settings.removesuffix(", dropout 0.0")  # DeFrag's came later
