"""Selects the cases of a test that `make test` runs, if all of them take long."""

from collections.abc import Iterable
from typing import Any

import pytest


def first_now(cases: Iterable[Any], count: int = 1) -> list[Any]:
    """The first cases as they are; the others are marked, so that only `make test-all` runs them.

    A case that is a tuple holds the values of several parameters.
    """
    now, later = list(cases)[:count], list(cases)[count:]
    values = [case if isinstance(case, tuple) else (case,) for case in later]
    return [*now, *(pytest.param(*each, marks=pytest.mark.long) for each in values)]
