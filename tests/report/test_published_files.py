"""CSV files of published metrics: rows have the types of their columns, and mistakes are named by file and line."""

import pytest

from densevse.report.published_files import (
    any_text,
    as_printed,
    read_about,
    read_rows,
    real,
    real_or_none,
    required,
    whole,
)
from densevse.runtime.errors import InputError

COLUMNS = {"method": required, "images": whole, "r1": real, "r5": real_or_none, "printed": as_printed, "note": any_text}


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
    assert read_about(about, ("images", "source")) == {"images": "ten", "source": "a paper"}
    with pytest.raises(InputError, match=r"a\.yaml: expected the keys images, source and year, and no others"):
        read_about(about, ("images", "source", "year"))
