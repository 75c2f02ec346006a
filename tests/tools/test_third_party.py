import re
import tomllib

import yaml

from tools.environments import ROOT
from tools.third_party import OURS, PATH, page


def test_the_page_is_what_the_configuration_and_the_lock_say():
    text = PATH.read_text(encoding="utf-8")
    assert text == page(text), "run `make third-party`"


def test_each_download_and_each_restriction_is_named():
    text = PATH.read_text(encoding="utf-8")
    stated = re.findall(
        r"^\s+licence: (.+)$", "".join(p.read_text() for p in ROOT.glob("config/*/*.yaml")), re.MULTILINE
    )
    assert len(stated) > 20
    assert not [licence for licence in stated if licence != OURS and f" {licence} |" not in text]
    for name in ("CoreNLP", "METEOR", "SPICE", "HED", "higra", "MCG's sample", "CC BY 4.0"):
        assert name in text


def test_the_citation_and_the_newest_changes_have_the_version_of_the_package():
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert cited["version"] == tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
    newest, day = re.findall(r"^## ([\d.]+) \(([\d-]+)\)$", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)[0]
    assert (newest, day) == (cited["version"], str(cited["date-released"]))
    assert len(cited["references"]) == 5


def test_the_forms_of_issues_ask_for_something():
    forms = [path for path in (ROOT / ".github/ISSUE_TEMPLATE").glob("*.yml") if path.name != "config.yml"]
    assert {path.stem for path in forms} == {"bug", "number", "method"}
    for path in forms:
        form = yaml.safe_load(path.read_text(encoding="utf-8"))
        assert {"name", "description", "body"} <= form.keys()
        ids = [part["id"] for part in form["body"]]
        assert len(set(ids)) == len(ids) > 3
        assert any(part.get("validations", {}).get("required") for part in form["body"])
