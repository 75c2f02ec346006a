from pathlib import Path

from densevse.analyses.relation_counts.table import PUBLISHED_RELATIONS
from densevse.report.published import read_rows

FOLDER = Path(__file__).parents[1] / "published"


def test_every_published_file_fits_its_columns():
    files = list(FOLDER.glob("*.csv"))
    assert files
    assert all(read_rows(file, PUBLISHED_RELATIONS) for file in files)
