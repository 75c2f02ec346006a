"""The recall of true boxes by proposals, and its table."""

from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest

from densevse.analyses.proposal_recall.recall import PROPOSAL_RECALL, recall, write_recall
from densevse.analyses.proposal_recall.table import PUBLISHED_PROPOSALS, Published, table, write_table
from densevse.artifacts.boxes import BOX
from densevse.artifacts.identity import Identity, read_identity
from densevse.artifacts.schemas.datasets import BOXES
from densevse.artifacts.schemas.proposals import PROPOSAL_TIMES, PROPOSALS, SEGMENT_OVERLAP
from densevse.report.published import read_rows
from snakeproof import schema
from snakeproof.errors import InputError
from snakeproof.statements import Statement, making
from tests.pictures import write_images
from tests.tables import unaligned

PUBLISHED = Path(__file__).parents[1] / "published"


def boxes(*rows, start=-1) -> pd.DataFrame:
    return pd.DataFrame(rows, columns=["image_id", *BOX, "score"]).assign(start=start)


def recall_of(proposals, true, segment_overlap=None):
    """With a family for each image."""
    return recall(proposals, true, {name: name for name in true["image_id"]}, segment_overlap)


def test_recall():
    true = boxes(("a", 0, 0, 10, 10, 0), ("a", 50, 50, 10, 10, 0), ("b", 0, 0, 10, 10, 0))
    proposals = pd.concat([boxes(*(("a", i, 20, 1, 1, 0) for i in range(99))), boxes(("a", 0, 0, 10, 5, 0))])
    proposals = pd.concat([proposals, boxes(("a", 50, 50, 10, 10, 0))])
    found = recall_of(proposals, true).set_index("boxes")
    assert found.loc[100, "average_best_overlap"] == pytest.approx(0.5 / 3)
    assert found.loc[100, "recall_50"] == pytest.approx(1 / 3)
    assert found.loc[300, "recall_50"] == found.loc[0, "recall_50"] == pytest.approx(2 / 3)
    assert found.loc[0, "boxes_mean"] == 101 / 2
    assert (found["true_boxes"] == 3).all()
    assert (found["images"] == 2).all()
    assert found.loc[0, ["recall_50_low", "recall_50_high"]].isna().all()  # two images are too few to draw from
    assert found["segment_jaccard"].isna().all()


def test_intervals_are_drawn_over_images():
    """Of ten images, with all boxes found or none, a draw has as many with all as ten coins have heads."""
    true = boxes(*((f"i{n}", place, 0, 10, 10, 0) for n in range(10) for place in (0, 20, 40, 60)))
    found = recall_of(true[true["image_id"] < "i5"], true).set_index("boxes").loc[0]
    assert found[["recall_50_low", "recall_50", "recall_50_high"]].tolist() == pytest.approx([0.2, 0.5, 0.8])


def test_images_of_one_family_are_drawn_together():
    true = boxes(*((f"i{n:02}", 0, 0, 10, 10, 0) for n in range(20)))
    families = {f"i{n:02}": f"family {n // 2}" for n in range(20)}
    found = recall(true[true["image_id"] < "i10"], true, families).set_index("boxes").loc[0]
    assert found[["recall_50_low", "recall_50", "recall_50_high"]].tolist() == pytest.approx([0.2, 0.5, 0.8])


def test_an_object_counts_once_however_many_phrases_name_it():
    things = boxes(("a", 0, 0, 10, 10, 0), ("a", 50, 50, 10, 10, 0))
    phrases = boxes(("a", 0, 0, 10, 10, 0), ("a", 0, 0, 10, 10, 0), ("a", 0, 0, 60, 60, 0), start=3)
    proposals = boxes(("a", 0, 0, 10, 10, 0))
    with_things = recall_of(proposals, pd.concat([things, phrases])).iloc[0]
    assert with_things[["recall_50", "true_boxes"]].tolist() == [0.5, 2]
    assert recall_of(proposals, phrases).iloc[0][["recall_50", "true_boxes"]].tolist() == [0.5, 2]


def test_the_jaccard_of_segments_is_a_mean_over_objects():
    overlap = [("a", 0, 100, 0.2), ("a", 1, 100, 0.4), ("b", 0, 100, 0.9), ("a", 0, 0, 1.0)]
    frame = pd.DataFrame(overlap, columns=["image_id", "object", "segments", "jaccard"])
    found = recall_of(boxes(), boxes(("a", 0, 0, 9, 9, 0), ("b", 0, 0, 9, 9, 0)), frame).set_index("boxes")
    assert found.loc[100, "segment_jaccard"] == pytest.approx(0.5)
    assert found.loc[0, "segment_jaccard"] == 1


def test_the_table_of_proposals_shows_intervals_published_figures_and_times():
    true = boxes(*((f"i{n}", 0, 0, 10, 10, 0) for n in range(10)))
    one = true[true["image_id"] == "i0"]
    rows = [{"proposer": "MCG", "boxes": 100, "boxes_mean": 100.0, "recall_50": 0.435, "segment_jaccard": None}]
    times = pd.DataFrame({"step": ["contours", "candidates", "order"], "seconds": [3.0, 1.0, 0.5], "images": 9})
    recalls = {"ten": recall_of(true, true), "one": recall_of(one, one)}
    found = table("Test", recalls, {"one": times}, Published(rows, "9 images", "a paper"))
    text = unaligned(found.markdown())
    assert "| ten | all | 1 | 1.000 [1.000, 1.000] | 1.000 [1.000, 1.000] |" in text
    assert "| one | all | 1 | 1.000 | 1.000 |" in text
    assert "Fewer than 10 images or families are too few" in text
    assert "| MCG, published | 100 | 100 |  | 0.435 |  |  |  |" in text
    assert "| one | 1.50 | 3.00 | candidates 1.00, order 0.50 |" in text
    assert "1 true boxes of 1 images or 10 true boxes of 10 images" in text
    assert "Published: 9 images; a paper." in text


def test_the_order_of_recalls_and_times_changes_no_byte(tmp_path):
    true, recalls, times = boxes(*((f"i{n}", 0, 0, 10, 10, 0) for n in range(10))), [], []
    for n, proposer in enumerate(("mcg", "selective_search_fast", "boxes")):
        of = Identity("coco", proposer)
        recalls.append(str(tmp_path / f"recall{n}.parquet"))
        schema.write(recall_of(true[n:], true), PROPOSAL_RECALL, recalls[-1], **of.values())
        steps = pd.DataFrame({"step": ["order"], "seconds": [n + 0.5], "images": [9]})
        times.append(str(tmp_path / f"times{n}.parquet"))
        schema.write(steps.astype({"seconds": "float32", "images": "int32"}), PROPOSAL_TIMES, times[-1], **of.values())
    names = ["selective_search_fast", "mcg", "boxes"]
    plan = {"title": "MS-COCO", "dataset": "coco", "proposers": names, "timed": names[:2]}
    published = [str(PUBLISHED / "coco.csv"), str(PUBLISHED / "coco.yaml")]
    outputs = {form: str(tmp_path / f"table.{form}") for form in ("markdown", "html", "latex")}
    found = []
    for order in (list, lambda paths: paths[::-1], lambda paths: [*paths[1:], paths[0]]):
        files = {"recalls": order(recalls), "times": order(times), "published": order(published)}
        write_table(**files, plan=plan, **outputs)
        found.append([Path(file).read_bytes() for file in outputs.values()])
    assert found[0] == found[1] == found[2]
    assert "| MCG, published | 100 |" in unaligned(found[0][0].decode())
    with pytest.raises(InputError, match="no proposal_recall artifact is of dataset coco, variant mcg"):
        write_table(recalls[1:], plan, times=times, **outputs)


def test_recall_without_true_boxes_is_refused():
    with pytest.raises(InputError, match="no true box"):
        recall_of(boxes(), boxes())


def test_recall_is_measured_from_shards_and_without_overlaps_of_segments_too(tmp_path):
    files = {name: str(tmp_path / f"{name}.parquet") for name in ("boxes", "output")}
    files["image_table"] = write_images(tmp_path, "ab")
    shards = {
        name: [str(tmp_path / f"{name}{n}.parquet") for n in range(2)] for name in ("proposals", "segment_overlap")
    }
    for n, name in enumerate("ab"):
        found = boxes((name, 0, 0, 10, 10, 1)).drop(columns="start").assign(rank=0, class_name="")
        schema.write(found, PROPOSALS, shards["proposals"][n])
        overlap = pd.DataFrame({"image_id": [name], "object": 0, "segments": 0, "jaccard": [0.5 + n / 4]})
        schema.write(overlap.astype({"jaccard": "float32"}), SEGMENT_OVERLAP, shards["segment_overlap"][n])
    true = boxes(("a", 0, 0, 10, 10, 0), ("b", 50, 50, 10, 10, 0)).drop(columns="score")
    schema.write(true.assign(end=-1, caption_id="", phrase="dog"), replace(BOXES, rules=()), files["boxes"])
    with making(Statement(wildcards={"dataset": "scenes", "proposer": "mcg"})):
        write_recall(**files, **shards)
    with_segments = schema.read(files["output"], PROPOSAL_RECALL).set_index("boxes").loc[0]
    assert with_segments[["recall_50", "segment_jaccard"]].tolist() == [0.5, 0.625]
    assert read_identity(files["output"]) == Identity("scenes", "mcg")
    write_recall(**files, proposals=shards["proposals"])
    assert schema.read(files["output"], PROPOSAL_RECALL)["segment_jaccard"].isna().all()


def test_every_published_file_fits_its_columns():
    assert all(read_rows(file, PUBLISHED_PROPOSALS) for file in PUBLISHED.glob("*.csv"))
