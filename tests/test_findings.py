"""Each finding says what was expected and whom it hurts, pins its packages, and is on its page. None is run here."""

import re
import stat
import subprocess

import pytest

from tools.environments import ROOT

SCRIPTS = sorted((ROOT / "findings").glob("*"))
ROW = re.compile(r"^\| `(\w+)` \| .+ \| (`.+`) \| (\d{4}-\d\d-\d\d) \|$", re.MULTILINE)
INSTALLED = re.compile(r"pip\" install ((?:.*\\\n)*.*)\n")
EXPECTED = re.compile(
    r'^# (?:Guess, written before the run|Expected|[\w\' ]+ says? of [\w\' ]+): "[^"]+"', re.MULTILINE
)


def head(script):
    """The comment at the beginning, as one paragraph for each of its parts."""
    lines = script.read_text(encoding="utf-8").split("\nset -euo pipefail\n")[0].splitlines()[1:]
    assert all(line.startswith("# ") for line in lines)
    parts = re.split(r"\n# (?=Seen on |Hurts: )", "\n".join(lines))
    return [f"# {part.removeprefix('# ')}".replace("\n# ", " ") for part in parts]


def test_the_page_lists_the_findings_and_nothing_else():
    page = (ROOT / "docs/findings.md").read_text(encoding="utf-8")
    rows = ROW.findall(page)
    assert [f"{name}.sh" for name, *_ in rows] == [script.name for script in SCRIPTS]
    assert len(rows) == page.count("\n| ") - 1
    assert len(rows) >= 8


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.stem)
def test_a_finding_has_its_head_and_pins_what_it_installs(script):
    text = script.read_text(encoding="utf-8")
    expected, seen, hurts = head(script)
    assert EXPECTED.match(expected), expected
    assert re.match(r"# Hurts: who ", hurts), hurts
    versions, date = next(
        rest for name, *rest in ROW.findall((ROOT / "docs/findings.md").read_text("utf-8")) if name == script.stem
    )
    assert seen.startswith(f"# Seen on {date}: ")
    (installed,) = INSTALLED.findall(text)
    pins = [word for word in installed.replace("\\\n", "").split() if not word.startswith("--")]
    assert pins, "it installs nothing"
    assert all(re.fullmatch(r"[\w.-]+==\d[\w.]*", pin) for pin in pins)
    assert {version.replace(" ", "==") for version in re.findall(r"`(.+?)`", versions)} <= set(pins)
    assert "folder=$(mktemp -d)\ntrap 'rm -rf \"$folder\"' EXIT\n" in text, "the folder is removed at the end"
    assert "assert " in text, "it fails if the behaviour is another one"
    assert not re.search(r"densevse|https?:|index-url", text)


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.stem)
def test_a_finding_is_a_whole_program(script):
    subprocess.run(["bash", "-n", script], check=True)
    (program,) = re.findall(r"<<'PYTHON'\n(.*)PYTHON\n", script.read_text(encoding="utf-8"), re.DOTALL)
    compile(program, script.name, "exec")
    assert not script.stat().st_mode & stat.S_IXUSR, "make findings runs it"
