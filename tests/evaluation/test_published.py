"""The published rows, as data: typed from the papers, so checked against the sums that the papers print."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from densevse.errors import InputError
from densevse.evaluation.published import COLUMNS, read_papers, read_published
from densevse.evaluation.tables import RECALL_COLUMNS

FOLDER = Path(__file__).parents[2] / "config/published"
PAPERS = read_papers(FOLDER / "papers.yaml")
ROWS = read_published(sorted(FOLDER.glob("*.csv")), PAPERS)

# The papers' own slips: (paper, table, data set, method) -> what the printed recalls give, against what is printed.
PRINTED_SUMS_OFF = {
    ("sm_lstm", "1", "flickr30k", "sm-LSTM-ctx"): (300.2, 300.1),
    ("sm_lstm", "1", "flickr30k", "sm-LSTM*"): (358.8, 358.7),
    ("sm_lstm", "2", "coco_1k", "sm-LSTM*"): (431.7, 431.8),
}
PRINTED_MEANS_OFF = {
    ("sco", "2", "coco_1k", "ctx (1-crop)"): (63.73, 63.8),
    ("sco", "2", "coco_1k", "ctx + gen (S)"): (68.33, 68.4),
    ("sco", "2", "coco_1k", "cnp + ctx + gen"): (81.67, 81.8),
    ("sco", "4", "coco_1k", "VSE++"): (74.92, 74.6),
    ("sco", "4", "coco_1k", "RRF (Res)"): (73.97, 73.9),
}


def slips(column, of_recalls, tolerance):
    complete = ROWS[ROWS[[*RECALL_COLUMNS, column]].notna().all(axis=1)]
    assert len(complete) > 25
    found = {}
    for _, row in complete.iterrows():
        expected = of_recalls(row[list(RECALL_COLUMNS)])
        if abs(expected - row[column]) > tolerance:
            key = (row["paper"], row["table"], row["dataset"], row["method"])
            found[key] = (round(expected, 2), row[column])
    return found


def test_sums_agree_with_the_recalls():
    assert slips("sum", lambda recalls: recalls.sum(), 0.05) == PRINTED_SUMS_OFF


def test_mean_recalls_agree_with_the_recalls():
    assert slips("mean_recall", lambda recalls: recalls.mean(), 0.051) == PRINTED_MEANS_OFF


def test_every_table_of_the_five_papers_is_there():
    found = {(row.paper, row.table, row.dataset): 0 for row in ROWS.itertuples()}
    for row in ROWS.itertuples():
        found[row.paper, row.table, row.dataset] += 1
    assert found == {
        ("hm_lstm", "1", "flickr8k"): 9,
        ("hm_lstm", "2", "flickr30k"): 11,
        ("hm_lstm", "3", "coco_1k"): 5,
        ("vse", "", "flickr8k"): 11,
        ("vse", "", "flickr30k"): 11,
        ("defrag", "1", "pascal1k"): 6,
        ("defrag", "2", "flickr8k"): 13,
        ("defrag", "3", "flickr30k"): 8,
        ("sm_lstm", "1", "flickr30k"): 18,
        ("sm_lstm", "2", "coco_1k"): 14,
        ("sm_lstm", "3", "flickr30k"): 5,
        ("sm_lstm", "4", "flickr30k"): 5,
        ("sco", "2", "flickr30k"): 11,
        ("sco", "2", "coco_1k"): 11,
        ("sco", "3", "flickr30k"): 4,
        ("sco", "3", "coco_1k"): 4,
        ("sco", "4", "flickr30k"): 18,
        ("sco", "4", "coco_1k"): 16,
        ("sco", "5", "coco_5k"): 8,
    }


def test_recalls_rise_with_k():
    for direction in ("annotation", "search"):
        recalls = ROWS[[f"{direction}_r{k}" for k in (1, 5, 10)]]
        assert recalls.diff(axis=1).min().min() > 0
    recalls = ROWS[[*RECALL_COLUMNS]].to_numpy()
    assert np.nanmin(recalls) > 0
    assert np.nanmax(recalls) < 100


def test_a_figure_that_two_papers_print_is_the_same():
    """Rows that papers copy from each other: the same recalls wherever DeFrag, DVSA and MNLM are cited."""
    flickr30k = ROWS[ROWS["dataset"] == "flickr30k"].set_index(["paper", "table", "method"])
    for name in (("sm_lstm", "1", "MNLM"), ("sco", "4", "MNLM")):
        own = flickr30k.loc[("vse", "", "Our model (OxfordNet)"), list(RECALL_COLUMNS)]
        pd.testing.assert_series_equal(flickr30k.loc[name, list(RECALL_COLUMNS)], own, check_names=False)
    own = flickr30k.loc[("defrag", "3", "Our model († + MIL)"), list(RECALL_COLUMNS)]
    for name in (("vse", "", "† DeFrag"), ("sm_lstm", "1", "Deep Fragment")):
        pd.testing.assert_series_equal(flickr30k.loc[name, list(RECALL_COLUMNS)], own, check_names=False)


def test_papers_stand_in_their_order():
    assert list(dict.fromkeys(ROWS["paper"])) == list(PAPERS)


def test_region_phrase_ranking_is_data_of_its_own():
    rows = pd.read_csv(FOLDER / "regions/hm_lstm.csv")
    assert rows.set_index("method").loc["HM-LSTM", "annotation_r1"] == 10.8
    assert len(rows) == 4


def bad(tmp_path, **changes):
    row = {**dict.fromkeys(COLUMNS, ""), "paper": "vse", "dataset": "flickr8k", **changes}
    pd.DataFrame([row]).to_csv(tmp_path / "bad.csv", index=False)
    return [tmp_path / "bad.csv"]


def test_a_figure_that_is_no_number_is_named(tmp_path):
    with pytest.raises(InputError, match=r"bad.csv.*search_r5"):
        read_published(bad(tmp_path, search_r5="l2.5"), PAPERS)


def test_a_paper_without_an_entry_is_named(tmp_path):
    with pytest.raises(InputError, match="no_paper"):
        read_published(bad(tmp_path, paper="no_paper"), PAPERS)


def test_a_column_too_many_is_named(tmp_path):
    with pytest.raises(InputError, match="further"):
        read_published(bad(tmp_path, further="1"), PAPERS)
