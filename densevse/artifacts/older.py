"""Public names with the parameters that they had in an earlier version; densevse/moved.py has their old places."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any
from warnings import warn

from numpy.typing import DTypeLike

from snakeproof import store
from snakeproof.schema import Schema


class FeatureWriter(store.FeatureWriter):
    """A writer of features whose `made_from`, a mapping, is what only the job has found."""

    def __init__(
        self,
        path: str | Path,
        schema: Schema,
        shape: Sequence[int],
        dtype: DTypeLike,
        made_from: Mapping[str, Any] | None = None,
        **found: Any,
    ) -> None:
        if made_from is not None:
            message = "FeatureWriter has no made_from now; give what only the job knows as keyword arguments"
            warn(message, DeprecationWarning, stacklevel=2)
        super().__init__(path, schema, shape, dtype, **(made_from or {}), **found)
