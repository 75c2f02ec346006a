"""The documentation names existing things, and its pages keep their form."""

import re
from pathlib import Path

import pytest

from tools.readme import LARGEST

ROOT = Path(__file__).parents[1]
DOCS = sorted(page for folder in (".", "results", "tutorials") for page in (ROOT / "docs" / folder).glob("*.md"))
HISTORY = {"lab_notebook.md"}
WRITES_CODE = {"add_a_method.md"}  # the reader makes the files that it names
TOP = [ROOT / name for name in ("README.md", "CONTRIBUTING.md", "THIRD_PARTY.md")]
PAGES = [*TOP, ROOT / "config/README.md", *(page for page in DOCS if page.name not in HISTORY | WRITES_CODE)]
PROSE = [*TOP, ROOT / "CHANGELOG.md", ROOT / "config/README.md", *DOCS]
FOLDERS = "benchmarks|config|densevse|docs|envs|examples|profiles|tests|workflow"
PATHS = re.compile(rf"(?<![\w./-])(?:{FOLDERS})/[\w./<>*-]*[\w/>*]")
MODULES = re.compile(r"(?<![\w./-])(?:densevse|tests)(?:\.\w+)+")
LINKS = re.compile(r"\]\(([^)\s]+)\)|^\[\w+\]: (\S+)$", re.MULTILINE)
FENCED = re.compile(r"^( *)(```|~~~).*?^\1\2", re.MULTILINE | re.DOTALL)
OVERHANG = re.compile(r"(`[^`]*`|\]\([^)]*\)|https?:\S+)\S{0,3}$")
"""Code or a link at the end of a line, which may run over the edge."""
WIDEST = 100


def found(pattern):
    """The matches of `pattern` in the pages: (page, text) pairs."""
    return [(page.name, text) for page in PAGES for text in pattern.findall(page.read_text(encoding="utf-8"))]


def test_every_path_that_the_documentation_names_exists():
    named = found(PATHS)
    assert len(named) > 50
    missing = [each for each in named if not any(ROOT.glob(re.sub("<[^>]*>", "*", each[1])))]
    assert not missing


def test_every_module_that_the_documentation_names_exists():
    named = found(MODULES)
    assert named
    places = {each: ROOT / each[1].replace(".", "/") for each in named}
    missing = [each for each, place in places.items() if not (place.is_dir() or place.with_suffix(".py").is_file())]
    assert not missing


def prose(text):
    """The lines of a page that are neither code nor of a table, nor define a link."""
    lines = FENCED.sub("", text).splitlines()
    return [line for line in lines if not re.match(r"( {4}|\t|\s*\||!?\[[^\]]*\](\(|: )\S+$|<!--)", line)]


@pytest.mark.parametrize("page", PROSE, ids=lambda page: page.name)
def test_prose_has_lines_of_at_most_100_columns(page):
    lines = prose(page.read_text(encoding="utf-8"))
    wide = [line for line in lines if len(line) > WIDEST and not OVERHANG.search(line)]
    assert not wide, f"wrap them at {WIDEST} columns; tables, links and code may be wider"


def headings(page):
    """The anchors that GitHub gives a page's headings."""
    titles = re.findall(r"^#+ (.+)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", title).lower().replace(" ", "-") for title in titles}


@pytest.mark.parametrize("page", [*TOP, *DOCS], ids=lambda page: page.name)
def test_links_between_pages_lead_to_a_heading(page):
    for link in LINKS.findall(page.read_text(encoding="utf-8")):
        target, _, anchor = "".join(link).partition("#")
        if not target.startswith(("http:", "https:")):
            there = page.parent / target if target else page
            assert there.is_file(), link
            assert not anchor or anchor in headings(there), link


def test_the_glossary_has_at_most_30_terms():
    rows = re.findall(r"^\| (.+?) \| ", (ROOT / "docs/glossary.md").read_text(encoding="utf-8"), re.MULTILINE)
    terms = rows[1:]
    assert 20 < len(terms) <= 30
    assert len(set(terms)) == len(terms)


@pytest.mark.parametrize("folder", ["methods", "generators"])
def test_a_value_keeps_its_origin_in_a_word_or_two(folder):
    for path in (ROOT / "config" / folder).glob("*.yaml"):
        text = path.read_text(encoding="utf-8")
        longer = [line for line in text.splitlines() if len(line.partition(" # ")[2]) > 50 and line.strip()[0] != "#"]
        assert not longer, f"{path.name}: what was tried belongs in docs/lab_notebook.md"
        assert not re.search(r"^ +#.*\n +#", text, re.MULTILINE), f"{path.name}: a comment of two lines"


def test_the_readme_is_short_and_its_pictures_are_small():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert len(text.splitlines()) <= 120
    assert text.count("\n| VSE | ") == 1, "run `make readme` after `make demo`"
    pictures = re.findall(r"!\[[^\]]+\]\(([^)]+)\)", text)
    assert pictures
    assert all((ROOT / picture).stat().st_size <= LARGEST for picture in pictures)
