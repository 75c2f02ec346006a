"""Which cases of a test `make test` runs, where all of them take long."""

from collections.abc import Iterable
from typing import Any

import pytest


def first_now(cases: Iterable[Any], count: int = 1) -> list[Any]:
    """The first cases as they are; the others are marked, so that only `make test-all` runs them."""
    now, later = list(cases)[:count], list(cases)[count:]
    return [*now, *(pytest.param(case, marks=pytest.mark.long) for case in later)]
