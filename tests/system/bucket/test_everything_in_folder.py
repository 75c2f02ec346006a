"""Everything of a small data set through a folder that serves as a bucket."""

import pytest

from tests.projects import SMALL
from tests.system.bucket.places import results

pytestmark = pytest.mark.long


def test_everything_has_the_bytes_of_a_plain_run(checkout, folder):
    bucket, storage = folder
    plain = checkout(SMALL, [])
    plain.run("all")
    checkout(SMALL, storage).run("all")
    expected, found = results(plain.folder / "results"), results(bucket / "results")
    assert len(expected) > 50
    assert found.keys() == expected.keys()
    assert [name for name, content in expected.items() if found[name] != content] == []
