import numpy as np
import pandas as pd
import pytest

from densevse.artifacts.boxes import BOX, intersection_over_union
from densevse.config.proposers import Clustered
from densevse.vision.clusters import choose_boxes, cluster_proposals

GROUPS = [(0, 0), (200, 0), (0, 200), (200, 200)]


def crowded(seed=0, each=30):
    """Four crowds of boxes of about 60 x 60 pixels, in an order that mixes them; the first crowd leads."""
    random = np.random.default_rng(seed)
    boxes = [[x + dx, y + dy, 60, 60] for x, y in GROUPS for dx, dy in random.uniform(-5, 5, (each, 2))]
    return np.array(boxes, np.float32)


def options(**changes):
    return Clustered(of="selective_search_fast", **{"boxes": 4, "smallest_area": 0, **changes})


def test_one_box_of_each_crowd_stays_its_first():
    assert choose_boxes(crowded(), options()).tolist() == [0, 30, 60, 90]


def test_the_first_boxes_alone_would_crowd_on_one_thing():
    boxes = crowded()
    kept = boxes[choose_boxes(boxes, options())]
    assert intersection_over_union(boxes[:4, None], boxes[None, :4]).min() > 0.5
    assert np.allclose(intersection_over_union(kept[:, None], kept[None]), np.eye(4), atol=1e-5)


@pytest.mark.parametrize(
    ("box", "stays"),
    [((0, 0, 30, 30), True), ((0, 0, 29, 30), False), ((0, 0, 120, 30), True), ((0, 0, 30, 121), False)],
)
def test_small_and_long_boxes_are_left_out(box, stays):
    found = choose_boxes(np.array([box], np.float32), options(smallest_area=900, longest_ratio=4))
    assert found.tolist() == [0] * stays


def test_few_boxes_all_stay_and_none_is_none():
    assert choose_boxes(crowded()[:3], options()).tolist() == [0, 1, 2]
    assert choose_boxes(np.empty((0, 4), np.float32), options()).tolist() == []


def test_only_the_first_are_considered():
    assert choose_boxes(crowded(), options(considered=60)).max() < 60
    assert len(choose_boxes(crowded(), options(boxes=200))) == 120


def test_equal_boxes_are_one_cluster():
    same = np.tile(np.array([[0, 0, 50, 50]], np.float32), (9, 1))
    assert choose_boxes(same, options()).tolist() == [0]


def frame(image_id, boxes):
    rows = pd.DataFrame(boxes, columns=BOX).assign(image_id=image_id, score=1.0, class_name="dog")
    return rows.assign(rank=np.arange(len(rows), dtype=np.int32))


def test_images_keep_their_order_and_boxes_are_ranked_anew():
    proposals = pd.concat([frame("b", crowded(0)), frame("a", crowded(1)[:2])])
    found = cluster_proposals(proposals, options())
    assert found["image_id"].tolist() == ["b"] * 4 + ["a"] * 2
    assert found["rank"].tolist() == [0, 1, 2, 3, 0, 1]
    assert set(found["class_name"]) == {""}
    assert found.dtypes["rank"] == proposals.dtypes["rank"]


def test_no_proposals_at_all():
    assert cluster_proposals(frame("a", crowded()).iloc[:0], options()).empty
