"""The start page of a report, through the same template and docutils as Snakemake."""

import re
import subprocess
from datetime import date
from pathlib import Path
from types import SimpleNamespace

import pytest
from docutils.core import publish_parts
from jinja2 import Environment
from PIL import Image

from densevse.report.rendering import Document, Sheet, TableColumn
from densevse.report.start_page import start_page

TEMPLATE = Path(__file__).parents[2] / "workflow/report/workflow.rst"


@pytest.fixture
def files(tmp_path):
    """The files of a report on a data set: two tables, a page of another rule, and pictures."""
    sheet = Sheet("Scenes: 3 images", (TableColumn("Method", number=False), TableColumn("R@1")), [["A & B", "9.8"]])
    names = ("tables/scenes_regions.html", "tables/scenes.html", "search/scenes.html")
    for name in names:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(Document(f"Title of {name}", [sheet, sheet], ["a note"]).html(), encoding="utf-8")
    pictures = ("saliency.png", "average_saliency.png", "correspondences.png", "examples/vse.png", "alignments.png")
    for name in pictures:
        path = tmp_path / "figures/scenes" / name
        path.parent.mkdir(exist_ok=True, parents=True)
        Image.effect_noise((2000, 400), 100).save(path)
    (tmp_path / "figures/scenes_gains.svg").write_text("<svg/>")
    found = [tmp_path / name for name in names]
    found += [tmp_path / "figures/scenes" / name for name in pictures] + [tmp_path / "figures/scenes_gains.svg"]
    text = 'def draw(x):\n    """Draws <x>."""\n\n    return x & 1'
    calls = SimpleNamespace(sources=lambda rules: {"draw": ("densevse.report:draw", text)})
    known = {"workflow": SimpleNamespace(rules=[]), "calls": calls}
    known |= {
        "start_page": start_page,
        "ROOT": tmp_path,
        "settings": SimpleNamespace(datasets={"scenes": None, "coco": None}),
    }
    return [
        SimpleNamespace(
            path=path,
            job=SimpleNamespace(
                rule=SimpleNamespace(name="table" if path.parent.name == "tables" else "other", module_globals=known)
            ),
        )
        for path in found
    ]


def rendered(files):
    """The page as Snakemake renders it; errors of docutils would appear in it."""
    text = Environment(trim_blocks=True, lstrip_blocks=True).from_string(TEMPLATE.read_text()).render(files=files)
    return publish_parts(text, writer="html", settings_overrides={"halt_level": 2})["html_body"]


def test_it_shows_the_main_table_and_three_pictures(files):
    page = rendered(files)
    assert re.findall("<h2>(.*?)</h2>", page) == ["Title of tables/scenes.html", "Rules and their functions"]
    assert page.count("<table>") == 1
    assert "<td>A &amp; B</td>" in page
    shown = re.findall(r'<img alt="[^"]*/figures/([^"]*)" src="data:([^;]*);base64,', page)
    assert shown == [
        ("scenes_gains.svg", "image/svg+xml"),
        ("scenes/correspondences.png", "image/jpeg"),
        ("scenes/saliency.png", "image/jpeg"),
    ]


def test_pictures_are_made_as_wide_as_the_page(files):
    assert len(start_page(files, ["scenes"], {}, Path())) < 1_000_000


def test_where_no_data_set_has_a_table_every_table_is_shown(files):
    assert start_page(files, ["flickr8k"], {}, Path()).count("<table>") == 2


def test_a_report_of_pictures_alone_has_pictures(files):
    pictures = [file for file in files if file.path.suffix == ".png"]
    page = start_page(pictures, ["scenes"], {}, Path())
    assert "<table>" not in page
    assert page.count("<img") == 3


def test_an_empty_report_has_its_text():
    page = rendered([])
    assert "five papers" in page
    assert "<img" not in page


def test_a_page_that_is_no_table_is_named(files):
    files[1].path.write_text("<p>nothing</p>")
    with pytest.raises(ValueError, match=r"scenes\.html: expected the page of a table"):
        start_page(files, ["scenes"], {}, Path())


def test_it_prints_the_function_of_each_rule(files):
    page = rendered(files)
    assert "<summary>draw: <code>densevse.report:draw</code></summary>" in page
    assert "Draws &lt;x&gt;.&quot;&quot;&quot;\n\n    return x &amp; 1</pre>" in page


def test_it_names_its_day_and_the_commit_of_a_clone(files, tmp_path):
    today = date.today().isoformat()
    assert f"<p>Written on {today}.</p>" in rendered(files)
    git = ["git", "-C", str(tmp_path), "-c", "user.name=me", "-c", "user.email=me@here"]
    for command in (["init", "--quiet"], ["commit", "--quiet", "--allow-empty", "--message", "first"]):
        subprocess.run([*git, *command], check=True)
    assert re.search(rf"<p>Written on {today}, at commit [0-9a-f]{{7,}} of \d{{4}}-\d\d-\d\d\.</p>", rendered(files))
