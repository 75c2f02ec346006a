"""The share of saliency in true boxes, on maps whose shares can be counted by hand."""

import numpy as np
import pandas as pd
import pytest

from densevse.analyses.attention.saliency import central_blob, score
from densevse.artifacts.boxes import BOX, covered_shares, grid_cells
from snakeproof.errors import InputError

SIDE, STEPS = 4, 2


GRID = grid_cells(40, 40, SIDE * SIDE)


def rows_of(image_id, places, words, boxes=GRID):
    """SALIENCY rows of an image: (T, places) weights of places with `boxes`, by default a grid, and (T, n) of words."""
    rows = []
    for step, (of_places, of_words) in enumerate(zip(places, words, strict=True), 1):
        common = {"image_id": image_id, "caption_id": f"{image_id}#0", "step": step}
        rows += [
            {**common, "place": place, "word": "", **dict(zip(BOX, boxes[place], strict=True)), "weight": weight}
            for place, weight in enumerate(of_places)
        ]
        rows += [
            {**common, "place": place, "word": f"w{place}", **dict.fromkeys(BOX, 0.0), "weight": weight}
            for place, weight in enumerate(of_words)
        ]
    return pd.DataFrame(rows)


def attended(regions, weights):
    """SALIENCY rows of an image: words, each of which is a step, that attend to regions (n, 4)."""
    return rows_of("a", weights, np.eye(len(weights)), regions)


def box(image_id, start, end, *sides):
    names = dict(zip(BOX, sides, strict=True))
    return {"image_id": image_id, "caption_id": f"{image_id}#0", "phrase": "", "start": start, "end": end, **names}


def each_its_own(boxes):
    """Images of 40 x 40 pixels, each a family of its own."""
    return images(boxes["image_id"].unique())


def images(names, families=None):
    return pd.DataFrame(
        {"image_id": names, "family": names if families is None else families, "width": 40, "height": 40}
    )


def test_shares_are_those_counted_by_hand():
    first = np.zeros(16)
    first[[0, 5]] = 0.75, 0.25  # the top left cell, and one whose left half is in the box below
    uniform = np.full(16, 1 / 16)
    saliency = rows_of("a", [first, uniform], [[0.5, 0.3, 0.2, 0.0], [0.0, 0.1, 0.2, 0.7]])
    boxes = pd.DataFrame([box("a", 1, 2, 0, 0, 15, 20), box("a", 3, 4, 20, 20, 20, 20), box("a", -1, -1, 0, 0, 40, 40)])
    found = score(saliency, boxes, each_its_own(boxes)).set_index("step")
    assert found.loc[1, "share"] == pytest.approx(0.75 + 0.25 / 2)  # words 0 and 1: the first box
    assert found.loc[1, "chance"] == pytest.approx(3 / 16)
    assert found.loc[2, "share"] == pytest.approx(4 / 16)  # words 3 and 2: the second box
    assert found.loc[2, "blob"] == pytest.approx(1 / 4)  # a quarter of a symmetric map
    assert found.loc[0, "share"] == pytest.approx((found.loc[1, "share"] + found.loc[2, "share"]) / 2)
    assert (found["images"] == 1).all()


def test_intervals_tell_a_model_that_looks_at_things_from_one_that_does_not():
    generator = np.random.default_rng(0)
    right, wrong, boxes = [], [], []
    for number in range(60):
        place = int(generator.integers(16))
        x, y = place % SIDE * 10, place // SIDE * 10
        boxes.append(box(str(number), 0, 1, x, y, 10, 10))
        looks = np.full(16, 0.02)
        looks[place] = generator.uniform(0.5, 0.7)
        right.append(rows_of(str(number), [looks] * STEPS, [[1.0]] * STEPS))
        wrong.append(rows_of(str(number), [generator.dirichlet(np.ones(16))] * STEPS, [[1.0]] * STEPS))
    boxes = pd.DataFrame(boxes)
    for tables, excluded in ((right, True), (wrong, False)):
        found = score(pd.concat(tables), boxes, each_its_own(boxes)).set_index("step").loc[0]
        assert (found["over_chance_low"] > 0) == excluded
        assert (found["over_blob_low"] > 0) == excluded
        assert found["over_chance_low"] < found["over_chance"] < found["over_chance_high"]


def test_images_of_one_family_are_drawn_together():
    """Copies of an image add no information: the interval is as wide as without them."""
    generator = np.random.default_rng(2)
    maps = generator.dirichlet(np.ones(16), 40)
    names = [f"{number}/{copy}" for copy in range(4) for number in range(40)]
    saliency = pd.concat([rows_of(name, [maps[n % 40]], [[1.0]]) for n, name in enumerate(names)])
    boxes = pd.DataFrame([box(name, 0, 1, 0, 0, 10, 10) for name in names])
    width = {}
    for drawn, families in (("family", [name.partition("/")[0] for name in names]), ("image", names)):
        found = score(saliency, boxes, images(names, families)).iloc[0]
        width[drawn] = found["over_chance_high"] - found["over_chance_low"]
    assert width["image"] == pytest.approx(width["family"] / 2, rel=0.15)


def test_a_word_that_attends_to_regions_is_right_as_far_as_they_lie_in_its_boxes():
    """Steps are words, each with the weight 1, and places are regions, which need not cover the image."""
    regions = np.array([[0, 0, 10, 10], [20, 20, 20, 20], [0, 0, 40, 40]], float)
    saliency = attended(regions, [[0.7, 0.2, 0.1], [0.1, 0.6, 0.3]])
    boxes = pd.DataFrame([box("a", 1, 2, 20, 20, 20, 20)])
    found = score(saliency, boxes, each_its_own(boxes)).set_index("step")
    assert list(found.index) == [0, 2]  # the first word has no box, though its step is the same image's
    assert found.loc[2, "share"] == pytest.approx(0.6 + 0.3 / 4)
    assert found.loc[2, "chance"] == pytest.approx((1 + 1 / 4) / 3)
    with pytest.raises(InputError, match="saliency of a: its regions have no boxes"):
        score(attended(regions * 0, [[0.7, 0.2, 0.1], [0.1, 0.6, 0.3]]), boxes, each_its_own(boxes))


def test_no_known_box_is_an_error():
    saliency = rows_of("a", [np.full(16, 1 / 16)], [[1.0, 0.0]])
    with pytest.raises(InputError, match="other captions"):
        score(saliency, boxes := pd.DataFrame([box("b", 0, 1, 0, 0, 1, 1)]), each_its_own(boxes))


def test_a_pixel_in_two_boxes_counts_once():
    generator = np.random.default_rng(1)
    cells = grid_cells(32, 32, 16)
    boxes = np.concatenate((generator.integers(0, 20, (5, 2)), generator.integers(1, 12, (5, 2))), axis=1).astype(float)
    pixels = np.zeros((32, 32))
    for x, y, width, height in boxes.astype(int):
        pixels[y : y + height, x : x + width] = 1
    expected = pixels.reshape(4, 8, 4, 8).mean(axis=(1, 3)).ravel()
    np.testing.assert_allclose(covered_shares(cells, boxes), expected)


def test_the_grid_covers_the_whole_image_as_the_network_does():
    cells = grid_cells(210, 140, 49)
    assert cells[0].tolist() == [0, 0, 30, 20]
    assert cells[-1].tolist() == [180, 120, 30, 20]
    with pytest.raises(ValueError, match="not a square grid"):
        grid_cells(10, 10, 12)


def test_the_blob_is_central():
    blob = central_blob(grid_cells(210, 140, 49), np.array([210.0, 140.0])).reshape(7, 7)
    assert blob.sum() == pytest.approx(1)
    assert blob.argmax() == 24
    np.testing.assert_allclose(blob, blob.T)
