"""Draws of settings: one batch and number of steps for all, reproducible, and the same space."""

from itertools import combinations

import numpy as np
import pytest

from densevse.analyses.effort import dag
from densevse.analyses.effort.choice import shortlisted_draws
from densevse.analyses.effort.draws import Budget, apply_draw, apply_settings
from densevse.analyses.effort.settings import Effort, EffortSettings
from densevse.analyses.effort.table import expected_best, expected_best_interval
from densevse.config.load import load, variant
from densevse.dag.project import Project, Stage
from snakeproof.errors import InputError
from tools.environments import ROOT

CONFIG = load(ROOT / "config", {})
SCENES = CONFIG.analysis(EffortSettings).dataset_entry("scenes")
BUDGET = Budget.from_entry(variant(CONFIG, "scenes", "vse"))


def of(name, draw, effort=SCENES):
    return apply_draw(variant(CONFIG, "scenes", name), effort, name, draw, BUDGET)


def test_the_budget_is_that_of_the_configured_vse():
    assert BUDGET == (64, 5)
    assert of("vse", 0).phases == variant(CONFIG, "scenes", "vse").phases


@pytest.mark.parametrize("name", SCENES.rows)
def test_every_draw_of_every_row_has_as_many_steps(name):
    for draw in range(SCENES.rows[name].draws):
        assert Budget.from_entry(of(name, draw)) == BUDGET


def test_a_row_with_another_batch_has_as_many_steps_in_other_epochs():
    rows = {**SCENES.rows, "vse": SCENES.rows["vse"].model_copy(update={"batch_size": 512})}
    entry = of("vse", 3, SCENES.model_copy(update={"rows": rows}))
    assert Budget.from_entry(entry) == (512, 40)


def test_draw_0_keeps_what_is_configured_but_batch_and_epochs():
    entry, default = of("sm_lstm", 0), variant(CONFIG, "scenes", "sm_lstm")
    assert entry.parameters == default.parameters.model_copy(update={"steps": 1})
    assert entry.training.ema_decay == default.training.ema_decay
    assert entry.phases["main"].learning_rate == default.phases["main"].learning_rate
    assert entry.phases["main"].epochs == 5 != default.phases["main"].epochs


def test_a_control_has_the_settings_of_the_row_and_its_own_loss():
    row, reference = of("vsepp", 2), variant(CONFIG, "scenes", "vse")
    entry = apply_settings(reference, row, [*SCENES.space])
    assert entry.training == row.training
    assert entry.parameters == row.parameters.model_copy(update={"negatives": "sum"})
    assert [*entry.phases] == ["main", "settle"]
    assert entry.phases["main"].learning_rate == pytest.approx(row.phases["warm_up"].learning_rate, rel=0.01)
    assert Budget.from_entry(entry) == BUDGET


def test_a_control_has_the_settings_of_a_row_where_a_rate_rises_from_0():
    reference, row = variant(CONFIG, "scenes", "vse"), of("vsepp", 2)
    main = reference.phases["main"].model_copy(update={"learning_rate": 0.0, "final_learning_rate": 0.004})
    rising = reference.model_copy(update={"phases": {**reference.phases, "main": main}})
    entry = apply_settings(rising, row, [*SCENES.space])
    assert entry.phases["main"].learning_rate == 0
    assert entry.phases["main"].final_learning_rate == pytest.approx(row.phases["warm_up"].learning_rate, rel=0.01)


@pytest.mark.parametrize("key", ["batch_size", "patience", "validation_images"])
def test_what_all_draws_share_is_not_drawn(key):
    space = {f"training.{key}": {"values": [1, 2]}}
    for changed in ({"space": space}, {"rows": {"vse": {"draws": 4, "space": space}}}):
        with pytest.raises(InputError, match=rf"training\.{key}: all draws share it, so it cannot be drawn"):
            load(ROOT / "config", {"effort": {"scenes": changed}})


def test_a_draw_is_on_the_shortlist_if_it_is_near_the_best():
    assert shortlisted_draws([400.0, 394.0, 393.9, 400.0, 10.0], 6) == [0, 1, 3]


def test_draws_lie_in_the_space_and_differ():
    rates = [of("vsepp", draw).phases["main"].learning_rate for draw in range(1, 8)]
    assert len(set(rates)) == 7
    assert all(0.0004 <= rate <= 0.04 for rate in rates)
    assert {of("vsepp", draw).parameters.dropout for draw in range(1, 8)} <= {0.0, 0.2, 0.4, 0.6}
    ratios = {
        of("vsepp", n).phases["settle"].learning_rate / of("vsepp", n).phases["main"].learning_rate for n in range(8)
    }
    assert np.allclose([*ratios], 0.1, rtol=0.01)


def test_a_further_key_changes_no_other():
    more = SCENES.model_copy(
        update={"space": {"training.grad_clip": SCENES.space["training.ema_decay"], **SCENES.space}}
    )
    assert of("vse", 3, more).parameters == of("vse", 3).parameters
    assert of("vse", 3, more).phases == of("vse", 3).phases


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        (
            {"space": {"parameters.margn": {"values": [1]}}},
            r"effort\.scenes\.space\.parameters\.margn: vse has no margn",
        ),
        (
            {"space": {"parameters.steps": {"values": [1]}}},
            r"effort\.scenes\.space\.parameters\.steps: vse has no steps; .* all rows of a table have one space",
        ),
        (
            {"rows": {"sco_cnp_ctx": {"draws": 4, "space": {"parameters.steps": {"values": [1]}}}}},
            r"effort\.scenes\.rows\.sco_cnp_ctx\.space\.parameters\.steps: sco_cnp_ctx has no steps",
        ),
    ],
)
def test_a_parameter_that_a_row_lacks_is_refused(changed, said):
    stage = Stage(Project(ROOT, {"effort": {"scenes": changed}}), dag)
    with pytest.raises(InputError, match=said):
        stage.table_job("scenes")


def test_expected_best_is_the_mean_over_all_subsets():
    val = np.random.default_rng(0).normal(size=7)
    for n in range(1, 8):
        of_subsets = [max(subset) for subset in combinations(val, n)]
        assert expected_best(val, n) == pytest.approx(np.mean(of_subsets), rel=1e-12)


def test_the_interval_of_the_expected_best_is_over_draws():
    values = np.random.default_rng(1).normal(size=200)
    few, many = (expected_best_interval(values[:size], 4) for size in (7, 200))
    assert many.low < expected_best(values, 4) < many.high
    assert many.high - many.low < 0.7 * (few.high - few.low)


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({"rows": {"vse": {"draws": 2}}}, "they need a budget_of"),
        (
            {"runs": [{"seed": 0, "val_seeds": [1, 2], "test_seeds": [2, 3]}]},
            r"runs: the seeds \[2\] come twice; what chooses must not test",
        ),
        ({"space": {"learning_rate": {}}}, "give either times or values"),
        ({"space": {"learning_rate": {"times": [2, 1]}}}, "the smaller one first"),
        ({"space": {"training.ema_decy": {"times": [1, 2]}}}, "training: no 'ema_decy'; .*ema_decay"),
        ({"space": {"traning.ema_decay": {"times": [1, 2]}}}, "no 'traning.ema_decay'; a key is learning_rate, tra"),
        ({"rows": {"vse": {"draws": 2, "space": {"margin": {"times": [1, 2]}}}}}, "no 'margin'; a key is learning_ra"),
    ],
)
def test_a_protocol_that_cannot_be_is_refused(values, said):
    with pytest.raises(ValueError, match=said):
        Effort.model_validate(values)
