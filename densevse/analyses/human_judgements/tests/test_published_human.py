from pathlib import Path

from densevse.analyses.human_judgements.table import PUBLISHED_AGREEMENT
from densevse.report.published_files import read_rows

FOLDER = Path(__file__).parents[1] / "published"


def test_every_published_file_fits_its_columns():
    files = list(FOLDER.glob("*.csv"))
    assert files
    assert all(read_rows(file, PUBLISHED_AGREEMENT) for file in files)
