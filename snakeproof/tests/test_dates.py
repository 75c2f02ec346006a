"""A file that a rule made and that is dated in the future is refused, or gets today's date."""

import os
import time

import pytest

from snakeproof.dates import CLOCKS_DIFFER, settle_dates
from snakeproof.errors import InputError

DEEP = "results/scenes/models/vse/seed0/round0/model.safetensors"


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def dated(path, ahead):
    """A file that is dated so many seconds later than now."""
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w"):
        os.utime(path, (0, time.time() + ahead))
    return path


def settle(*files, made=True):
    settle_dates(files, ["results", "resources"], lambda path: made)


def test_a_rules_file_of_the_future_is_refused_at_any_depth():
    """Trainings on it were thrown away at their end, as older than it."""
    own, made = dated("photographs/one.jpg", 10**6), dated(DEEP, CLOCKS_DIFFER + 60)
    with pytest.raises(InputError, match=rf"^{DEEP} is dated .*find results -newermt now"):
        settle(own, "results/absent.parquet", made)
    settle(own, made, made=False)


def test_a_rules_file_of_a_clock_that_is_ahead_gets_today_s_date():
    own, made = dated("photographs/one.jpg", 10**6), dated(DEEP, CLOCKS_DIFFER - 60)
    earlier = dated("results/table.md", -300)
    before = {file: os.stat(file).st_mtime_ns for file in (own, earlier)}
    settle(own, made, earlier)
    assert abs(os.stat(made).st_mtime - time.time()) < 60
    assert before == {file: os.stat(file).st_mtime_ns for file in before}
