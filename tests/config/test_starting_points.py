"""The rows to start from name methods, networks, examples and tables that exist, and what these say."""

import csv
import re

import pytest
import yaml

from densevse.config.load import load, variant
from tools.environments import ROOT

TESTED_AS = {"vsepp": "VSE++, learning rate .002"}  # of examples/flickr8k_tuned.yaml
ROWS = list(csv.DictReader((ROOT / "config/starting_points.csv").open(encoding="utf-8")))


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row['method']} on {row['data']}")
def test_a_starting_point_is_what_its_files_say(row):
    own = yaml.safe_load((ROOT / row["configuration"]).read_text()) if row["configuration"] else {}
    config = load(ROOT / "config", own)
    assert row["method"] in config.variant_names()
    networks = {*config.networks, *(network.architecture for network in config.networks.values())}
    assert row["network"] in networks
    if row["measured"]:
        titles = {variant(config, None, row["method"]).title, TESTED_AS.get(row["method"])}
        cells = [
            [cell.strip() for cell in line.split("|")]
            for line in (ROOT / row["measured"]).read_text().splitlines()
            if line.startswith("|")
        ]
        near = [cell for line in cells if titles & {*line} for cell in line if re.fullmatch(r"\d+\.\d", cell)]
        assert row["rsum"] in {f"{float(cell):.0f}" for cell in near}
