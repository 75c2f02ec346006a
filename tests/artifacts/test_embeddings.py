import re
from pathlib import Path

import duckdb
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

from densevse.artifacts.boxes import BOX
from densevse.artifacts.schemas.features import EMBEDDINGS
from snakeproof.store import FeatureStore, FeatureWriter

LINES = re.compile(r"^\| (pandas|pyarrow|polars|DuckDB) \| `(.+)` \|$", re.MULTILINE)


@pytest.fixture(scope="module")
def vectors(tmp_path_factory):
    """A file of three vectors, whose sums are beyond the whole numbers of float16."""
    file = tmp_path_factory.mktemp("vectors") / "file.parquet"
    rows = pd.DataFrame({"kind": "image", "image_id": ["a", "b", "c"], "caption_id": "", "text": ""})
    rows = rows.assign(start=-1, end=-1, rank=-1, **dict.fromkeys(BOX, 0.0))
    ones = np.ones((3, 4096))
    ones[1], ones[2, 7] = 0.1, 2
    with FeatureWriter(file, EMBEDDINGS, (4096,), "float16", network="alexnet") as writer:
        writer.append(rows, ones)
    return file


@pytest.mark.parametrize("library", ["pandas", "pyarrow", "polars", "DuckDB"])
def test_the_lines_of_the_page_on_artifacts_add_up_vectors_rightly(library, vectors):
    line = dict(LINES.findall((Path(__file__).parents[2] / "docs/artifacts.md").read_text()))[library]
    if library == "DuckDB":
        with duckdb.connect() as connection:
            found = [one for (one,) in connection.sql(line.replace("file.parquet", str(vectors))).fetchall()]
    else:
        names = {"np": np, "pa": pa, "pc": pc, "file": vectors}
        if library == "polars":
            names["pl"] = pytest.importorskip("polars")
        names |= {"frame": pd.read_parquet(vectors), "table": pq.read_table(vectors)}
        found = [one.as_py() if library == "pyarrow" else one for one in eval(line, names)]
    assert np.allclose(found, [4096, 4096 * float(np.float16(0.1)), 4097], rtol=1e-6)


def test_the_page_on_artifacts_finds_the_sentences_nearest_to_an_image(tmp_path):
    things = [("image", "a", ""), ("sentence", "b", "far away"), ("sentence", "a", "close by"), ("image", "b", "")]
    things.append(("word", "", "by"))  # a word is of no image
    rows = pd.DataFrame(things, columns=["kind", "image_id", "text"])
    rows = rows.assign(caption_id="", start=-1, end=-1, rank=-1, **dict.fromkeys(BOX, 0.0))
    with FeatureWriter(tmp_path / "a.parquet", EMBEDDINGS, (2,), "float16", network="alexnet") as writer:
        writer.append(rows, np.array([[1, 0], [0, 1], [0.8, 0.6], [0, 1], [1, 0]]))
    page = (Path(__file__).parents[2] / "docs/artifacts.md").read_text()
    queries = next(block for block in re.findall(r"```sql\n(.*?)```", page, re.DOTALL) if "embeddings" in block)
    queries = queries.replace("results/scenes/embeddings/vse/seed0/round0/test.parquet", f"{tmp_path}/a.parquet")
    with duckdb.connect() as connection:
        assert [text for text, _ in connection.sql(queries).fetchall()] == ["close by", "far away"]
    stored = FeatureStore([tmp_path / "a.parquet"], EMBEDDINGS)
    assert np.array_equal(stored.gather([2]), np.float16([[0.8, 0.6]]))
