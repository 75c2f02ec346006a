"""The rules that make a path, among those of a workflow."""

from typing import Any


class Makers:
    """The rules of a workflow, which may still be reading its files."""

    def __init__(self, workflow: Any) -> None:
        self._workflow = workflow

    def make(self, path: str) -> bool:
        """Whether a rule makes a path; a file that is obtained by hand is the user's."""
        return any(rule.is_producer(path) for rule in self._workflow.rules if self._may_make(rule, path))

    def _may_make(self, rule: Any, path: str) -> bool:
        """Whether one of a rule's outputs begins as the path does; to compare all of it takes long."""
        by_hand = rule.name == "obtain_by_hand"
        return not by_hand and any(path.startswith(output.constant_prefix()) for output in rule.output)
