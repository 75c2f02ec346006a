"""The report is read in a browser: it shows pages and pictures, and its captions are plain text."""

import re
from pathlib import Path

import pytest
from docutils.core import publish_parts

from tests.rules import ROOT, files

CAPTIONS = sorted([*(ROOT / "workflow/report").glob("*.rst"), *(ROOT / "densevse/analyses").glob("*/*.rst")])
REPORTED = re.compile(r'report\(\s*"([^"]+)",\s*caption=f?"(?:[^"]*/)?([^"/]+)"')


def reported() -> list[tuple[str, str]]:
    """The path and the caption of each file that rules put into the report."""
    return [found for file in files() for found in REPORTED.findall(file.read_text())]


def test_the_report_shows_what_is_in_it_instead_of_offering_it_as_a_download():
    assert reported()
    assert {Path(path).suffix for path, _ in reported()} <= {".html", ".png", ".svg"}


def test_every_caption_is_used():
    assert {caption for _, caption in reported()} | {"workflow.rst"} == {file.name for file in CAPTIONS}


@pytest.mark.parametrize("file", CAPTIONS, ids=lambda file: file.stem)
def test_a_caption_is_text_without_links_that_nobody_wrote(file):
    shown = publish_parts(file.read_text(), writer="html", settings_overrides={"halt_level": 2})["body"]
    assert "href" not in shown  # docutils takes R@10 for an address of mail
