#!/usr/bin/env bash
# Guess, written before the run: "The columns of a Parquet file are what the file says, wherever it lies."
# Seen on 2026-11-30: in a folder seed=4, DuckDB gives a file's own column seed the value 4, though the file says 3.
# It gives no message, and reads one file by its path so too. pyarrow and Polars read 3 from the path, and Polars
# reads 4 from the folder above.
# Hurts: who has a folder for each seed or rate, and copies a file from one to another: its rows change what they say.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check \
  duckdb==2.0.1 polars==2.1.0 pyarrow==26.0.1
cd "$folder"
venv/bin/python - <<'PYTHON'
from pathlib import Path

import duckdb
import polars
import pyarrow
import pyarrow.parquet

print("duckdb", duckdb.__version__, "polars", polars.__version__, "pyarrow", pyarrow.__version__)
Path("runs/seed=4").mkdir(parents=True)
path = "runs/seed=4/recall.parquet"
pyarrow.parquet.write_table(pyarrow.table({"seed": [3, 3], "recall": [0.5, 0.25]}), path)
by_path = {
    "duckdb": [seed for (seed,) in duckdb.sql(f"select seed from '{path}'").fetchall()],
    "polars": polars.read_parquet(path)["seed"].to_list(),
    "pyarrow": pyarrow.parquet.read_table(path)["seed"].to_pylist(),
}
above = polars.read_parquet("runs")["seed"].to_list()
as_in_file = duckdb.sql(f"select seed from read_parquet('{path}', hive_partitioning = false)").fetchall()
print(by_path, "polars, the folder above:", above, "duckdb without hive_partitioning:", as_in_file)
assert by_path == {"duckdb": [4, 4], "polars": [3, 3], "pyarrow": [3, 3]}
assert above == [4, 4] and as_in_file == [(3,), (3,)]
PYTHON
