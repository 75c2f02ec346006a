"""Pages of results type no metric: they include tables and name rows of the lab notebook, whose rows are data."""

import re
from itertools import pairwise
from pathlib import Path

import pytest

from docs import generate

DOCS = Path(__file__).parents[1] / "docs"
PAGES = sorted((DOCS / "results").glob("*.md"))
PAPERS = [page for page in PAGES if page.name != "index.md"]
SETUP = re.compile(r"^## Set-up\n.*?(?=^## )", re.MULTILINE | re.DOTALL)
NO_PROSE = re.compile(r"```.*?```|`[^`]*`|\]\([^)]*\)", re.DOTALL)
METRIC = re.compile(r"\d\.\d|(?<!\w)\.\d|(?<![\w.])[+-]\d|(?<!95)%|\b(?:rsum|CIDEr|BLEU-\d) (?:\w+ )?\d")
"""A decimal, a signed number, a percentage that is not that of an interval, or a number behind a metric's name."""
INCLUDED = re.compile(r"```\{include\} (\S+)\n((?::.*\n)*)")
VERDICT = re.compile(r"\*\*(supported|contradicted|not\s+supported)\*\*")
CITED = re.compile(r"\[([A-Z]\d+)\]\([./]*lab_notebook\.md#([\w-]+)\)")
ANSWER = re.compile(r"(yes|no|base|variant|measured|supported|contradicted|not supported)\b")
DAY = re.compile(r"2\d{3}-\d{2}-\d{2}(?=$|, [0-9a-f]{7}$)")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_no_metric_is_typed(page):
    prose = NO_PROSE.sub("", SETUP.sub("", page.read_text(encoding="utf-8")))
    assert not METRIC.findall(prose), "include a table of docs/tables, or name a row of the lab notebook"


@pytest.mark.parametrize(
    "typed", ["of 292.5", "an rsum of 292", "a gain of +4", "-15 from VSE", "33% of them", "a size of .5"]
)
def test_a_typed_metric_is_found(typed):
    assert METRIC.search(typed)


def test_what_pages_include_is_there_and_every_row_of_claims_is_shown_once():
    parts = {(DOCS / f"generated/claims/{place}.md").resolve(): rows for place, rows in generate.claims()}
    shown = []
    for page in PAGES:
        for target, options in INCLUDED.findall(page.read_text(encoding="utf-8")):
            file = (page.parent / target).resolve()
            text = parts[file] if file in parts else file.read_text(encoding="utf-8")
            for mark in re.findall(r'"(.*)"', options):
                assert text.count(mark) == 1, f"{page.name}: {target} has not one {mark}"
            shown += [file] if file in parts else []
    assert sorted(shown) == sorted(parts), "each paper's rows of a table of claims stand on one page of docs/results"
    for table in (DOCS / "tables").glob(f"*{generate.CLAIMS}"):
        rows = [rows for file, rows in parts.items() if f"{file.parent.name}{generate.CLAIMS}" == table.name]
        verdicts = re.compile(r"\| (?:supported|contradicted|not supported|undecided) *\|$", re.MULTILINE)
        assert sum(len(verdicts.findall(each)) for each in rows) == len(verdicts.findall(table.read_text("utf-8"))) > 0


def test_a_table_of_claims_is_divided_by_paper():
    head = "| Paper | Claim    | Gain |\n| ----- | -------- | ---: |\n"
    first = f"## Test split\n\n{head}| A     | a \\| b | +1   |\n| B     | c        | -2   |\n"
    second = f"## Of A alone\n\n{head}| A     | d        | +3   |\n"
    text = f'# Claims\n\n{first}\n{second}\n- A, "d": a note.\n- B, "c": another.\n- Config 12.\n'
    shown = "| Claim | Gain |\n| --- | ---: |\n| c | -2 |"
    assert generate.claims_of("B", text) == f'\nTest split\n\n{shown}\n\n- B, "c": another.\n- Config 12.\n'
    assert "\n| a \\| b | +1 |\n\nOf A alone\n" in generate.claims_of("A", text)
    assert not generate.claims_of("C", text)


@pytest.mark.parametrize("page", PAPERS, ids=lambda page: page.stem)
def test_a_page_of_a_paper_says_its_set_up_in_ten_lines_and_a_verdict_for_each_claim(page):
    text = page.read_text(encoding="utf-8")
    assert 9 <= len(re.findall(r"^- ", SETUP.search(text)[0], re.MULTILINE)) <= 11
    assert "224 x 224 pixels" in text
    _, *claims = text.partition("\n## Claims\n")[2].partition("\n## ")[0].split("\n### ")
    assert len(claims) >= 3
    for claim in claims:
        verdict = claim.partition("\nVerdict: ")[2]
        assert VERDICT.search(verdict), claim


@pytest.mark.parametrize("page", [*PAGES, DOCS / "errata.md"], ids=lambda page: page.stem)
def test_each_row_that_a_page_names_is_in_the_notebook(page):
    rows = {generate.TOPICS[letter]: {row["no"] for row in rows} for letter, rows in generate.notebook().items()}
    cited = CITED.findall(page.read_text(encoding="utf-8"))
    assert cited
    assert not [(number, table) for number, table in cited if number not in rows[table]]


def test_the_notebook_has_a_trial_a_row_in_the_order_of_their_days():
    for letter, rows in generate.notebook().items():
        assert [row["no"] for row in rows] == [f"{letter}{number}" for number in range(1, len(rows) + 1)]
        days = [DAY.match(row["when"])[0] for row in rows]
        assert all(earlier <= later for earlier, later in pairwise(days))
        assert all(cell and "|" not in cell for row in rows for cell in row.values())
        assert all(ANSWER.match(row["answer"]) for row in rows)


def test_the_notebook_s_page_shows_every_table():
    page = (DOCS / "lab_notebook.md").read_text(encoding="utf-8")
    assert re.findall(r"\{include\} generated/notebook/(.+)\.md", page) == list(generate.TOPICS.values())
    assert "| V1 | 2026-11-21 | Flickr8k | VSE | GRU of 512" in generate.page_of(generate.notebook()["V"])


def test_claims_on_scenes_have_the_gains_of_the_demo_with_its_seed():
    readme = (DOCS.parent / "README.md").read_text(encoding="utf-8")
    demo = {
        cells[1]: float(cells[-2]) for cells in _rows(readme.split("<!-- table -->")[1].split("<!-- end of")[0])[2:]
    }
    first = (DOCS / "tables/scenes_claims.md").read_text(encoding="utf-8").split("\n## ")[1]
    head, _, *rows = _rows(first)
    better, worse, each = (head.index(name) for name in ("Better row", "Worse row", "Each seed"))
    gains = {(row[better], row[worse]): float(row[each].split(",")[0]) for row in rows}
    known = {pair: gain for pair, gain in gains.items() if demo.keys() >= set(pair)}
    assert len(known) >= 5
    for (above, below), gain in known.items():
        assert gain == pytest.approx(demo[above] - demo[below], abs=0.11), (above, below)  # of rounded metrics


def _rows(text):
    """The rows of the Markdown tables of a text, a list of cells each."""
    return [[cell.strip() for cell in line.split("|")] for line in text.splitlines() if line.startswith("|")]
