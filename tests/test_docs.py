"""The documentation names existing things, types no metric, and its site is whole and builds without a warning."""

import ast
import csv
import io
import json
import re
import subprocess
import sys
import tokenize
from itertools import pairwise

import pytest

import densevse
from densevse.command.shared import configuration, overrides
from densevse.config.analyses import settings_of_analyses
from densevse.config.config import config_type
from densevse.config.groups import GROUPS, WATCHERS
from densevse.config.registries import STRUCTURES, VIEWS
from docs import generate, summary
from tools.environments import ROOT

DOCS = ROOT / "docs"
RESULTS = sorted((DOCS / "results").glob("*.md"))
OTHERS = sorted(page for folder in (".", "tutorials") for page in (DOCS / folder).glob("*.md"))
TOP = [ROOT / name for name in ("README.md", "CONTRIBUTING.md", "THIRD_PARTY.md", "densevse/analyses/README.md")]
ANALYSES = sorted((ROOT / "densevse/analyses").glob("*/__init__.py"))
OF_ANALYSES = sorted((ROOT / "densevse/analyses").glob("*/README.md"))
CODE = ("benchmarks", "densevse", "docs", "envs", "examples", "snakeproof", "tests", "tools", "workflow")
FILES_IN_CODE = re.compile(r"(?<![\w./<>{}*-])(?!results/|resources/)(?:[\w-]+/)+[\w-]+\.(?:py|md|smk|yaml|csv|toml)\b")
"""Names of files with their folder in docstrings and comments, but for those that a run makes."""
NAMES_WHAT_WAS = {"lab_notebook.md", "add_a_method.md"}
"""A history, and a page whose reader makes the files that it names."""
FOLDERS = "benchmarks|config|densevse|docs|envs|examples|profiles|tests|workflow"
PATHS = re.compile(rf"(?<![\w./-])(?:{FOLDERS})/[\w./<>*-]*[\w/>*]")
MODULES = re.compile(r"(?<![\w./-])(?:densevse|tests)(?:\.\w+)+")
LINKS = re.compile(r"\]\(([^)\s]+)\)|^\[\w+\]: (\S+)$", re.MULTILINE)
LISTED = re.compile(r"^(?!:)[\w./-]+$")
NO_PROSE = re.compile(r"^## Set-up\n.*?(?=^## )|```.*?```|`[^`]*`|\]\([^)]*\)", re.MULTILINE | re.DOTALL)
METRIC = re.compile(r"\d\.\d|(?<!\w)\.\d|(?<![\w.])[+-]\d|(?<!95)%|\b(?:rsum|CIDEr|BLEU-\d) (?:\w+ )?\d")
"""A decimal, a signed number, a percentage that is not that of an interval, or a number behind a metric's name."""
PARAGRAPH = re.compile(r"\n\n([^\s`]+)")
BEGINS_SMALL = {"densevse", "pip", "scenes", "sm-LSTM", "λ"}
"""Names in small letters that a paragraph may begin with."""
INCLUDED = re.compile(r"```\{include\} (\S+)\n((?::.*\n)*)")
VERDICTS = (
    "the set-up cannot show it",
    "undecided",
    "one seed",
    "contradicted",
    "supported",
    "published size excluded",
    "not shown",
)
VERDICT = re.compile(rf"\nVerdict: .*?\*\*({'|'.join(VERDICTS)})\*\*".replace(" ", r"\s+"), re.DOTALL | re.IGNORECASE)
CITED = re.compile(r"\[([A-Z]\d+)\]\([./]*lab_notebook\.md#([\w-]+)\)")
ANSWER = re.compile(r"(yes|no|base|variant|measured|supported|contradicted|not supported)\b")
DAY = re.compile(r"2\d{3}-\d{2}-\d{2}(?=$|, [0-9a-f]{7}$)")


def read(page):
    return page.read_text(encoding="utf-8")


def rows_of(text):
    """The rows of the Markdown tables of a text, a list of cells each."""
    return [[cell.strip() for cell in line.split("|")] for line in text.splitlines() if line.startswith("|")]


def test_every_path_and_module_that_the_documentation_names_exists():
    pages = [
        *TOP,
        ROOT / "config/README.md",
        *(page for page in [*OTHERS, *RESULTS, *OF_ANALYSES] if page.name not in NAMES_WHAT_WAS),
    ]
    paths, modules = ([(page, name) for page in pages for name in one.findall(read(page))] for one in (PATHS, MODULES))
    assert len(paths) > 50
    assert modules
    missing = [(page.name, name) for page, name in paths if not any(ROOT.glob(re.sub("<[^>]*>", "*", name)))]
    names = {*GROUPS, WATCHERS, *(f"densevse.{name}" for name in densevse.__all__)}
    places = [(page.name, name, ROOT / name.replace(".", "/")) for page, name in modules if name not in names]
    missing += [(page, name) for page, name, at in places if not (at.is_dir() or at.with_suffix(".py").is_file())]
    assert missing == []


def words_in_code(file):
    """The comments of a file of code and, of a module, its docstrings and the strings below its names."""
    text = read(file)
    if file.suffix != ".py":
        return re.findall(r"^\s*(#.*)$", text, re.MULTILINE)
    comments = [
        each.string for each in tokenize.generate_tokens(io.StringIO(text).readline) if each.type == tokenize.COMMENT
    ]
    bodies = [node.body for node in ast.walk(ast.parse(text)) if isinstance(getattr(node, "body", None), list)]
    strings = [
        each.value.value for body in bodies for each in body if isinstance(getattr(each, "value", None), ast.Constant)
    ]
    return [*comments, *(string for string in strings if isinstance(string, str))]


def test_every_file_that_a_docstring_or_comment_names_exists():
    code = [file for folder in CODE for file in sorted((ROOT / folder).rglob("*")) if file.suffix in (".py", ".smk")]
    named = {(file, name) for file in code for words in words_in_code(file) for name in FILES_IN_CODE.findall(words)}
    assert len(named) > 100
    missing = [
        f"{file.relative_to(ROOT)} names {name}"
        for file, name in sorted(named)
        if not any((folder / name).exists() for folder in (ROOT, ROOT / "densevse", file.parent))
    ]
    assert missing == []


def anchors(page):
    """The anchors that GitHub gives a page's headings."""
    titles = re.findall(r"^#+ (.+)$", read(page), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", title).lower().replace(" ", "-") for title in titles}


def test_links_between_pages_lead_to_a_heading():
    wrong = []
    for page in [*TOP, *OTHERS, *RESULTS, *OF_ANALYSES]:
        for link in map("".join, LINKS.findall(read(page))):
            target, _, anchor = link.partition("#")
            place = page.parent / target if target else page
            if not link.startswith(("http:", "https:")) and not (
                place.is_file() and (not anchor or anchor in anchors(place))
            ):
                wrong.append(f"{page.name}: {link}")
    assert wrong == []


def test_the_text_of_an_analysis_is_deleted_with_its_folder():
    """So each has a page in its folder, and no other page names a file of it."""
    names = [package.parent.name for package in ANALYSES]
    assert [page.parent.name for page in OF_ANALYSES] == names
    assert all(read(page).startswith("# ") for page in OF_ANALYSES)
    named = {
        (page, name)
        for page in [*TOP, ROOT / "config/README.md", *OTHERS, *RESULTS, *OF_ANALYSES]
        for name in re.findall(r"(?:\banalyses|\]\(\.\.)/(\w+)/", read(page))
        if name in names and name != page.parent.name
    }
    assert not named


def test_commands_work_in_every_folder():
    """`snakemake --cores` needs the Snakefile in the folder; README begins with it, and docs/command.md explains it."""
    pages = [ROOT / "config/README.md", *OTHERS, *RESULTS, *OF_ANALYSES]
    assert [page.name for page in pages if "snakemake --cores" in read(page)] == ["command.md"]


def test_code_is_not_wrapped_as_prose():
    """Code that lost its indentation is a paragraph which begins small."""
    for page in [*TOP, *OTHERS, *RESULTS, *OF_ANALYSES]:
        paragraphs = PARAGRAPH.findall(re.sub(r"```.*?```", "", read(page), flags=re.DOTALL))
        small = {word.strip(",").removesuffix("'s") for word in paragraphs if word[0].islower()}
        assert small <= BEGINS_SMALL, page


def test_the_table_of_what_methods_need_is_that_of_the_configuration():
    config = configuration(overrides([]))
    part = read(DOCS / "data_sets.md").partition("## What each method needs")[2].partition("\n## ")[0]
    shown = {row[1].strip("`"): row[2:-1] for row in rows_of(part)[2:]}
    assert shown == {name: needs_of(entry) for name, entry in config.methods.items()}


def needs_of(method):
    """The cells of a method's row: its views and structures, and whether it needs a proposer and a parser."""
    concepts = any(VIEWS[view].made_by == "concept_network" for view in method.views)
    boxes = concepts or any(VIEWS[view].of_proposals for view in method.views)
    parses = concepts or any(STRUCTURES[name].parsed for name in method.sentences)
    return [
        ", ".join(method.views),
        ", ".join(method.sentences),
        *("yes" if each else "no" for each in (boxes, parses)),
    ]


def test_the_code_is_read_in_an_hour():
    """Ten files, each once, about as long as the page says."""
    text = read(DOCS / "reading.md")
    files = [row[2].strip("`") for row in rows_of(text)[2:]]
    assert len(set(files)) == len(files) == 10
    lines = sum(len(read(ROOT / file).splitlines()) for file in files)
    said = int(re.search(r"about ([\d,]+) lines", text)[1].replace(",", ""))
    assert abs(lines - said) < 0.15 * said, f"the files of docs/reading.md have {lines} lines"


# --- pages of results ------------------------------------------------------------------------------------------------


def test_no_metric_is_typed():
    typed = {page.name: METRIC.findall(NO_PROSE.sub("", read(page))) for page in RESULTS}
    assert not any(typed.values()), f"include a table of docs/tables, or name a row of the lab notebook: {typed}"


def test_what_pages_include_is_there_and_every_row_of_claims_is_shown_once():
    parts = {(DOCS / f"generated/claims/{place}.md").resolve(): rows for place, rows in generate.claims()}
    shown = []
    for page in RESULTS:
        for target, options in INCLUDED.findall(read(page)):
            file = (page.parent / target).resolve()
            text = parts.get(file) or (generate.summary() if file == generate.GENERATED / "summary.md" else read(file))
            for mark in re.findall(r'"(.*)"', options):
                assert text.count(mark) == 1, f"{page.name}: {target} has not one {mark}"
            shown += [file] if file in parts else []
    assert sorted(shown) == sorted(parts), "each paper's rows of a table of claims stand on one page of docs/results"
    for table in (DOCS / "tables").glob(f"*{generate.CLAIMS}"):
        rows = [rows for file, rows in parts.items() if f"{file.parent.name}{generate.CLAIMS}" == table.name]
        verdicts = re.compile(rf"\| (?:{'|'.join(VERDICTS)}) *\|")
        assert sum(len(verdicts.findall(each)) for each in rows) == len(verdicts.findall(read(table))) > 0


IN_THE_SVG = re.compile(r"<!-- (.*?) -->")
"""What a picture of matplotlib says; its letters are drawn."""
FITS = {
    "better": lambda low, high: low > 0,
    "worse": lambda low, high: high < 0,
    "lower": lambda low, high: high < 0,
    "no difference shown": lambda low, high: low <= 0 <= high,
    "not shown better": lambda low, high: low <= 0,
}


def test_a_verdict_of_the_summary_fits_the_gain_beside_it():
    """One without an interval is of its sign at least. "Not stable" and "not measured" are about other things."""
    assert list(summary.methods()) == ["VSE++", "HM-LSTM", "sm-LSTM", "DeFrag", "SCO"]
    checked = 0
    for method, entry in summary.methods().items():
        for column in summary.COLUMNS:
            found, verdict = summary.read_gain(entry[column]), entry[column]["verdict"].removeprefix("far ")
            fits = FITS.get(verdict)
            assert fits or verdict in ("not stable", "not measured", "not measured at equal effort"), verdict
            if fits and (found.interval or verdict in ("better", "lower")):
                assert fits(*(found.interval or (found.gain, found.gain))), (method, column)
                checked += 1
    assert checked >= 14


def test_the_summary_has_the_gains_of_its_tables():
    rows = generate.summary()
    vsepp = "| **better**: +16.6 (+12.2 to +21.0) | **better**: +8.1 (+3.4 to +12.9) |"
    assert f"| [VSE++](vse.md) {vsepp}" in rows
    assert "**lower**: -28.7 (no interval) | **lower**: -66.1 (-81.8 to -50.1) |" in rows


def test_the_figure_of_flickr8k_is_that_of_the_tables(tmp_path):
    summary.draw_summary(tmp_path / "gains.svg")
    drawn, kept = (IN_THE_SVG.findall(read(file)) for file in (tmp_path / "gains.svg", summary.PICTURE))
    assert {"+8.1", "-27.0", "VSE++"} < set(kept)
    assert drawn == kept, "run `python -m docs.summary`"


def test_a_table_of_claims_is_divided_by_paper():
    head = "| Paper | Claim    | Gain |\n| ----- | -------- | ---: |\n"
    first = f"## Test split\n\n{head}| A     | a \\| b | +1   |\n| B     | c        | -2   |\n"
    second = f"## Of A alone\n\n{head}| A     | d        | +3   |\n"
    text = f'# Claims\n\n{first}\n{second}\n- A, "d": a note.\n- B, "c": another.\n- Config 12.\n'
    shown = "| Claim | Gain |\n| --- | ---: |\n| c | -2 |"
    assert generate.paper_claims("B", text) == f'\nTest split\n\n{shown}\n\n- B, "c": another.\n- Config 12.\n'
    assert "\n| a \\| b | +1 |\n\nOf A alone\n" in generate.paper_claims("A", text)
    assert not generate.paper_claims("C", text)


def test_each_claim_on_the_page_of_a_paper_has_a_verdict():
    claims = {
        (page.name, claim)
        for page in RESULTS
        if page.name != "index.md"
        for claim in read(page).partition("\n## Claims\n")[2].partition("\n## ")[0].split("\n### ")[1:]
    }
    assert len(claims) >= 3 * (len(RESULTS) - 1)
    assert [(page, claim) for page, claim in claims if not VERDICT.search(claim)] == []


def test_claims_on_scenes_have_the_gains_of_the_demo_with_its_seed():
    shown = rows_of(read(ROOT / "README.md").split("<!-- table -->")[1].split("<!-- end of")[0])[2:]
    demo = {cells[1]: float(cells[-2]) for cells in shown}
    head, _, *rows = rows_of(read(DOCS / "tables/scenes_claims.md").split("\n## ")[1])
    better, worse, each = (head.index(name) for name in ("Better row", "Worse row", "Each seed"))
    with (DOCS / "tables/scenes_claims.csv").open(encoding="utf-8", newline="") as file:
        by_seed = [json.loads(row["gains"]) for row in csv.DictReader(file) if row["protocol"] == "full"]
    assert [row[each] for row in rows] == [f"{min(gains):+.1f} to {max(gains):+.1f}" for gains in by_seed]
    gains = {(row[better], row[worse]): seeds[0] for row, seeds in zip(rows, by_seed, strict=True)}
    known = {pair: gain for pair, gain in gains.items() if demo.keys() >= set(pair)}
    assert len(known) >= 5
    for (above, below), gain in known.items():
        assert gain == pytest.approx(demo[above] - demo[below], abs=0.11), (above, below)  # of rounded metrics


def test_photographs_of_the_readme_are_those_of_the_tables():
    rows = rows_of(read(ROOT / "README.md").split("<!-- photographs -->")[1].split("<!-- end of")[0])[2:]
    means = "".join(read(table).split("\n## ")[1] for table in (DOCS / "tables").glob("*_photographs.md"))
    (vse, rsum, *_), *others = (row[1:-1] for row in rows)
    for name, higher, gain, interval in others:
        cells = r" *\| +".join(map(re.escape, ("", name, higher, vse, rsum, gain, interval, "")))
        assert re.search(cells, means), name


def test_the_notebook_has_a_trial_a_row_in_the_order_of_their_days_and_each_row_that_a_page_names():
    for letter, rows in generate.notebook().items():
        assert [row["no"] for row in rows] == [f"{letter}{number}" for number in range(1, len(rows) + 1)]
        days = [DAY.match(row["when"])[0] for row in rows]
        assert all(earlier <= later for earlier, later in pairwise(days))
        assert all(cell and "|" not in cell for row in rows for cell in row.values())
        assert all(ANSWER.match(row["answer"]) for row in rows)
    known = {(row["no"], generate.TOPICS[letter]) for letter, rows in generate.notebook().items() for row in rows}
    cited = {page.name: set(CITED.findall(read(page))) for page in [*RESULTS, DOCS / "errata.md"]}
    assert all(cited.values())
    assert {page: rows - known for page, rows in cited.items() if rows - known} == {}


def test_the_notebook_s_page_shows_every_table():
    shown = re.findall(r"\{include\} generated/notebook/(.+)\.md", read(DOCS / "lab_notebook.md"))
    assert shown == list(generate.TOPICS.values())
    assert "| V1 | 2026-11-21 | Flickr8k | VSE | GRU of 512" in generate.notebook_table(generate.notebook()["V"])


# --- the site --------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def guide():
    return generate.Guide()


def listed(page):
    """The pages that stand below a page in the sidebar, as files."""
    tables = re.findall(r"```\{toctree\}\n(.*?)```", read(page), re.DOTALL)
    names = [line for table in tables for line in table.splitlines() if LISTED.match(line)]
    return [(page.parent / f"{name}.md").resolve() for name in names]


def test_every_page_is_in_the_sidebar_once_and_tables_stand_below_the_page_of_their_result():
    pages = [*OTHERS, *RESULTS]
    tables = [*(DOCS / "tables").glob("*.md")]
    top = listed(DOCS / "index.md")
    assert {page for page in top if generate.GENERATED not in page.parents} == {*pages} - {DOCS / "index.md"}
    assert {generate.GENERATED / f"{name}.md" for name in generate.TOP.values()} < set(top)
    assert len(set(top)) == len(top) <= 50, "a reader looks for a page among few"
    below = [table for page in pages if page.name != "index.md" or page in RESULTS for table in listed(page)]
    assert sorted(below) == sorted(tables)


def test_every_key_of_the_configuration_has_a_meaning(guide):
    options = [(name, part) for name, types in guide.options.items() for part in types.values()]
    keys, options = (
        [(name, *item) for name, part in found for item in part.get("properties", {}).items()]
        for found in (guide.definitions.items(), options)
    )
    assert len(keys) > 200
    assert len(options) > 100
    missing = [(name, key) for name, key, schema in [*keys, *options] if not guide.meaning(name, key, schema)]
    assert not missing, "give each a description"


def test_the_guide_names_every_key_of_every_folder(guide, tmp_path):
    guide.write(tmp_path / "guide")
    pages = {path.stem: read(path) for path in (tmp_path / "guide").glob("*.md")}
    folders = {path.name for path in (ROOT / "config").iterdir() if path.is_dir()} - {"published"}
    assert folders - settings_of_analyses().keys() <= pages.keys()
    for key in config_type().model_fields:
        assert key in pages or f"`{key}`" in pages["index"] + pages["analyses"]
    text = "\n".join(pages.values())
    for name, part in guide.definitions.items():
        for key in part.get("properties", {}):
            assert f"| `{key}` |" in text, f"{name}.{key}"
    meaning = "the margin by which matching pairs must score higher than contrastive ones"
    assert f"| `margin` | number at least 0 | `0.2` | {meaning} | public code |" in pages["methods"]


def test_words_for_a_table_keep_code_and_show_signs():
    assert generate.escape_markdown("a <b> or `c|d_<e>` | f_g") == r"a \<b\> or `c\|d_<e>` \| f\_g"


def test_a_page_from_elsewhere_keeps_its_links(tmp_path, monkeypatch):
    monkeypatch.setattr(generate, "ROOT", tmp_path)
    (tmp_path / "PAGE.md").write_text("[a](docs/api.md#b) [c](CHANGELOG.md) [d](examples/e.py) [f](https://g) [h](#i)")
    found = generate.relocate_page(tmp_path / "PAGE.md", "generated")
    assert found == "[a](../api.md#b) [c](changes.md) [d](../../examples/e.py) [f](https://g) [h](#i)"


def test_an_analysis_has_a_page_of_the_site(tmp_path):
    generate.write_analyses(tmp_path / "analyses")
    index = read(tmp_path / "analyses/index.md")
    for page in OF_ANALYSES:
        name = page.parent.name
        assert f"{name}.md) |" in index
        assert f"\n{name}\n" in index
        assert read(tmp_path / f"analyses/{name}.md").startswith(read(page).splitlines()[0])


@pytest.mark.long
def test_the_site_builds_without_a_warning(tmp_path):
    generate.main()
    options = ["--fail-on-warning", "--keep-going", "--nitpicky", "--quiet", "--builder", "html"]
    command = [sys.executable, "-m", "sphinx", *options, "--doctree-dir", tmp_path / "trees", DOCS, tmp_path / "html"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    pages = {path.stem: read(path) for path in (tmp_path / "html").glob("*.html")}
    assert not re.search(r"""<(script|link|img)[^>]*(src|href)=["']https?:""", pages["index"]), "it needs the network"
    assert 'href="command.html"><span class="doc">The command densevse</span>' in pages["install"], (
        "pages in code are links"
    )
    assert 'href="generated/analyses/index.html"' in re.sub(r"<aside.*?</aside>", "", pages["evaluation"]), (
        "files outside docs/ that are pages are links"
    )
