"""The check of pages in a browser finds what it looks for."""

import pytest

from tests.browser import WIDTHS, browser

__all__ = ["browser"]
GOOD = "<h1>Large</h1><p>text</p><button>one</button><a href='#x' style='color:#00c'>two</a>"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("part", "found"),
    [
        ("", None),
        ("<p style='color:#777;background:#fff'>#777 on white</p>", "4.48: #777 on white"),
        ("<p style='color:#767676'>4.54 to 1</p><h1 style='color:#949494'>3.03, but large</h1>", None),
        ("<div style='background:#000'><p style='color:#333'>dark</p></div>", "dark"),
        ("<p style='color:#777;visibility:hidden'>not seen</p>", None),
        ("<p style='width:600px'>wide</p>", "pixels wide"),
        ("<button tabindex='-1'>three</button>", "three"),
    ],
)
def test_a_wide_page_a_faint_text_and_a_control_out_of_reach_are_found(browser, part, found):
    for width in WIDTHS:
        browser.open(
            f"data:text/html,<meta name=viewport content=width=device-width>{GOOD}{part}".replace("#", "%23"), width
        )
        faults = browser.page_faults(width)
        if found is None or (width >= 1280 and "wide" in found):
            assert faults == []
        else:
            assert len(faults) == 1
            assert found in faults[0]
