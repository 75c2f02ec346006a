"""A short share of `python -m tests.fuzz`."""

import pytest

from tests.fuzz.readers import targets
from tests.fuzz.trial import REFUSED, VALID, outcomes

TARGETS = targets()


@pytest.mark.parametrize("name", TARGETS)
def test_a_spoilt_file_is_read_or_refused_by_name(name):
    found = outcomes(TARGETS[name], range(1000, 1012))
    assert set(found) <= {VALID, REFUSED}


@pytest.mark.parametrize("name", TARGETS)
def test_the_file_as_it_should_be_is_read(name, tmp_path):
    for file, data in TARGETS[name].files.items():
        (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / file).write_bytes(data)
    TARGETS[name].read(tmp_path)
