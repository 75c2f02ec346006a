from pathlib import Path

import pandas as pd

from densevse.analyses.relation_counts.table import read_published_counts, table, write_table
from densevse.artifacts.schemas.sentences import FRAGMENTS
from snakeproof import schema

PUBLISHED = Path(__file__).parents[1] / "published/defrag.csv"


def fragments(**changed):
    values = {column.name: [1000, 2000, 10] for column in FRAGMENTS.columns} | {
        "part": ["train", "all", "val"],
        "relations": [220, 227, 150],
        "frequent_relations": [18, 19, 17],
        "rare_relation": [0.11, 0.12, 0.1],
        "unknown_word": [0.0004, 0.0039, 0.02],
    }
    return pd.DataFrame(values | changed)


def cells(document):
    lines = [line for line in document.markdown().splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:]]


def test_ours_stand_below_the_papers_over_all_and_over_training():
    published = read_published_counts(PUBLISHED, "flickr8k")
    rows = cells(table("Flickr8k", {"enhanced": fragments(), "basic": fragments(relations=[40] * 3)}, published))
    assert [row[:5] for row in rows] == [
        ["collapsed, published", "the whole data set", "", "170", "17"],
        ["enhanced", "the whole data set", "2,000", "227", "19"],
        ["enhanced", "training", "1,000", "220", "18"],
        ["basic", "the whole data set", "2,000", "40", "19"],
        ["basic", "training", "1,000", "40", "18"],
    ]
    assert [row[6:8] for row in rows] == [["", ""], *[["12.00", "0.39"], ["11.00", "0.04"]] * 2]


def test_a_data_set_that_the_paper_does_not_have_shows_ours_alone():
    rows = cells(table("Scenes", {"enhanced": fragments()}, read_published_counts(PUBLISHED, "scenes")))
    assert [row[0] for row in rows] == ["enhanced", "enhanced"]


def test_a_table_is_written_from_files(tmp_path):
    for kind, relations in {"enhanced": 227, "basic": 40}.items():
        schema.write(fragments(relations=[relations] * 3), FRAGMENTS, tmp_path / f"{kind}.parquet")
    files = {kind: str(tmp_path / f"{kind}.parquet") for kind in ("enhanced", "basic")}
    outputs = {form: str(tmp_path / f"table.{form}") for form in ("markdown", "html", "latex")}
    write_table(**files, published=str(PUBLISHED), title="Flickr8k", wildcards={"dataset": "flickr8k"}, **outputs)
    text = (tmp_path / "table.markdown").read_text()
    assert text.index("collapsed, published") < text.index("enhanced") < text.index("basic")
    assert all(Path(output).stat().st_size > 0 for output in outputs.values())
