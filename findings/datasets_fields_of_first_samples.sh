#!/usr/bin/env bash
# Guess, written before the run: "A field that only later samples of a WebDataset have is a column, empty for the
# others."
# Seen on 2026-11-29: the first five samples decide. A field from the fourth or fifth on is refused with a ValueError;
# one from the sixth on is left out without a message. A field that a later sample lacks is None, as guessed.
# Hurts: who adds boxes or a second caption to some samples of a shard: their absence is not seen.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check \
  datasets==5.2.0 pyarrow==26.0.1
cd "$folder"
venv/bin/python - <<'PYTHON'
import io
import tarfile

import datasets

print("datasets", datasets.__version__)
columns = {}
for first in (3, 4, 5, 6):
    with tarfile.open(f"from{first}.tar", "w") as shard:
        for number in range(9):
            for kind in ("txt", "json") if number >= first else ("txt",):
                content = b"a dog" if kind == "txt" else b'{"boxes": 1}'
                member = tarfile.TarInfo(f"{number}.{kind}")
                member.size = len(content)
                shard.addfile(member, io.BytesIO(content))
    try:
        file = f"from{first}.tar"
        rows = datasets.load_dataset("webdataset", data_files=file, split="train", cache_dir=f"cache{first}")
        columns[first] = sorted(rows.column_names)
    except ValueError as error:
        columns[first] = type(error).__name__
    print(f"json from sample {first + 1} on:", columns[first])
assert columns[3] == columns[4] == "ValueError"
assert columns[5] == columns[6] == ["__key__", "__url__", "txt"]
PYTHON
