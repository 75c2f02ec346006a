"""Text of the user in Markdown, CSV and Snakemake's report: readers print it, and run nothing."""

import pickle

import pandas as pd
import pytest
from markdown_it import MarkdownIt

from densevse.report.rendering import Document, Sheet, TableColumn, as_csv, as_markdown
from snakeproof.jobs import Given

HOSTILE = "</script><img src=x onerror=alert(1)>"
TEXTS = (
    HOSTILE,
    f"`{HOSTILE}",
    f"\\`{HOSTILE}\\`",
    f"\\{HOSTILE}",
    f"``{HOSTILE}`",
    "[a](javascript:alert)",
    "![a](https://a.org/x)",
)


@pytest.mark.parametrize("text", TEXTS)
def test_no_text_is_an_element_or_a_link_in_markdown(text):
    document = Document(text, [Sheet(text, (TableColumn(text),), [[text]])], [text], [])
    page = MarkdownIt("commonmark", {"html": True}).enable("table").render(document.markdown())
    assert not any(found in page for found in ("<script", "</script", "<img", "<a "))


def test_code_stands_as_it_is_in_markdown():
    assert as_markdown("`densevse show <variant>` says a < b\nand c") == "`densevse show <variant>` says a < b and c"


def test_a_spreadsheet_computes_no_text_of_a_csv_file():
    rows = pd.DataFrame({"method": ["=1+1", "+a", "-a", "@a", " =a", "a=b", None], "gain": [-0.5, *[1.0] * 6]})
    lines = as_csv(rows).splitlines()[1:]
    assert [line.split(",")[0] for line in lines] == ["'=1+1", "'+a", "'-a", "'@a", "' =a", "a=b", ""]
    assert lines[0].split(",")[1] == "-0.5000"


def test_what_a_job_is_given_cannot_end_a_script_of_the_report():
    given = Given(title=HOSTILE)
    assert f"{given}" == r"{'title': '\x3c/script>\x3cimg src=x onerror=alert(1)>'}"
    assert repr(given) == repr({"title": HOSTILE})  # which Snakemake compares with its records
    assert type(pickle.loads(pickle.dumps(given))) is dict
