"""The imports of the code are those that docs/architecture.md allows, and an analysis is one folder.

`rm -r densevse/analyses/<name>` and its line in the Snakefile delete an analysis.
"""

import ast
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cases import first_now
from tests.projects import ROOT, Project, copy_code
from tests.rules import rules

CORE = {
    "runtime",
    "config",
    "artifacts",
    "statistics",
    "methods",
    "kernels",
    "datasets",
    "language",
    "evaluation",
    "vision",
    "data",
}
CORE |= {"models", "training", "report", "dag", "scenes"}
ALLOWED = {
    "__init__": {"evaluation.given", "inference.model", "config.environment"},
    "runtime": set(),
    "config": {"runtime"},
    "extensions": {"config"},
    "artifacts": {"runtime.project"},
    "statistics": {"runtime"},
    "methods": {"kernels", "runtime.on_gpu", "config.values", "config.costs"},
    "kernels": {"runtime.on_gpu"},
    "datasets": {"runtime", "config", "artifacts"},
    "language": {"config", "artifacts"},
    "evaluation": {"runtime", "artifacts", "statistics", "config.given"},
    "vision": {"runtime", "config", "artifacts"},
    "data": {
        "runtime",
        "config.registries",
        "artifacts",
        "methods",
        "language",
        "evaluation",
        "vision.crops",
    },
    "models": {"runtime", "config", "artifacts", "methods", "language", "data", "evaluation"},
    "inference": CORE - {"dag", "report", "training", "scenes"},
    "training": CORE - {"dag", "report"},
    "report": {"runtime", "config", "artifacts", "statistics", "evaluation"},
    "dag": {
        "moved",
        "runtime",
        "config",
        "artifacts.shards",
        "report.published",
        "report.plan",
    },
    "scenes": {"config", "artifacts", "datasets", "language", "vision"},
    "analyses": CORE | {"command", "exchange", "inference"},
    "exchange": {"config", "artifacts", "report", "dag", "runtime.busy_servers"},
    "command": CORE | {"exchange"},
}
MODULES = sorted(path for path in (ROOT / "densevse").rglob("*.py") if "tests" not in path.parts)
ENGINE = sorted((ROOT / "snakeproof").glob("*.py"))
ANALYSES = ROOT / "densevse/analyses"
NAMES = sorted(path.parent.name for path in ANALYSES.glob("*/__init__.py"))
OF_FILES = {"pathlib", "os", "io", "json", "pandas", "pyarrow", "yaml", "safetensors"}
OF_JOBS = {"adoption", "pages", "schema", "store"}
"""The modules of the engine that no plan imports."""
HEAVY = {"torch", "torchvision", "pandas", "pyarrow", "cv2", "numpy", "stanza"}


def imports(path: Path) -> set[str]:
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            found.add(node.module)
    return found


def room_of(path: Path) -> str:
    room = path.relative_to(ROOT / "densevse").with_suffix("").parts[0]
    return "command" if room == "__main__" else room


def upward(path: Path) -> Iterator[str]:
    """The imports of a module that its room may not have."""
    room = room_of(path)
    for name in imports(path):
        parts = name.split(".")
        if parts[0] == "snakemake":
            yield f"{path} knows Snakemake; only workflow/ may"
        within = parts[0] != "densevse" or len(parts) == 1 or parts[1] in (room, "__init__")
        if not within and not {parts[1], ".".join(parts[1:3])} & ALLOWED[room]:
            yield f"{path}: {room} may not import {name}"


def test_imports_run_downwards():
    assert [line for path in MODULES for line in upward(path)] == []


def test_the_engine_knows_nothing_of_densevse_and_does_not_import_snakemake():
    found = {(path.name, name) for path in ENGINE for name in imports(path)}
    assert [one for one in found if one[1].split(".")[0] in ("densevse", "snakemake")] == []


def importing(libraries: set[str], *places: str) -> list[str]:
    """The modules, files or all those of a folder, that import one of these libraries."""
    paths = [
        path for place in places for path in ([ROOT / place] if place.endswith(".py") else (ROOT / place).rglob("*.py"))
    ]
    assert all(path.is_file() for path in paths)
    return [str(path) for path in paths if {name.split(".")[0] for name in imports(path)} & libraries]


def test_building_the_dag_imports_nothing_heavy():
    reached = ["artifacts/shards.py", "artifacts/identity.py", "evaluation/metrics.py"]
    reached += ["report/published.py", "report/plan.py"]
    rooms = ("densevse/config", "densevse/extensions", "densevse/dag")
    engine = [f"snakeproof/{path.name}" for path in ENGINE if path.stem not in OF_JOBS]
    assert importing(HEAVY, *rooms, *engine, *(f"densevse/{file}" for file in reached)) == []


WITHOUT_TORCH = """
import re, sys
from importlib import import_module
from pathlib import Path

class Refused:
    def find_spec(self, name, path=None, target=None):
        if name == "torch":
            raise ImportError("refused")

sys.meta_path.insert(0, Refused())
sys.path.insert(0, sys.argv[1])
rules = [path for folder in ("workflow/rules", "densevse") for path in Path(sys.argv[1], folder).rglob("*.smk")]
for module in sorted({found for path in rules for found in re.findall(r'"(densevse[\\w.]+):\\w+"', path.read_text())}):
    try:
        import_module(module)
    except ImportError as error:
        assert "refused" in str(error), error
        print(module.removeprefix("densevse."))
"""
"""Prints the modules of jobs that cannot be imported without torch."""

NEED_TORCH = ("models.", "training.", "inference.", "vision.extract", "vision.mcg.", "scenes.release")
ANALYSES_NEED_TORCH = {
    "alignments.aligning",
    "attention.explaining",
    "boundaries.bsds",
    "boundaries.matching",
    "caption_scores.oracles",
    "effort.training",
    "human_judgements.pair_scores",
    "localisation.localising",
    "localisation.windows",
    "perplexity.measuring",
    "plausible_matches.matches",
    "plausible_matches.table",
    "proposal_recall.times",
    "searches.searching",
}


def test_jobs_that_need_no_torch_do_not_load_it():
    """Loading it takes a job about two seconds and 500 MB."""
    command = [sys.executable, "-P", "-W", "ignore", "-c", WITHOUT_TORCH, str(ROOT)]
    found = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
    rest = [name for name in found if not name.startswith(NEED_TORCH)]
    assert rest == [*(f"analyses.{name}" for name in sorted(ANALYSES_NEED_TORCH)), "language.corenlp"]


def test_methods_and_kernels_know_no_files():
    assert importing(OF_FILES, "densevse/methods", "densevse/kernels") == []


def test_every_room_is_in_the_picture():
    rooms = {path.name for path in (ROOT / "densevse").iterdir() if path.is_dir() and path.name != "__pycache__"}
    text = (ROOT / "docs/architecture.md").read_text()
    assert rooms == set(ALLOWED) - {"__init__"}
    assert [room for room in rooms if f"`densevse/{room}/`" not in text and f"`{room}/`" not in text] == []


def starts_a_shell(path: Path) -> bool:
    calls = [node for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Call)]
    named = {ast.unparse(call.func) for call in calls} | {keyword.arg for call in calls for keyword in call.keywords}
    return bool(named & {"shell", "os.system", "os.popen", "subprocess.getoutput"})


def test_no_shell_is_started():
    """So none can be given a name that came out of a data file."""
    assert [path for path in [*MODULES, *(ROOT / "workflow/scripts").rglob("*.py")] if starts_a_shell(path)] == []
    rules_of = [ROOT / "Snakefile", *(ROOT / "workflow").rglob("*.smk"), *(ROOT / "densevse").rglob("*.smk")]
    assert [path for path in rules_of if re.search(r"^\s*shell(:|\()", path.read_text(), re.MULTILINE)] == []


def test_no_file_of_the_rest_names_what_an_analysis_is_made_of():
    """So that what is left can be imported, by tests too."""
    files = [file for room in ("densevse", "workflow", "tests") for file in (ROOT / room).rglob("*")]
    texts = {file: file.read_text(encoding="utf-8") for file in files if file.suffix in (".py", ".smk")}
    found = []
    for name in NAMES:
        own = "|".join(rule.name for rule in rules().values() if rule.file.parent == ANALYSES / name)
        named = re.compile(
            rf"\banalyses[./]{name}\b|\bdensevse\.analyses import .*\b{name}\b|\brules\.(?:{own or '(?!)'})\b"
        )
        rest = [file for file in texts if ANALYSES / name not in file.parents]
        found += [f"{file} names {name}" for file in rest if named.search(texts[file])]
    assert found == []


@pytest.mark.slow
@pytest.mark.parametrize("removed", first_now([NAMES[::2], NAMES[1::2]]), ids=lambda names: names[0])
def test_the_rest_can_be_planned_without_half_of_the_analyses(removed, tmp_path):
    project = Project(copy_code(tmp_path / "project"))
    project.configure({})
    snakefile = project.folder / "Snakefile"
    text = snakefile.read_text()
    for name in removed:
        shutil.rmtree(project.folder / "densevse/analyses" / name)
        line = f'include: f"{{ANALYSES}}/{name}/rules.smk"\n'
        assert text.count(line) == 1, name
        text = text.replace(line, "")
    snakefile.write_text(text)
    planned = project.planned()
    gone = {rule.name for rule in rules().values() if rule.file.parent.name in removed}
    assert gone
    assert {"train", "retrieve", "table"} <= planned.keys()
    assert gone.isdisjoint(planned)
