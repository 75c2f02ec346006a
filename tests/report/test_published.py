"""The published rows, as data: typed from the papers, so checked against the sums that the papers print."""

import csv
from pathlib import Path

import numpy as np
import pytest

from densevse.evaluation.metrics import METRIC_COLUMNS, RECALL_COLUMNS
from densevse.report.published import (
    _COLUMNS,
    any_text,
    check_names,
    number_or_none,
    printed_number,
    read_paper,
    read_published_rows,
    read_rows,
    read_texts,
    real_number,
    required_text,
    whole_number,
)
from snakeproof.errors import InputError

FOLDER = Path(__file__).parents[2] / "config/published"
PAPERS = ("hm_lstm", "vse", "sm_lstm", "defrag", "sco")
ROWS = read_published_rows([FOLDER / f"{paper}.csv" for paper in PAPERS])

# The papers' own slips: (paper, table, data set, method) -> what the printed recalls give, against what is printed.
PRINTED_SUMS_OFF = {
    ("sm_lstm", "1", "flickr30k", "sm-LSTM-ctx"): (300.2, 300.1),
    ("sm_lstm", "1", "flickr30k", "sm-LSTM*"): (358.8, 358.7),
    ("sm_lstm", "2", "coco", "sm-LSTM*"): (431.7, 431.8),
}
PRINTED_MEANS_OFF = {
    ("sco", "2", "coco", "ctx (1-crop)"): (63.73, 63.8),
    ("sco", "2", "coco", "ctx + gen (S)"): (68.33, 68.4),
    ("sco", "2", "coco", "cnp + ctx + gen"): (81.67, 81.8),
    ("sco", "4", "coco", "VSE++"): (74.92, 74.6),
    ("sco", "4", "coco", "RRF (Res)"): (73.97, 73.9),
}


def slips(column, of_recalls, tolerance):
    complete = [row for row in ROWS if {*RECALL_COLUMNS, column} <= set(row.printed)]
    assert len(complete) > 25
    found = {}
    for row in complete:
        expected = of_recalls([row.metrics[key] for key in RECALL_COLUMNS])
        if abs(expected - row.metrics[column]) > tolerance:
            found[row.paper, row.table, row.dataset, row.method] = (round(expected, 2), row.metrics[column])
    return found


def test_sums_agree_with_the_recalls():
    assert slips("rsum", np.sum, 0.05) == PRINTED_SUMS_OFF


def test_mean_recalls_agree_with_the_recalls():
    assert slips("mean_recall", np.mean, 0.051) == PRINTED_MEANS_OFF


def test_every_table_of_the_five_papers_is_there_under_the_protocol_that_the_paper_states():
    found = {}
    for row in ROWS:
        key = (row.paper, row.table, row.dataset, row.protocol)
        found[key] = found.get(key, 0) + 1
    assert found == {
        ("hm_lstm", "1", "flickr8k", "full"): 9,
        ("hm_lstm", "2", "flickr30k", "full"): 11,
        ("hm_lstm", "3", "coco", "random_1000"): 5,
        ("hm_lstm", "4", "coco_region", "regions"): 4,
        ("vse", "1", "flickr8k", "full"): 11,
        ("vse", "code", "flickr8k", "full"): 2,
        ("vse", "1", "flickr30k", "full"): 11,
        ("defrag", "1", "pascal1k", "full"): 6,
        ("defrag", "2", "flickr8k", "full"): 11,
        ("defrag", "2", "flickr8k", "hodosh"): 2,
        ("defrag", "3", "flickr30k", "full"): 8,
        ("sm_lstm", "1", "flickr30k", "full"): 18,
        ("sm_lstm", "2", "coco", "first_1000"): 14,
        ("sm_lstm", "3", "flickr30k", "full"): 5,
        ("sm_lstm", "4", "flickr30k", "full"): 5,
        ("sco", "2", "flickr30k", "full"): 11,
        ("sco", "2", "coco", "five_folds"): 11,
        ("sco", "3", "flickr30k", "full"): 4,
        ("sco", "3", "coco", "five_folds"): 4,
        ("sco", "4", "flickr30k", "full"): 18,
        ("sco", "4", "coco", "five_folds"): 16,
        ("sco", "5", "coco", "full"): 8,
    }


def test_recalls_rise_with_k():
    for row in ROWS:
        for direction in ("i2t", "t2i"):
            recalls = [row.metrics.get(f"{direction}_r{k}") for k in (1, 5, 10)]
            known = [recall for recall in recalls if recall is not None]
            assert known == sorted(set(known)), row
            assert all(0 < recall < 100 for recall in known)


def row_of(paper, table, method, dataset="flickr30k"):
    (found,) = [
        row for row in ROWS if (row.paper, row.table, row.method, row.dataset) == (paper, table, method, dataset)
    ]
    return found


def test_a_metric_that_two_papers_print_is_the_same():
    """Rows that papers copy from each other: the same recalls wherever DeFrag and MNLM are cited."""
    own = row_of("vse", "1", "Our model (OxfordNet)")
    for paper, table in (("sm_lstm", "1"), ("sco", "4")):
        cited = row_of(paper, table, "MNLM")
        assert [cited.printed[key] for key in RECALL_COLUMNS] == [own.printed[key] for key in RECALL_COLUMNS]
    own = row_of("defrag", "3", "Our model († + MIL)")
    for paper, method in (("vse", "† DeFrag"), ("sm_lstm", "Deep Fragment")):
        cited = row_of(paper, "1", method)
        assert [cited.printed[key] for key in RECALL_COLUMNS] == [own.printed[key] for key in RECALL_COLUMNS]


def test_both_sets_of_metrics_of_a_row_that_is_printed_twice_are_kept():
    rows = [row_of("sco", "2", "cnp + ctx + gen", "coco"), row_of("sco", "3", "λ = 1", "coco")]
    assert [row.printed["i2t_r5"] for row in rows] == ["91.3", "91.8"]
    assert all("twice" in row.note for row in rows)


def test_another_backbone_is_another_variant():
    assert row_of("sco", "4", "Ours (Res)").variant == "sco_res"
    assert row_of("vse", "1", "Our model").variant == "vse_alexnet"
    assert row_of("vse", "1", "Our model (OxfordNet)").variant == "vse"


def test_a_fine_tuned_network_is_no_variant_of_fixed_features():
    tuned = [row for row in ROWS if row.paper == "sco" and row.method.startswith("VSE++")]
    assert len(tuned) == 6
    assert all(row.variant == "" and "fine-tuned" in row.note for row in tuned)


def test_what_is_no_metric_of_the_paper_is_marked():
    code = [row for row in ROWS if row.table == "code"]
    assert [row.printed["i2t_r1"] for row in code] == ["22.3", "23.9"]
    assert all("not of the paper" in row.note for row in code)
    in_brackets = [row for row in ROWS if row.paper == "vse" and "NIC" in row.method]
    assert len(in_brackets) == 2
    assert all("parentheses" in row.note for row in in_brackets)


def test_metrics_are_as_printed():
    random = row_of("hm_lstm", "4", "Random", "coco_region")
    assert random.printed["i2t_r1"] == "0.02"
    assert "t2i_r1" not in random.printed


def test_papers_say_what_they_used():
    for paper in PAPERS:
        assert read_paper(FOLDER / f"{paper}.yaml").used


def bad(tmp_path, **changes):
    row = {**dict.fromkeys(_COLUMNS, ""), "paper": "vse", "dataset": "flickr8k", "protocol": "full"}
    row = {**row, "images": "1000", "table": "1", "method": "VSE", **changes}
    with open(tmp_path / "vse.csv", "w", encoding="utf-8") as file:
        lines = csv.DictWriter(file, list(row))
        lines.writeheader()
        lines.writerow(row)
    return [tmp_path / "vse.csv"]


def test_a_metric_that_is_no_number_is_named(tmp_path):
    with pytest.raises(InputError, match=r"vse.csv, line 2: t2i_r5 is no number: 'l2.5'"):
        read_published_rows(bad(tmp_path, t2i_r5="l2.5"))


@pytest.mark.parametrize("changes", [{"paper": "sco"}, {"images": ""}, {"table": ""}, {"method": ""}, {"further": "1"}])
def test_a_row_that_does_not_fit_is_named(tmp_path, changes):
    with pytest.raises(InputError, match=r"vse.csv"):
        read_published_rows(bad(tmp_path, **changes))


def test_a_paper_without_a_title_is_named(tmp_path):
    (tmp_path / "vse.yaml").write_text("name: VSE\n")
    with pytest.raises(InputError, match=r"vse.yaml: expected the keys name, title and used"):
        read_paper(tmp_path / "vse.yaml")


@pytest.mark.parametrize("changes", [{"dataset": "flickr9k"}, {"protocol": "fold"}])
def test_an_unknown_data_set_or_protocol_is_named(tmp_path, changes):
    rows = read_published_rows(bad(tmp_path, **changes))
    with pytest.raises(InputError, match=r"flickr9k|fold"):
        check_names(rows, ["flickr8k"], ["full"])


def test_all_metrics_have_a_column():
    assert len(METRIC_COLUMNS) == 12


def test_rows_of_zero_shot_clip_are_whole_and_rise_with_the_number_of_answers():
    rows = read_published_rows([FOLDER / "clip.csv"])
    assert {(row.dataset, row.protocol, row.images, row.table) for row in rows} == {
        ("flickr8k", "full", 1000, "code"),
        ("flickr30k", "full", 1000, "code"),
        ("coco", "full", 5000, "code"),
    }
    for row in rows:
        if row.dataset == "flickr8k":
            assert set(row.printed) == {"i2t_r5", "t2i_r5"}, "CLIP_benchmark's table has no other"
            continue
        recalls = [row.metrics[name] for name in RECALL_COLUMNS]
        assert recalls[:3] == sorted(recalls[:3])
        assert recalls[3:] == sorted(recalls[3:])
        assert recalls[0] > recalls[3], "one of five sentences is found more easily than the one image"


COLUMNS = {
    "method": required_text,
    "images": whole_number,
    "r1": real_number,
    "r5": number_or_none,
    "printed": printed_number,
    "note": any_text,
}


def written(tmp_path, *lines):
    (tmp_path / "a.csv").write_text("\n".join(lines), encoding="utf-8")
    return tmp_path / "a.csv"


def test_cells_have_the_types_of_their_columns(tmp_path):
    rows = read_rows(written(tmp_path, ",".join(COLUMNS), 'VSE,1000,18.0,,0.02,"a, b"', "x,0,1e1,5,,"), COLUMNS)
    assert rows[0] == {"method": "VSE", "images": 1000, "r1": 18.0, "r5": None, "printed": "0.02", "note": "a, b"}
    assert rows[1] == {"method": "x", "images": 0, "r1": 10.0, "r5": 5.0, "printed": "", "note": ""}


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (",1,2,,,", "method is missing: ''"),
        ("x,-1,2,,,", "images is not a whole number: '-1'"),
        ("x,,2,,,", "images is not a whole number: ''"),
        ("x,1,,,,", "r1 is no number: ''"),
        ("x,1,2,l2.5,,", "r5 is no number: 'l2.5'"),
        ("x,1,2,,2;5,", "printed is no number: '2;5'"),
        ("x,1,2,,", "expected 6 cells, found 5"),
        ("x,1,2,,,,", "expected 6 cells, found 7"),
    ],
)
def test_a_wrong_cell_is_named_by_file_and_line(tmp_path, line, message):
    file = written(tmp_path, ",".join(COLUMNS), "VSE,1,2,,,", line)
    with pytest.raises(InputError, match=rf"a\.csv, line 3: {message}"):
        read_rows(file, COLUMNS)


def test_other_columns_are_refused(tmp_path):
    for lines in ([], ["method,images"], [",".join(COLUMNS) + ",more"]):
        with pytest.raises(InputError, match=r"a\.csv: expected the columns method, images, r1"):
            read_rows(written(tmp_path, *lines), COLUMNS)


def test_what_is_said_about_a_file_has_exactly_its_keys(tmp_path):
    about = tmp_path / "a.yaml"
    about.write_text("images: ten\nsource: a paper\n")
    assert read_texts(about, ("images", "source")) == {"images": "ten", "source": "a paper"}
    with pytest.raises(InputError, match=r"a\.yaml: expected the keys images, source and year, and no others"):
        read_texts(about, ("images", "source", "year"))
