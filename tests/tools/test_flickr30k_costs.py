"""The page of what Flickr30k's table costs is that of today's plan, and each difference has its reason."""

import pytest

from densevse.command.costs.rates import ESTIMATES, Rates
from tools import flickr30k_costs


@pytest.fixture(scope="module")
def page():
    return flickr30k_costs.page(Rates(ESTIMATES))


def test_the_page_is_todays(page):
    kept = (flickr30k_costs.TABLES / "flickr30k_costs.md").read_text(encoding="utf-8")
    assert kept.startswith(page.rstrip("\n")), "run `python -m tools.flickr30k_costs`"


def test_a_correction_is_of_what_was_planned_and_has_a_reason():
    planned, corrected = flickr30k_costs.read_amounts("before"), flickr30k_costs.read_amounts("corrections", "reason")
    assert {key[:2] for key in corrected} <= {key[:2] for key in planned}
    assert all(corrected.values())


def test_a_difference_without_a_reason_is_refused(monkeypatch):
    monkeypatch.setattr(flickr30k_costs, "planned_amounts", lambda files: {("train", "vse", "products"): 1e15})
    with pytest.raises(ValueError, match=r"without a reason: .*'train', 'vse'"):
        flickr30k_costs.page(Rates(ESTIMATES))
