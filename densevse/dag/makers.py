"""Finds the rules of a workflow that make a path."""

import re
from collections.abc import Callable
from typing import Any

BY_HAND = "obtain_by_hand"
"""The rule whose files the user obtains by hand."""


class Makers:
    """The rules of a workflow, whose files may still be read at this time."""

    def __init__(self, workflow: Any, place: Callable[[str], str] = str) -> None:
        """`place` gives the name by which rules call a path: that of a local copy where results lie in a bucket."""
        self._workflow, self._place = workflow, place

    def of(self, path: str) -> list[str]:
        """The names of the rules that make a path."""
        path = self._place(path)
        return [rule.name for rule in self._workflow.rules if _may_make(rule, path) and rule.is_producer(path)]

    def make(self, path: str) -> bool:
        """True if a rule makes a path; a file that is obtained by hand is the user's."""
        return any(name != BY_HAND for name in self.of(path))

    def patterns(self) -> list[str]:
        """Regular expressions of the paths that rules make."""
        folder = re.escape(self._place("x").removesuffix("x"))
        products = (product for rule in self._workflow.rules for product in rule.products())
        return [str(product.regex().pattern).removeprefix(folder) for product in products]


def _may_make(rule: Any, path: str) -> bool:
    """True if an output of a rule has the path's first and last part, a cheap test before a full match."""
    return any(
        path.startswith(file.constant_prefix()) and path.endswith(file.constant_suffix()) for file in rule.output
    )
