"""The notes of a table of equal effort."""

import pandas as pd
import pytest

from densevse.analyses.effort.table import EffortPlan, Tuned, _lead_cell, _notes, judge_gain
from densevse.statistics.bootstrap import UNKNOWN_INTERVAL, Interval


@pytest.mark.parametrize(
    ("registered", "expected"),
    [
        ("1a2b3c4", "The protocol was registered before the first draw in commit 1a2b3c4."),
        ("", "The protocol is registered nowhere: its settings are a user's own."),
    ],
)
def test_the_first_note_says_where_the_protocol_stands(registered, expected):
    plan = EffortPlan.model_construct(registered=registered, runs=[], shortlist_within=6, compared_at=4)
    assert _notes(plan)[0] == expected


def test_the_lead_on_val_is_on_the_second_best_of_the_shortlist():
    choice = pd.DataFrame(
        {
            "draw": [0, 1, 2, 3],
            "val_again": [[400.0, 402.0, 401.0], [], [398.0, 405.0, 406.0], [390.0, 391.0, 392.0]],
            "chosen": [False, False, True, False],
        }
    )
    row = Tuned("vse", "VSE", choice, None, None, None)
    assert row.lead.tolist() == [-2, 3, 5]
    assert _lead_cell(row) == "2.0 (3.6)"
    assert (
        _lead_cell(Tuned("vse", "VSE", choice.assign(val_again=[[], [], [1.0, 2.0], []]), None, None, None)) == "alone"
    )


@pytest.mark.parametrize(
    ("gain", "verdict"),
    [((0.1, 5), "better"), ((-5, -0.1), "worse"), ((-0.1, 5), "not shown"), (UNKNOWN_INTERVAL, "undecided")],
)
def test_a_verdict_of_a_run_is_that_of_its_interval(gain, verdict):
    assert judge_gain(Interval(*gain)) == verdict
