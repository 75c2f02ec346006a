"""Downloads from each odd answer of a server, as `python -m tests.system.answers` tries them."""

import pytest

from tests.system.answers.trial import answered, is_as_expected, outcomes


@pytest.mark.long
def test_an_odd_answer_never_becomes_a_file_and_never_waits_for_ever(tmp_path):
    found = outcomes(answered(spoilt=30, seed=0), tmp_path)
    assert len({trial.answer for trial in found}) >= 100
    assert [(trial, what) for trial, what in found.items() if not is_as_expected(trial, what)] == []
