"""The kinds of files of this project."""

import importlib
import pkgutil

import pyarrow.parquet as pq
import pytest

from densevse.artifacts import schemas
from snakeproof import schema


@pytest.mark.parametrize(
    "kind",
    [
        value
        for module in pkgutil.iter_modules(schemas.__path__, f"{schemas.__name__}.")
        for value in vars(importlib.import_module(module.name)).values()
        if isinstance(value, schema.Schema)
    ],
    ids=lambda kind: kind.name,
)
def test_every_schema_can_be_written_empty(tmp_path, kind):
    schema.write([], kind, tmp_path / "a")
    assert pq.read_schema(tmp_path / "a").names == [column.name for column in kind.columns]
