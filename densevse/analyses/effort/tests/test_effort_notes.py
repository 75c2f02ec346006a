"""The notes of a table of equal effort."""

import pytest

from densevse.analyses.effort.table import EffortPlan, _notes


@pytest.mark.parametrize(
    ("registered", "extended", "expected"),
    [
        ("1a2b3c4", None, "The protocol was registered before the first draw in commit 1a2b3c4."),
        ("1a2b3c4", "val chose its last value", "extended once, after the first draws: val chose its last value."),
        ("", "val chose its last value", "The protocol is registered nowhere: its settings are a user's own."),
    ],
)
def test_the_first_note_says_where_the_protocol_stands(registered, extended, expected):
    plan = EffortPlan.model_construct(
        registered=registered, extended=extended, budget=9, fresh_seeds=[1, 2], compared_at=4, least_correlation=0.5
    )
    assert expected in _notes([], plan)[0]
