"""Every kernel is compared with its plain definition."""

from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
NO_KERNELS = {"__init__", "arrays", "definitions"}
KERNELS = sorted(path.stem for path in (ROOT / "densevse/kernels").glob("*.py") if path.stem not in NO_KERNELS)


@pytest.mark.parametrize("name", KERNELS)
def test_a_test_compares_values_and_gradients_with_the_definition(name):
    text = (ROOT / f"tests/kernels/test_{name}.py").read_text()
    assert "definitions." in text
    assert "assert_same(" in text or name == "teaching"  # a layout of integers has no gradient


def test_nothing_else_calls_the_definitions():
    for path in (ROOT / "densevse").rglob("*.py"):
        assert "kernels.definitions" not in path.read_text(), path
        assert "kernels import definitions" not in path.read_text(), path
