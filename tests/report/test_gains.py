"""The picture of a table's gains: its lines are the table's rows, in their order, with their intervals."""

import numpy as np
import pandas as pd
import pytest

from densevse.report import gains
from densevse.report.columns import RESULTS
from densevse.report.figures import QUIET, RIGHT_COLOUR, WRONG_COLOUR
from densevse.report.plan import GainsPlan, GainsSection
from snakeproof import schema

GAINS = {"VSE": None, "VSE++": (30, 20, 40), "Order $x$": (-16, -24, -9), "DeFrag": (-1, -8, 7), "few": (2, None, None)}


@pytest.fixture
def results(tmp_path):
    """A table of two sections; the second one has only the first two rows. A published row has no gain."""
    rows = pd.DataFrame(None, index=range(8), columns=[column.name for column in RESULTS.columns])
    rows["method"] = [*GAINS, "Published", "VSE", "VSE++"]
    rows["dataset"] = ["scenes"] * 6 + ["coco"] * 2
    rows["kind"] = ["published" if method == "Published" else "measured" for method in rows["method"]]
    rows = rows.assign(protocol="full", source="", variant="", note="", seeds=1)
    ends = pd.DataFrame([GAINS.get(method) or (None,) * 3 for method in rows["method"]], dtype=float)
    rows[["gain", "gain_low", "gain_high"]] = ends
    empty = [
        column.name for column in RESULTS.columns if column.name not in rows.columns or rows[column.name].isna().all()
    ]
    rows[empty] = np.nan
    schema.write(rows.astype(dict.fromkeys(empty, float)), RESULTS, tmp_path / "results.parquet")
    return tmp_path / "results.parquet"


def drawn(results, path, monkeypatch, *datasets):
    sections = [GainsSection(title=f"{dataset}, full", dataset=dataset, protocol="full") for dataset in datasets]
    figures, save = [], gains.save_figure
    monkeypatch.setattr(
        gains, "save_figure", lambda figure, to, legend: (figures.append(figure), save(figure, to, legend))
    )
    plan = GainsPlan(title="A table", reference="VSE", sections=sections)
    gains.draw_gains(str(results), plan.model_dump(mode="json"), str(path))
    monkeypatch.undo()
    return figures[0]


def test_each_row_with_a_gain_has_its_line_from_top_to_bottom(results, tmp_path, monkeypatch):
    (axes,) = drawn(results, tmp_path / "gains.svg", monkeypatch, "scenes").axes
    assert [label.get_text() for label in axes.get_yticklabels()] == ["VSE++", "Order $x$", "DeFrag", "few"]
    assert axes.get_ylim() == (3.5, -0.5)
    intervals, points = axes.lines[0:8:2], axes.lines[1:8:2]
    assert [list(line.get_xdata()) for line in intervals[:3]] == [[20, 40], [-24, -9], [-8, 7]]
    assert [line.get_xdata()[0] for line in points] == [30, -16, -1, 2]
    assert [line.get_color() for line in points] == [RIGHT_COLOUR, WRONG_COLOUR, QUIET, QUIET]
    assert list(axes.lines[8].get_xdata()) == [0, 0]
    assert axes.get_xlabel() == "rsum minus that of VSE, with a paired 95% interval (one seed)"


def test_a_table_of_two_sections_has_two_panels(results, tmp_path, monkeypatch):
    first, second = drawn(results, tmp_path / "gains.svg", monkeypatch, "scenes", "coco").axes
    assert (first.get_title("left"), second.get_title("left")) == ("scenes, full", "coco, full")
    assert [label.get_text() for label in second.get_yticklabels()] == ["VSE++"]


def test_the_same_gains_give_the_same_bytes(results, tmp_path, monkeypatch):
    for name in ("a.svg", "b.svg"):
        drawn(results, tmp_path / name, monkeypatch, "scenes", "coco")
    first = (tmp_path / "a.svg").read_bytes()
    assert first == (tmp_path / "b.svg").read_bytes()
    assert b"<dc:date>" not in first
