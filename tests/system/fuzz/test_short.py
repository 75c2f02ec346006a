"""A short share of `python -m tests.system.fuzz`."""

import pytest
from hypothesis import HealthCheck, given, seed, settings

from tests.cases import first_now
from tests.system.fuzz import own_files, readers
from tests.system.fuzz.configuration import is_named, overrides, refusal
from tests.system.fuzz.trial import REFUSED, VALID, outcomes

TARGETS = readers.targets() | own_files.targets()


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


@pytest.mark.parametrize("count", first_now([15, 60]))
def test_an_override_is_refused_by_its_path_or_all_can_be_planned(count):
    @seed(1)
    @settings(max_examples=count, deadline=None, database=None, suppress_health_check=list(HealthCheck))
    @given(overrides)
    def check(override):
        message = refusal(override)
        assert message is None or is_named(override[0], message)

    check()


def test_what_is_told_of_another_key_does_not_name_this_one():
    assert is_named(("datasets", "scenes", "shards"), "datasets.scenes: a list is too short")
    assert not is_named(("datasets", "scenes", "shards"), "datasets.coco.shards: 0 is too few")
