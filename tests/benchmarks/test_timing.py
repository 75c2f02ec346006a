"""Timing, in a separate file, as the process of a contender imports it."""

import os
import time

import pytest

from benchmarks._timing import Contender, median_ratio


def test_a_ratio_is_the_median_after_an_unmeasured_round():
    baseline = iter([9.0, 2.0, 4.0, 6.0])
    assert median_ratio(lambda: 2.0, lambda: next(baseline), 3) == 2.0


def test_a_contender_is_timed_in_a_process_with_its_environment():
    with Contender(waits_if_told, "DENSEVSE_TOLD", environment={"DENSEVSE_TOLD": "yes"}) as contender:
        assert contender.seconds() >= 0.01


def test_a_contender_that_fails_ends():
    with Contender(fails, environment={}) as contender, pytest.raises((EOFError, OSError)):
        contender.seconds()


def waits_if_told(key):
    seconds = 0.01 if os.environ.get(key) == "yes" else 0.0
    return lambda: time.sleep(seconds)


def fails():
    raise SystemExit(1)
