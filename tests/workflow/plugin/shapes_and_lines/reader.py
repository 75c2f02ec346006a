"""Reads lines of a split, a file and a sentence."""

from pathlib import Path

import pandas as pd


def read(options, paths):
    lines = Path(paths["text"]).read_text().splitlines()
    rows = pd.DataFrame([line.split(options.separator) for line in lines], columns=["split", "file", "text"])
    rows = rows.assign(image_id=rows["file"], source="images")
    return rows[["image_id", "source", "file", "split"]].drop_duplicates(), rows[["image_id", "text"]]
