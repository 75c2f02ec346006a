from pathlib import Path

from densevse.analyses.caption_scores.table import PUBLISHED_CAPTIONS
from densevse.report.published import read_rows

FOLDER = Path(__file__).parents[1] / "published"


def test_every_published_file_fits_its_columns():
    files = list(FOLDER.glob("*.csv"))
    assert files
    assert all(read_rows(file, PUBLISHED_CAPTIONS) for file in files)
