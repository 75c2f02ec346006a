"""The notes of a table of equal effort."""

import pytest

from densevse.analyses.effort.table import EffortPlan, _notes


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
