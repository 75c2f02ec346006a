"""The settings of Sphinx, which makes the site of these pages: `make docs`."""

import re
import sys
import tomllib
from pathlib import Path
from typing import Any

from docutils import nodes
from pygments.lexers.special import TextLexer
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.transforms import SphinxTransform

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from docs.generate import PLACES, relocate_links  # noqa: E402

project = "densevse"
author = "The densevse authors"
project_copyright = author
release = version = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
# Parts that other pages include are no pages.
exclude_patterns = ["_build", "generated/claims", "generated/notebook", "generated/read_on.md", "generated/summary.md"]
myst_heading_anchors = 4
html_theme = "furo"
html_title = f"densevse {release}"
html_copy_source = False
html_css_files = ["site.css"]
html_static_path = ["_static"]

default_role = "code"  # docstrings name code between single backticks
autodoc_typehints = "signature"
autodoc_typehints_format = "short"
autodoc_member_order = "bysource"
# Pages of other packages are not asked for: the site is built offline. Types of ours that are not public have no page.
nitpick_ignore_regex = [("py:.*", ".*")]

PAGE = re.compile(r"docs/([\w/-]+)\.md")
FROM_ELSEWHERE = {name: page.removesuffix(".md") for name, page in PLACES.items() if name != "README.md"}
"""Files outside docs/ -> their pages. Not every README.md in code is the project's own."""


class PagesInCode(SphinxTransform):
    """Turns a page that is named in code, such as `docs/methods.md`, into a link with the page's title."""

    default_priority = 400

    def apply(self, **_: Any) -> None:
        """Put a reference in the place of each such piece of code, but for those that are links already."""
        for literal in list(self.document.findall(nodes.literal)):
            named = PAGE.fullmatch(literal.astext())
            page = named[1] if named else FROM_ELSEWHERE.get(literal.astext())
            if page in self.env.found_docs and not isinstance(literal.parent, nodes.reference):
                link = addnodes.pending_xref(
                    "",
                    literal.deepcopy(),
                    refdomain="std",
                    reftype="doc",
                    reftarget=f"/{page}",
                    refexplicit=False,
                    refwarn=True,
                    refdoc=self.env.docname,
                )
                literal.replace_self(link)


def lead_to_pages(_: Sphinx, name: str, source: list[str]) -> None:
    """Let links to files outside docs/ that are pages of the site, such as an analysis's README.md, lead to these."""
    folder = (ROOT / "docs" / name).parent
    source[0] = relocate_links(source[0], folder, folder)


def setup(app: Sphinx) -> None:
    """Add what no extension does."""
    app.connect("source-read", lead_to_pages)
    app.add_transform(PagesInCode)
    app.add_lexer("mermaid", TextLexer)  # GitHub draws such a graph; here it is text
