"""The rules that make a path, among those of a workflow."""

import re
from collections.abc import Callable
from typing import Any

BY_HAND = "obtain_by_hand"
"""The rule whose files are the user's."""


class Makers:
    """The rules of a workflow, which may still be reading its files."""

    def __init__(self, workflow: Any, place: Callable[[str], str] = str) -> None:
        """`place` gives the name by which rules call a path: that of a local copy where results lie in a bucket."""
        self._workflow, self._place = workflow, place

    def of(self, path: str) -> list[str]:
        """The names of the rules that make a path."""
        path = self._place(path)
        return [rule.name for rule in self._workflow.rules if _may_make(rule, path) and rule.is_producer(path)]

    def make(self, path: str) -> bool:
        """Whether a rule makes a path; a file that is obtained by hand is the user's."""
        return any(name != BY_HAND for name in self.of(path))

    def patterns(self) -> list[str]:
        """Regular expressions of the paths that rules make."""
        folder = re.escape(self._place("x").removesuffix("x"))
        products = (product for rule in self._workflow.rules for product in rule.products())
        return [str(product.regex().pattern).removeprefix(folder) for product in products]


def _may_make(rule: Any, path: str) -> bool:
    """Whether one of a rule's outputs begins and ends as the path does; to compare all of it takes long."""
    return any(
        path.startswith(file.constant_prefix()) and path.endswith(file.constant_suffix()) for file in rule.output
    )
