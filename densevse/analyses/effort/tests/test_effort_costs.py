"""`densevse plan` counts the work of draws by their own settings."""

import pytest

from densevse.command.costs.jobs import Arithmetic, add_amounts, multiply_amounts
from densevse.command.shared import PlannedJob, configured_project


@pytest.fixture(scope="module")
def arithmetic():
    return Arithmetic(configured_project([]))


def work(arithmetic, stage, variant, **names):
    return arithmetic.job_work(PlannedJob(stage, {"dataset": "scenes", "variant": variant, **names}, [], stage))


def test_draw_0_of_the_row_that_sets_the_budget_costs_its_training(arithmetic):
    assert work(arithmetic, "train_draw", "vse", draw="draw0", seed="0") == work(arithmetic, "train", "vse", seed="0")


def test_a_draw_has_the_epochs_of_the_budget(arithmetic):
    """VSE has 5 epochs, and sm-LSTM 3 in batches of 192 for 64; a pair is compared as often whatever the batch.

    Each ends with a validation on 200 images in place of 100, which adds less than a tenth.
    """
    draw = work(arithmetic, "train_draw", "sm_lstm", draw="draw0", seed="0")
    configured = work(arithmetic, "train", "sm_lstm_1_step", seed="0")
    assert 1 < draw["products"] / (5 / 3 * configured["products"]) < 1.1


def test_a_shortlist_is_planned_as_all_draws_and_the_chosen_one_as_their_mean(arithmetic):
    draws = [work(arithmetic, "train_draw", "sm_lstm", draw=f"draw{number}", seed="0") for number in range(4)]
    shortlist = work(arithmetic, "train_shortlist", "sm_lstm", seed="1")
    assert shortlist == pytest.approx({**add_amounts(*draws), "starts": 1})  # one job
    chosen = work(arithmetic, "train_chosen", "sm_lstm", draw="as_sm_lstm", seed="111")
    assert chosen == pytest.approx(multiply_amounts(add_amounts(*draws), 1 / 4))


def test_a_control_costs_the_reference(arithmetic):
    control = work(arithmetic, "train_chosen", "vse", draw="as_hm_lstm_sentences", seed="111")
    assert control == pytest.approx(work(arithmetic, "train", "vse", seed="0"))


def test_draws_are_ranked_as_their_variant(arithmetic):
    names = {"seed": "0", "round": "0"}
    ranked = work(arithmetic, "retrieve_draw", "vse", draw="draw0", protocol="full", **names)
    assert ranked == work(arithmetic, "retrieve", "vse", protocol="full", **names)
