"""The report's first page in a real browser, on a telephone and on a screen."""

import pytest

from tests.browser import WIDTHS, browser

__all__ = ["browser"]


@pytest.mark.long
def test_the_first_page_of_a_report_can_be_read_and_reached(finished, browser):
    finished.run("--report=report.html", "results/tables/scenes.md")
    for width in WIDTHS:
        browser.open((finished.folder / "report.html").as_uri(), width)
        browser.wait("document.querySelector('.prose .start-table td') && !document.getAnimations().length")
        assert browser.page_faults(width) == []
        sheet = "document.querySelector('.start-table')"
        cut = browser.run(f"{sheet}.scrollWidth - {sheet}.clientWidth")
        assert width < 1000 or cut == 0, "the table loses its last column"
