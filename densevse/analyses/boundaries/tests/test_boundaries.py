"""Boundaries: one-to-one matching, thin lines, the ultrametric map of a hierarchy, and the table."""

import itertools

import cv2
import numpy as np
import pandas as pd
import pytest
from scipy.io import savemat

from densevse.analyses.boundaries.bsds import photographs, read_author_contours, read_boundaries
from densevse.analyses.boundaries.matching import (
    BOUNDARY_MATCHES,
    TOLERANCE,
    match_lines,
    matches,
    summary,
    table,
    thin_lines,
    ultrametric_map,
    write_matches,
    write_table,
)
from densevse.artifacts.schemas.proposals import CONTOURS
from densevse.vision.mcg.hierarchy import hierarchies, thin_contours
from snakeproof.errors import InputError
from snakeproof.schema import arrow_table, read, write
from tests.vision.mcg.pictures import noise

HEIGHT, WIDTH = 120, 160  # pixels match within 1.5


def test_as_many_pixels_as_possible_are_matched_one_to_one():
    random = np.random.default_rng(0)
    lines, person = (random.random((HEIGHT, WIDTH)) < 0.0005 for _ in range(2))
    lines[10:12, 10:12], person[10, 10:13] = True, True
    right, found = match_lines(lines, person)
    assert right.sum() == found.sum()
    first, second = np.argwhere(lines), np.argwhere(person)
    radius = TOLERANCE * np.hypot(HEIGHT, WIDTH)
    near = np.hypot(*(first[:, None] - second[None]).transpose(2, 0, 1)) <= radius
    # Hall: a largest matching leaves out as many pixels as the worst set lacks partners.
    local = [row for row in range(len(first)) if near[row].any()]
    lacking = max(
        (len(chosen) - near[list(chosen)].any(axis=0).sum())
        for size in range(len(local) + 1)
        for chosen in itertools.combinations(local, size)
    )
    assert right.sum() == len(local) - lacking


def test_nothing_drawn_matches_nothing():
    right, found = match_lines(np.zeros((9, 9), bool), np.eye(9, dtype=bool))
    assert (len(right), found.sum()) == (0, 0)


def test_the_boundaries_themselves_have_an_f_of_one():
    person = np.zeros((HEIGHT, WIDTH), bool)
    person[:, 80] = True
    rows = matches("a", "map", np.where(person, 0.5, 0.0), [person, person])
    arrow_table(rows, BOUNDARY_MATCHES, "a test")
    facts = summary(rows)
    assert facts["ods"] == facts["ois"] == facts["precision"] == facts["recall"] == pytest.approx(1)
    assert table(rows).sheets[0].rows == [["map", "1", "1.000", "1.000", "0.040", "1.000", "1.000"]]


def test_each_image_has_its_best_threshold_for_ois():
    rows = pd.DataFrame(
        [
            ("a", "m", 0.1, 10, 10, 10, 10),
            ("a", "m", 0.9, 0, 0, 0, 10),
            ("b", "m", 0.1, 10, 90, 10, 10),
            ("b", "m", 0.9, 10, 10, 10, 10),
        ],
        columns=[column.name for column in BOUNDARY_MATCHES.columns],
    )
    facts = summary(rows)
    assert facts["ois"] == pytest.approx(1)
    assert facts["ods"] == pytest.approx(2 * 0.5 / 1.5)  # at 0.9: precision 1, recall 1/2


def test_a_thick_line_becomes_thin_where_it_is_strongest():
    thick = cv2.GaussianBlur(np.eye(60, dtype=np.float64), (0, 0), 3)
    thin = thin_contours(thick) > 0.05
    assert thin[np.arange(10, 50), np.arange(10, 50)].all()
    assert thin[20:40, 20:40].sum() <= 60
    assert thin_lines(thick > 0.03)[30].sum() <= 2


def test_the_ultrametric_map_cut_anywhere_is_the_partition_of_the_hierarchy():
    found = hierarchies([noise(40, 50), noise(40, 50, 1, 6)], 10_000)
    drawn, tree, labels = ultrametric_map(found), found.trees[0], found.superpixels.labels
    threshold = float(np.quantile(tree.altitudes, 0.8))
    region = np.arange(len(tree.altitudes))
    for node in range(len(tree.altitudes) - 2, -1, -1):
        parent = tree.parents[node]
        if tree.altitudes[parent] < threshold:
            region[node] = region[parent]
    cut = region[labels]
    across, down = cut[:, :-1] != cut[:, 1:], cut[:-1] != cut[1:]
    expected = np.zeros(labels.shape, bool)
    expected[:, :-1] |= across
    expected[:-1] |= down
    assert (expected == (drawn >= threshold)).all()


def test_a_folder_is_read_in_the_layout_of_bsds(tmp_path):
    for name in ("images", "groundTruth", "ucm2"):
        (tmp_path / name).mkdir()
    with pytest.raises(InputError, match="no images"):
        photographs(tmp_path)
    cv2.imwrite(str(tmp_path / "images/12.jpg"), noise(20, 30))
    assert photographs(tmp_path)["image_id"].tolist() == ["12"]
    with pytest.raises(InputError, match=r"12\.mat: no `groundTruth`"):
        read_boundaries(tmp_path, "12")
    person = np.empty((1, 2), object)
    person[0, 0] = {"Boundaries": np.eye(20, 30, dtype=np.uint8)}
    person[0, 1] = {"Boundaries": np.zeros((20, 30), np.uint8)}
    savemat(tmp_path / "groundTruth/12.mat", {"groundTruth": person})
    assert [one.sum() for one in read_boundaries(tmp_path, "12")] == [20, 0]
    assert read_author_contours(tmp_path, "12") is None
    doubled = np.zeros((41, 61), np.uint8)
    doubled[2::2, 2::2] = 51
    savemat(tmp_path / "ucm2/12.mat", {"ucm2": doubled})
    pictures = [cv2.imencode(".png", noise(20, 30, seed))[1].tobytes() for seed in range(2)]
    contours = pd.DataFrame({"image_id": ["12"] * 2, "scale": [1.0, 0.5], "picture": pictures})
    paths = {name: str(tmp_path / f"{name}.parquet") for name in ("contours", "matches")}
    write(contours.astype({"scale": "float32"}), CONTOURS, paths["contours"])
    write_matches(str(tmp_path), paths["contours"], superpixels=100, threads=1, output=paths["matches"])
    rows = read(paths["matches"], BOUNDARY_MATCHES)
    assert len(rows["map"].unique()) == 4
    of_authors = rows[rows["map"].str.startswith("gPb")].set_index("threshold")
    assert (of_authors["drawn"] > 0).tolist() == (np.array(of_authors.index) <= 0.2).tolist()
    pages = [str(tmp_path / f"table.{ending}") for ending in ("md", "html", "tex")]
    write_table(paths["matches"], *pages)
    assert "gPb-UCM" in (tmp_path / "table.md").read_text()
