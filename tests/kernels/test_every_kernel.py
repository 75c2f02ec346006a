"""Every kernel is compared with its plain definition."""

from pathlib import Path

ROOT = Path(__file__).parents[2]
KERNELS = {path.stem for path in (ROOT / "densevse/kernels").glob("*.py")} - {"__init__", "arrays"}
OTHER_WAYS = {
    "blocks_of_tanh_sums": "tanh_sums",
    "fused_tanh_sums": "tanh_sums",
    "fused_hlstm": "hlstm",
    "hlstm_steps": "hlstm",
}
"""Modules that compute the same as another kernel, which chooses between them."""


def test_tests_compare_values_and_gradients_of_each_kernel_with_the_definition():
    texts = {name: (ROOT / f"tests/kernels/test_{OTHER_WAYS.get(name, name)}.py").read_text() for name in KERNELS}
    assert {name for name, text in texts.items() if "definitions." not in text} == set()
    assert {name for name, text in texts.items() if "assert_same(" not in text} == set()
