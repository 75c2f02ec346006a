"""The site: its pages are in its index, the guide to the configuration is whole, and it builds without a warning."""

import re
import subprocess
import sys

import pytest

from densevse.config.analyses import settings_of_analyses
from densevse.config.config import with_analyses
from docs import generate
from tools.environments import ROOT

DOCS = ROOT / "docs"
LISTED = re.compile(r"^(?!:)[\w/-]+$")


def listed(page):
    """The pages that the tables of contents of a page name."""
    tables = re.findall(r"```\{toctree\}\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)
    return [line for table in tables for line in table.splitlines() if LISTED.match(line)]


@pytest.fixture(scope="module")
def guide():
    return generate.Guide()


def test_every_page_is_in_the_index():
    pages = {
        path.relative_to(DOCS).with_suffix("").as_posix()
        for folder in (".", "results", "tutorials", "tables")
        for path in (DOCS / folder).glob("*.md")
    }
    named = listed(DOCS / "index.md")
    assert len(set(named)) == len(named)
    assert {name for name in named if not name.startswith("generated/")} == pages - {"index"}
    assert {"generated/contributing", "generated/third_party", "generated/changes"} < set(named)


def test_every_key_of_the_configuration_has_a_meaning(guide):
    keys = [
        (name, key, schema)
        for name, part in guide.definitions.items()
        for key, schema in part.get("properties", {}).items()
    ]
    options = [
        (name, key, schema)
        for name, types in guide.options.items()
        for part in types.values()
        for key, schema in part.get("properties", {}).items()
    ]
    assert len(keys) > 200
    assert len(options) > 100
    missing = [(name, key) for name, key, schema in [*keys, *options] if not guide.meaning(name, key, schema)]
    assert not missing, "give each a description"


def test_the_guide_names_every_key_of_every_folder(guide, tmp_path):
    guide.write(tmp_path / "guide")
    pages = {path.stem: path.read_text(encoding="utf-8") for path in (tmp_path / "guide").glob("*.md")}
    folders = {path.name for path in (ROOT / "config").iterdir() if path.is_dir()} - {"published"}
    assert folders - settings_of_analyses().keys() <= pages.keys()
    for key in with_analyses().model_fields:
        assert key in pages or f"`{key}`" in pages["index"] + pages["analyses"]
    text = "\n".join(pages.values())
    for name, part in guide.definitions.items():
        for key in part.get("properties", {}):
            assert f"| `{key}` |" in text, f"{name}.{key}"
    meaning = "the margin by which matching pairs must score higher than contrastive ones"
    assert f"| `margin` | number at least 0 | `0.2` | {meaning} | public code |" in pages["methods"]


def test_words_for_a_table_keep_code_and_show_signs():
    assert generate.escaped("a <b> or `c|d_<e>` | f_g") == r"a \<b\> or `c\|d_<e>` \| f\_g"


def test_a_page_from_elsewhere_keeps_its_links(tmp_path, monkeypatch):
    monkeypatch.setattr(generate, "ROOT", tmp_path)
    (tmp_path / "PAGE.md").write_text("[a](docs/api.md#b) [c](CHANGELOG.md) [d](examples/e.py) [f](https://g) [h](#i)")
    found = generate.at_home(tmp_path / "PAGE.md", "generated")
    assert found == "[a](../api.md#b) [c](changes.md) [d](../../examples/e.py) [f](https://g) [h](#i)"


@pytest.mark.long
def test_the_site_builds_without_a_warning(tmp_path):
    generate.main()
    options = ["--fail-on-warning", "--keep-going", "--nitpicky", "--quiet", "--builder", "html"]
    command = [sys.executable, "-m", "sphinx", *options, "--doctree-dir", tmp_path / "trees", DOCS, tmp_path / "html"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    pages = {path.stem: path.read_text(encoding="utf-8") for path in (tmp_path / "html").glob("*.html")}
    assert not re.search(r"""<(script|link|img)[^>]*(src|href)=["']https?:""", pages["index"]), "it needs the network"
    assert 'href="command.html"><span class="doc">The command densevse</span>' in pages["searches"], (
        "pages in code are links"
    )
