"""README.md quotes the example as it is, and names every module."""

import re

from snakeproof.tests.workflows import ENGINE

README = (ENGINE / "README.md").read_text(encoding="utf-8")


def test_it_quotes_the_example():
    texts = [
        path.read_text() for path in (ENGINE / "example").rglob("*") if path.suffix == ".py" or path.name == "Snakefile"
    ]
    quotes = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
    assert len(quotes) == 3
    assert [quote for quote in quotes if not any(quote in text for text in texts)] == []


def test_it_names_each_module_once():
    named = re.findall(r"^\| `(\w+)` \|", README, re.MULTILINE)
    assert sorted(named) == sorted(path.stem for path in ENGINE.glob("*.py") if path.stem != "__init__")


def test_it_is_short_and_promises_no_package():
    assert len(README.splitlines()) <= 120
    assert max(map(len, README.splitlines())) <= 120
    assert "pip install snakeproof" not in README
