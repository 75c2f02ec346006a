"""Draws of settings: one budget for all, reproducible, and only what a method has."""

from itertools import combinations

import numpy as np
import pytest

from densevse.analyses.effort import dag
from densevse.analyses.effort.draws import apply_draw, budget, negatives
from densevse.analyses.effort.settings import Effort, EffortSettings, Space
from densevse.analyses.effort.table import Tuned, expected_best
from densevse.config.load import load, variant
from densevse.dag.project import Project, Stage
from snakeproof.errors import InputError
from tools.environments import ROOT

CONFIG = load(ROOT / "config", {})
SCENES = CONFIG.analysis(EffortSettings).dataset_entry("scenes")
BUDGET = budget(variant(CONFIG, "scenes", "vse"))


def of(name, draw, effort=SCENES):
    return apply_draw(variant(CONFIG, "scenes", name), effort, name, draw, BUDGET)


def test_the_budget_is_that_of_the_configured_vse():
    assert BUDGET == 5 * 63
    assert of("vse", 0).phases == variant(CONFIG, "scenes", "vse").phases


@pytest.mark.parametrize("name", SCENES.rows)
def test_every_draw_of_every_row_scores_as_many_pairs(name):
    for draw in range(SCENES.rows[name].draws):
        entry = of(name, draw)
        phases = len(entry.round_phases(0))
        assert abs(budget(entry) - BUDGET) <= max(phases, 0.5) * negatives(entry)


def test_draw_0_keeps_what_is_configured_but_epochs():
    entry, default = of("sm_lstm", 0), variant(CONFIG, "scenes", "sm_lstm")
    assert entry.parameters == default.parameters.model_copy(update={"steps": 1})
    assert entry.training.batch_size == default.training.batch_size
    assert entry.training.ema_decay == default.training.ema_decay
    assert entry.phases["main"].learning_rate == default.phases["main"].learning_rate
    assert entry.phases["main"].epochs == 16 != default.phases["main"].epochs


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


def test_a_method_without_a_parameter_is_not_given_it():
    assert not hasattr(of("defrag_best_region", 1).parameters, "dropout")


def test_a_draw_without_a_negative_is_refused():
    none = SCENES.model_copy(update={"space": {"negatives": Space(times=[0.0001, 0.0002])}})
    for name in ("vse", "defrag_best_region"):
        with pytest.raises(ValueError, match="negatives: 0 is drawn, and a matched pair needs 1 or more"):
            of(name, 1, none)


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"space": {"parameters.margn": {"values": [1]}}}, r"effort\.scenes\.space\.parameters\.margn: no row has it"),
        (
            {"rows": {"sco_cnp_ctx": {"draws": 4, "space": {"parameters.steps": {"values": [1]}}}}},
            r"effort\.scenes\.rows\.sco_cnp_ctx\.space\.parameters\.steps: no row has it",
        ),
    ],
)
def test_a_parameter_that_no_row_has_is_refused(changed, said):
    stage = Stage(Project(ROOT, {"effort": {"scenes": changed}}), dag)
    with pytest.raises(InputError, match=said):
        stage.table_job("scenes")


def test_expected_best_is_the_mean_over_all_subsets():
    random = np.random.default_rng(0)
    val, test = random.permutation(7).astype(float), random.normal(size=7)
    for n in range(1, 8):
        subsets = [max(subset, key=lambda draw: val[draw]) for subset in combinations(range(7), n)]
        assert expected_best(val, test, n) == pytest.approx(np.mean(test[subsets]), rel=1e-12)


def test_the_expected_best_may_leave_out_what_is_configured():
    val, test = np.array([9.0, 1.0, 3.0, 2.0]), np.array([90.0, 10.0, 30.0, 20.0])
    row = Tuned("vse", "VSE", val, test, val, None, None)
    assert row.expected_without_default(1) == pytest.approx(20)
    assert row.expected_without_default(2) == pytest.approx((30 + 30 + 20) / 3)
    assert row.expected_without_default(5) == 30  # of three
    assert np.isnan(Tuned("vse", "VSE", val[:1], test[:1], val, None, None).expected_without_default(3))


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({"rows": {"vse": {"draws": 2}}}, "they need a budget_of"),
        (
            {"rows": {"vse": {"draws": 3}}, "budget_of": "vse", "reference": "vse", "fresh_seeds": [1, 2]},
            "rows.vse.draws: 3, and rows are compared at 4",
        ),
        ({"space": {"learning_rate": {}}}, "give either times or values"),
        ({"space": {"learning_rate": {"times": [2, 1]}}}, "the smaller one first"),
        ({"space": {"training.ema_decy": {"times": [1, 2]}}}, "training: no 'ema_decy'; .*ema_decay"),
        ({"space": {"traning.ema_decay": {"times": [1, 2]}}}, "no 'traning.ema_decay'; a key is learning_rate, neg"),
        ({"rows": {"vse": {"draws": 2, "space": {"margin": {"times": [1, 2]}}}}}, "no 'margin'; a key is learning_ra"),
    ],
)
def test_a_protocol_that_cannot_be_is_refused(values, said):
    with pytest.raises(ValueError, match=said):
        Effort.model_validate(values)
