"""The Pareto points of config/proposers are those that MCG's authors publish."""

from pathlib import Path

import pytest
import yaml
from scipy.io import loadmat

ROOT = Path(__file__).parents[3]
PUBLISHED = ROOT / "../shared/data/mcg"


@pytest.mark.parametrize("proposer", ["mcg", "scg"])
@pytest.mark.skipif(not PUBLISHED.is_dir(), reason="the authors' files are not in ../shared/data/mcg")
def test_pareto_points_are_the_authors(proposer):
    chosen = yaml.safe_load((ROOT / f"config/proposers/{proposer}.yaml").read_text())["options"]["candidates"]
    assert chosen == loadmat(PUBLISHED / f"{proposer}_pareto_point_train2012.mat")["n_cands"].tolist()
