"""Estimates come from recorded costs."""

import pytest

from densevse.command.subcommands.plan import COSTS, FETCHING, Cost, Work, estimate, read_costs
from densevse.runtime.errors import InputError
from tests.rules import rules

SMALL = Cost("train", "scenes", 100, 36.0, 500, 1e6, "a machine", "2026-01-01")
LARGE = Cost("train", "flickr8k", 1000, 720.0, 900, None, "another", "2026-01-02")


def one(work, costs=(SMALL, LARGE)):
    return estimate([work], costs)[work]


def test_the_same_data_set_is_taken_as_it_is():
    found = one(Work("train", "scenes", 2, 100))
    assert (found.by, found.scale) == (SMALL, 1)
    assert found.hours == pytest.approx(2 * 36 / 3600)
    assert found.written == 2e6


def test_another_data_set_is_scaled_from_the_dearest_by_images():
    found = one(Work("train", "coco", 3, 4000))
    assert (found.by, found.scale) == (LARGE, 4)
    assert found.hours == pytest.approx(3 * 4 * 720 / 3600)
    assert found.written == 3 * 40 * 1e6, "nobody recorded what the dearest wrote"


def test_an_unknown_number_of_images_is_not_scaled():
    assert one(Work("train", "mine", 1, None)).scale == 1


def test_a_stage_that_was_never_recorded_has_no_estimate():
    assert one(Work("parse", "scenes", 1, 100)) is None


def test_the_recorded_costs_are_of_stages_that_are_there():
    costs = read_costs(COSTS)
    folders = {rule.name for rule in rules().values()}
    assert {cost.stage for cost in costs} <= folders
    assert all(cost.machine and cost.date for cost in costs)
    assert {"train", "retrieve", "extract_regions", "propose"} <= {cost.stage for cost in costs}
    assert set(FETCHING) <= folders


def test_a_row_that_cannot_be_read_is_named(tmp_path):
    file = tmp_path / "costs.csv"
    file.write_text("stage,dataset,images,jobs,seconds,memory,bytes,machine,date\ntrain,scenes,,1,soon,5,,m,d\n")
    with pytest.raises(InputError, match=r"costs.csv, line 2: .*soon"):
        read_costs(file)
