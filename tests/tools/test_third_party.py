import re
import tomllib

import yaml

from tools.environments import ROOT
from tools.third_party import OURS, PATH, page


def test_the_page_is_what_the_configuration_and_the_lock_say_with_each_restriction():
    text = PATH.read_text(encoding="utf-8")
    assert text == page(text), "run `make third-party`"
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
