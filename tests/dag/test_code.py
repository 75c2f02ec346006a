"""Which rules run again after an edit; snakeproof/tests/test_code.py tests how that is found."""

import pytest

from densevse.dag.project import project_code
from tests.projects import ROOT
from tests.rules import rules

CUTTING = {"tokenize_captions", "parse_by_grammar", "generate_captions", "export_onnx"}
"""The rules that cut sentences into words themselves; CoreNLP has words of its own."""


def reaching(module: str) -> set[str]:
    """The rules whose job reaches a module by imports; those of analyses are left out."""
    found = project_code(ROOT, ROOT / ".snakemake/densevse-code.json")
    calls = {name: rule.call for name, rule in rules().items() if rule.call and "analyses" not in rule.file.parts}
    return {name for name, call in calls.items() if module in found.reached(call)}


@pytest.mark.parametrize(
    ("module", "names"),
    [
        ("densevse/models/retrieval.py", {"retrieve", "retrieve_by_ensemble"}),
        ("densevse/models/ensembles.py", {"retrieve_by_ensemble"}),
        (
            "densevse/training/loop.py",
            {"train", "train_round", "train_generator", "train_concept_head", "train_concept_network", "train_network"},
        ),
        ("densevse/language/tokens.py", CUTTING),
        ("densevse/language/typewritten.py", {"parse", "parse_original", *CUTTING}),
        ("densevse/report/results.py", {"table", "table_of_rounds", "export_model"}),
    ],
)
def test_an_edit_of_a_module_reaches_the_jobs_that_use_it_and_no_others(module, names):
    assert reaching(module) == names
