#!/usr/bin/env bash
# Expected: "A missing list of boxes in a Parquet file is NULL, and an empty one is a list of length 0, as in DuckDB."
# Seen on 2026-12-01: chdb reads both as an empty list: no row has boxes that are NULL, and two of three have none. A
# missing number is NULL. DuckDB keeps the two apart.
# Hurts: who marks photographs that no detector saw by a missing list, and counts photographs without objects.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check \
  chdb==4.4.0 duckdb==2.0.1 pyarrow==25.0.1
cd "$folder"
venv/bin/python - <<'PYTHON'
import json
from importlib.metadata import version

import chdb
import duckdb
import pyarrow as pa
import pyarrow.parquet as pq

print(*(f"{name} {version(name)}" for name in ("chdb", "duckdb", "pyarrow")))
boxes = pa.array([[0.5], [], None], pa.list_(pa.float32()))
pq.write_table(pa.table({"boxes": boxes, "width": pa.array([224, 224, None])}), "images.parquet")
counts = "select sum(({0}) is null), sum(length({0}) = 0), sum(width is null) from "
of_duckdb = [int(value) for value in duckdb.sql(counts.format("boxes") + "'images.parquet'").fetchall()[0]]
lines = str(chdb.query(counts.format("boxes") + "file('images.parquet')", "JSONCompactEachRow")).split("\n")
of_chdb = [int(value) for value in json.loads(lines[0])]
print("boxes missing, boxes empty, width missing: DuckDB", of_duckdb, "chdb", of_chdb)
assert of_duckdb == [1, 1, 1] and of_chdb == [0, 2, 1]
PYTHON
