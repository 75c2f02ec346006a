import cv2
import numpy as np
import pandas as pd

from densevse.analyses.attention.figures import averaged_maps, saliency_maps, salient_words, shaded
from densevse.analyses.attention.schemas import SALIENCY
from densevse.artifacts import schema
from densevse.artifacts.boxes import BOX, grid_cells
from densevse.artifacts.identity import Identity
from densevse.report.plan import PicturePlan, ShownArtifact
from tests.analyses.attention.test_saliency import rows_of
from tests.pictures import tables

__all__ = ["tables"]


def test_the_attended_part_is_light_and_the_rest_dark():
    boxes = grid_cells(60, 40, 16)
    cells = pd.DataFrame(boxes, columns=BOX).assign(place=range(16), weight=0.0)
    cells.loc[0, "weight"] = 1.0
    picture = shaded(np.full((40, 60, 3), 200, np.uint8), cells)
    assert picture[2, 2].tolist() == [200, 200, 200]
    assert picture[30, 40].max() == 0


def test_the_two_most_salient_words_in_their_order():
    rows = rows_of("a", [np.full(16, 1 / 16)], [[0.2, 0.1, 0.6, 0.1]])
    assert salient_words(rows) == ["w0", "w2"]


def test_averaged_maps_are_drawn(tmp_path):
    rows = pd.concat([rows_of(name, [np.eye(16)[n], np.full(16, 1 / 16)], [[1.0]] * 2) for n, name in enumerate("ab")])
    schema.write(rows.reset_index(drop=True), SALIENCY, tmp_path / "saliency.parquet", {})
    averaged_maps(str(tmp_path / "saliency.parquet"), "A model", str(tmp_path / "mean.png"))
    assert cv2.imread(str(tmp_path / "mean.png")).std() > 10


def test_maps_of_two_models_are_drawn_beside_the_images(tables, tmp_path):
    shown = [ShownArtifact(title=name, of=Identity("scenes", name, 0, 0, split="test")) for name in ("one", "other")]
    for one in shown:
        rows = pd.concat(
            [rows_of(str(n), [np.eye(16)[n], np.full(16, 1 / 16)], [[0.5, 0.3, 0.2]] * 2) for n in range(3)]
        )
        schema.write(rows.reset_index(drop=True), SALIENCY, tmp_path / f"{one.title}.parquet", {}, one.of)
    saliency, plan = [str(tmp_path / f"{one.title}.parquet") for one in shown], PicturePlan(title="Two", shown=shown)
    for path, files in ((tmp_path / "first.png", saliency), (tmp_path / "second.png", saliency[::-1])):
        saliency_maps(files, tables["images"], tables["captions"], tables["sources"], plan, str(path))
    assert (tmp_path / "first.png").read_bytes() == (tmp_path / "second.png").read_bytes()
    assert cv2.imread(str(tmp_path / "first.png")).std() > 10
