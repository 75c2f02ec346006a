import re
from pathlib import Path

import duckdb
import numpy as np
import pandas as pd

from densevse.artifacts.boxes import BOX
from densevse.artifacts.schemas.features import EMBEDDINGS
from snakeproof.store import FeatureStore, FeatureWriter


def test_the_page_on_artifacts_finds_the_sentences_nearest_to_an_image(tmp_path):
    things = [("image", "a", ""), ("sentence", "b", "far away"), ("sentence", "a", "close by"), ("image", "b", "")]
    rows = pd.DataFrame(things, columns=["kind", "image_id", "text"])
    rows = rows.assign(caption_id="", start=-1, end=-1, rank=-1, **dict.fromkeys(BOX, 0.0))
    with FeatureWriter(tmp_path / "a.parquet", EMBEDDINGS, (2,), "float16", network="alexnet") as writer:
        writer.append(rows, np.array([[1, 0], [0, 1], [0.8, 0.6], [0, 1]]))
    page = (Path(__file__).parents[2] / "docs/artifacts.md").read_text()
    queries = next(block for block in re.findall(r"```sql\n(.*?)```", page, re.DOTALL) if "embeddings" in block)
    queries = queries.replace("results/scenes/embeddings/vse/seed0/round0/test.parquet", f"{tmp_path}/a.parquet")
    with duckdb.connect() as connection:
        assert [text for text, _ in connection.sql(queries).fetchall()] == ["close by", "far away"]
    stored = FeatureStore([tmp_path / "a.parquet"], EMBEDDINGS)
    assert np.array_equal(stored.gather([2]), np.float16([[0.8, 0.6]]))
