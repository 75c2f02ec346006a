#!/usr/bin/env bash
# Guess, written before the run: "A column Array(Float32, 4) that polars writes to Parquet is FLOAT[4] in DuckDB, so
# array_cosine_similarity takes it."
# Seen on 2026-11-29: DuckDB reads FLOAT[], a list of any length, and array_cosine_similarity refuses it with a
# BinderException. pyarrow reads the fixed length from the same file, as it is only in Arrow's schema in the file's
# metadata. A cast to FLOAT[4] helps.
# Hurts: who hands vectors from polars to DuckDB by a file.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check \
  polars==2.1.0 duckdb==2.0.1 pyarrow==26.0.1
cd "$folder"
venv/bin/python - <<'PYTHON'
import duckdb
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

print("polars", pl.__version__, "duckdb", duckdb.__version__, "pyarrow", pa.__version__)
vectors = pl.Series("vector", [[1, 0, 0, 0], [0, 1, 0, 0]], dtype=pl.Array(pl.Float32, 4))
pl.DataFrame([vectors]).write_parquet("vectors.parquet")
seen, arrow = duckdb.sql("from 'vectors.parquet'").types, pq.read_schema("vectors.parquet").field("vector").type
query = "select array_cosine_similarity(vector{}, [1, 0, 0, 0]::FLOAT[4]) from 'vectors.parquet'"
try:
    duckdb.sql(query.format(""))
    refused = ""
except duckdb.BinderException as error:
    refused = str(error).splitlines()[0]
cast = duckdb.sql(query.format("::FLOAT[4]")).fetchall()
print(seen, arrow, refused, cast, sep="\n")
assert str(seen[0]) == "FLOAT[]" and pa.types.is_fixed_size_list(arrow) and refused and cast == [(1,), (0,)]
PYTHON
