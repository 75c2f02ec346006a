#!/usr/bin/env bash
# Guess, written before the run: "The first rank minus the third is -2, and the length of a caption minus that of a
# longer one is below 0."
# Seen on 2026-11-30: ranks, lengths of texts and of lists, and numbers of rows are UInt32 in polars: rank 1 minus
# rank 3 is 4294967294, and no difference is below 0. Ranks by the method "average", which is what `rank()` takes,
# are floats, and their difference is -2.
# Hurts: who compares the ranks of two models, or the lengths of two captions: the mean is huge if it is looked at, and
# a filter for "worse than before" keeps no row.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check \
  polars==2.1.0
cd "$folder"
venv/bin/python - <<'PYTHON'
import polars as pl

print("polars", pl.__version__)
table = pl.DataFrame({"old": [0.1, 0.2, 0.3], "new": [0.3, 0.2, 0.1], "caption": ["a", "men", "a dog"]})
found = table.select(
    least=pl.col("old").rank("min") - pl.col("new").rank("min"),
    average=pl.col("old").rank() - pl.col("new").rank(),
    length=pl.col("caption").str.len_chars() - pl.lit("men").str.len_chars(),
    words=pl.col("caption").str.split(" ").list.len() - pl.lit("a dog").str.split(" ").list.len(),
)
print(found)
assert found["least"].to_list() == [4294967294, 0, 2] and found["average"].to_list() == [-2, 0, 2]
assert found["length"].to_list() == [4294967294, 0, 2] and found["words"].to_list() == [4294967295, 4294967295, 0]
assert found.filter(pl.col("least") < 0).is_empty()
PYTHON
