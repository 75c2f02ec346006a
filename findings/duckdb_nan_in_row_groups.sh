#!/usr/bin/env bash
# Guess, written before the run: "A filter keeps the same rows of a Parquet file whatever the size of its row groups."
# Seen on 2026-11-30: NaN is greater than all numbers in SQL, and the statistics of a row group leave it out. DuckDB
# and DataFusion skip a group whose maximum is too small, and its NaN with it: score > 2.5 keeps one row of the file
# in groups of two, and two rows of the file in one group. Polars keeps the NaN of both.
# Hurts: who filters scores that were not computed for all rows: how many come back depends on who wrote the file, and
# the maximum of a file is a number where that of the same table in memory is NaN.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check \
  datafusion==55.0.0 duckdb==2.0.1 polars==2.1.0 pyarrow==26.0.1
cd "$folder"
venv/bin/python - <<'PYTHON'
import datafusion
import duckdb
import polars
import pyarrow
import pyarrow.parquet

print("datafusion", datafusion.__version__, "duckdb", duckdb.__version__, "polars", polars.__version__)
table = pyarrow.table({"name": ["a", "b", "c", "d"], "score": [1.0, float("nan"), 2.0, 3.0]})
pyarrow.parquet.write_table(table, "whole.parquet")
pyarrow.parquet.write_table(table, "groups.parquet", row_group_size=2)
kept = {}
for name in ("whole", "groups"):
    context = datafusion.SessionContext()
    context.register_parquet("scores", f"{name}.parquet")
    kept[name] = {
        "duckdb": [n for (n,) in duckdb.sql(f"select name from '{name}.parquet' where score > 2.5").fetchall()],
        "datafusion": context.sql("select name from scores where score > 2.5").to_pydict()["name"],
        "polars": polars.scan_parquet(f"{name}.parquet").filter(polars.col("score") > 2.5).collect()["name"].to_list(),
    }
    print(name, kept[name])
both = ["b", "d"]
assert kept["whole"] == {"duckdb": both, "datafusion": both, "polars": both}
assert kept["groups"] == {"duckdb": ["d"], "datafusion": ["d"], "polars": both}
scores = table
maxima = [duckdb.sql(f"select max(score) from {name}").fetchall()[0][0] for name in ("scores", "'groups.parquet'")]
print("duckdb's maximum in memory and of the file:", maxima)
assert str(maxima) == "[nan, 3.0]"
PYTHON
