"""Gives the rows of a training's history to the watchers that the configuration names, while it runs.

No artifact and no digest depends on a watcher. An error or an exit of one ends its display, not the training.
"""

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol

from densevse.config.registries import WATCHERS
from densevse.runtime import project
from densevse.runtime.numerics import keep_state
from snakeproof.logs import logger
from snakeproof.statements import RESULTS

Row = Mapping[str, Any]


class Watcher(Protocol):
    """A display of one training."""

    def watch(self, row: Row) -> None:
        """Shows a row of the history, of one epoch; `best` is not known yet.

        A training that continues from a checkpoint opens a new watcher, and gives it all rows from the first one.
        """

    def close(self) -> None:
        """Ends the display, after the last row or when the training stops."""


@contextmanager
def open_watchers(weights: str | Path) -> Iterator[Callable[[Row], None]]:
    """Yields a function that gives a row to all watchers of the training that writes `weights`."""
    named = os.environ.get(project.WATCHERS, "")
    watchers = _Watchers(named.split(",") if named else [], weights)
    try:
        yield watchers.watch
    finally:
        watchers.close()


class _Watchers:
    def __init__(self, names: list[str], weights: str | Path) -> None:
        results = Path(os.environ.get(RESULTS, "results"))
        path = Path(weights).with_suffix("")
        run = str(path.relative_to(results) if path.is_relative_to(results) else path.name)
        self._open: dict[str, Watcher] = {}
        for name in names:
            with self._call(name):
                self._open[name] = WATCHERS[name](run, results / "logs" / name / run)

    def watch(self, row: Row) -> None:
        for name, watcher in [*self._open.items()]:
            with self._call(name):
                watcher.watch(dict(row))

    def close(self) -> None:
        for name, watcher in [*self._open.items()]:
            with self._call(name):
                watcher.close()

    @contextmanager
    def _call(self, name: str) -> Iterator[None]:
        """Turns an error or an exit of a watcher into a warning, and takes the watcher out: it is called no more.

        What the training computes with is then as it was before.
        """
        try:
            with keep_state():
                yield
        except (Exception, SystemExit) as error:  # whatever another package's code raises
            self._open.pop(name, None)
            logger.warning(
                "logging.%s: training goes on without this watcher (%s: %s)", name, type(error).__name__, error
            )
