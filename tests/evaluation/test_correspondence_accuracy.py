"""The accuracy of correspondences on boxes whose overlaps can be seen by eye."""

import pandas as pd
import pytest

from densevse.artifacts.boxes import BOX
from densevse.evaluation.correspondence_accuracy import accuracy
from snakeproof.errors import InputError

LEFT, RIGHT, WHOLE = (0, 0, 50, 100), (50, 0, 50, 100), (0, 0, 100, 100)


def boxes(rows):
    return pd.DataFrame(
        [{"caption_id": c, "start": s, "end": e, **dict(zip(BOX, box, strict=True))} for c, s, e, box in rows]
    )


def correspondences(rows):
    return pd.DataFrame(
        [
            {"caption_id": c, "image_id": c.split("#")[0], "start": s, "end": e, "region": region, "confidence": 0.5}
            for c, s, e, region in rows
        ]
    )


def regions(images):
    return pd.DataFrame(
        [
            {"image_id": image, "rank": rank, **dict(zip(BOX, box, strict=True))}
            for image, found in images.items()
            for rank, box in enumerate(found)
        ]
    )


REGIONS = regions({"a": [WHOLE, LEFT, RIGHT, (0, 0, 10, 10)], "b": [WHOLE]})


def by_choice(learned, true, candidates="detections"):
    return accuracy(learned, true, REGIONS, candidates).set_index("choice")


def test_each_choice_is_scored_by_its_overlap():
    learned = correspondences([("a#0", 0, 2, 1), ("a#0", 4, 6, 1)])
    true = boxes([("a#0", 0, 2, LEFT), ("a#0", 4, 6, RIGHT)])
    rows = by_choice(learned, true)
    assert rows["accuracy"].to_dict() == pytest.approx(
        {"learned": 0.5, "whole image": 1.0, "chance": 1 / 3, "best possible": 1.0}
    )
    assert rows.loc["learned", "overlap"] == pytest.approx(0.5)
    assert rows.loc["whole image", "overlap"] == pytest.approx(0.5)
    assert set(rows["phrases"]) == {2}


def test_the_best_of_several_true_boxes_counts():
    learned = correspondences([("a#0", 0, 2, 2)])
    true = boxes([("a#0", 0, 2, LEFT), ("a#0", 0, 2, RIGHT)])
    assert by_choice(learned, true).loc["learned", "overlap"] == pytest.approx(1.0)
    assert by_choice(learned, true).loc["chance", "accuracy"] == pytest.approx(2 / 3)


def test_only_phrases_with_a_true_box_count():
    learned = correspondences([("a#0", 0, 2, 1), ("a#0", 3, 5, 2), ("a#1", 0, 2, 2)])
    true = boxes([("a#0", 0, 2, LEFT), ("a#1", 0, 3, LEFT), ("a#9", -1, -1, LEFT)])
    rows = by_choice(learned, true)
    assert rows.loc["learned", "phrases"] == 1
    assert rows.loc["learned", "accuracy"] == 1


def test_the_whole_image_is_a_candidate_where_asked_or_alone():
    alone = by_choice(correspondences([("b#0", 0, 2, 0)]), boxes([("b#0", 0, 2, LEFT)]))
    assert alone.loc["chance", "overlap"] == alone.loc["best possible", "overlap"] == pytest.approx(0.5)
    learned, true = correspondences([("a#0", 0, 2, 1)]), boxes([("a#0", 0, 2, WHOLE)])
    assert by_choice(learned, true).loc["best possible", "overlap"] == pytest.approx(0.5)
    assert by_choice(learned, true, "all").loc["best possible", "overlap"] == pytest.approx(1.0)


def test_many_phrases_are_scored_alike_in_pieces(monkeypatch):
    learned = correspondences([("a#0", i, i + 2, 1 + i % 3) for i in range(7)])
    true = boxes([("a#0", i, i + 2, LEFT) for i in range(7)])
    whole = by_choice(learned, true)
    monkeypatch.setattr("densevse.evaluation.correspondence_accuracy.PHRASES_AT_ONCE", 2)
    pd.testing.assert_frame_equal(by_choice(learned, true), whole)


def test_no_phrase_with_a_true_box_is_an_error():
    with pytest.raises(InputError, match="none of the 1 phrases has a true box"):
        by_choice(correspondences([("a#0", 0, 2, 1)]), boxes([("a#7", 0, 2, LEFT)]))
