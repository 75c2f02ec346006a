#!/usr/bin/env bash
# Guess, written before the run: "The cosine of a zero vector is 0 or NULL, so such a row is never the best answer."
# Seen on 2026-11-29: list_cosine_similarity gives NaN, which is the greatest number of all: ORDER BY ... DESC puts
# the row first, arg_max names it, max is NaN. A WHERE with score > .5 keeps it too.
# Hurts: who searches vectors with SQL, where an unreadable image has zeros: it is the answer to every query.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check \
  duckdb==2.0.1
cd "$folder"
venv/bin/python - <<'PYTHON'
import duckdb

print("duckdb", duckdb.__version__)
duckdb.sql("""create table scores as select name, list_cosine_similarity(vector, [1.0, 0.0]) as score
from (values ('right', [1.0, 0.0]), ('zeros', [0.0, 0.0]), ('other', [0.0, 1.0])) as t(name, vector)""")
ranked = duckdb.sql("select name, score from scores order by score desc").fetchall()
best = duckdb.sql("select arg_max(name, score) from scores").fetchall()
above = duckdb.sql("select name from scores where score > .5 order by name").fetchall()
print(ranked, best, above)
assert [name for name, _ in ranked] == ["zeros", "right", "other"]
assert best == [("zeros",)] and above == [("right",), ("zeros",)]
PYTHON
