import re
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_each_known_error_names_a_test_that_exists():
    text = (ROOT / "docs/known-errors.md").read_text(encoding="utf-8")
    named = set(re.findall(r"`(test_\w+)`", text))
    assert len(named) > 100
    there = {
        name
        for folder in ("tests", "densevse/analyses", "snakeproof/tests")
        for file in (ROOT / folder).rglob("test_*.py")
        for name in re.findall(r"def (test_\w+)\(", file.read_text())
    }
    assert named <= there
    for line in text.splitlines():
        assert not line.startswith("| ") or line.startswith("| error") or "`test_" in line, line
