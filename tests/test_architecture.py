"""The imports of the code are those that docs/architecture.md allows."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parent.parent
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
    "__init__": {"evaluation.given"},
    "runtime": set(),
    "config": {"runtime"},
    "extensions": {"config"},
    "artifacts": {"runtime"},
    "statistics": {"runtime"},
    "methods": {"kernels", "runtime.errors", "config.strict"},
    "kernels": set(),
    "datasets": {"runtime", "config", "artifacts"},
    "language": {"runtime", "config", "artifacts"},
    "evaluation": {"runtime", "artifacts", "statistics", "config.given", "config.validation", "kernels.order"},
    "vision": {"runtime", "config", "artifacts", "datasets.images"},
    "data": {
        "runtime",
        "config.architectures",
        "config.views",
        "artifacts",
        "methods",
        "language",
        "evaluation",
        "datasets.images",
        "vision.crops",
    },
    "models": {"runtime", "config", "artifacts", "methods", "language", "data", "evaluation"},
    "training": CORE - {"dag", "report", "scenes"},
    "report": {"runtime", "config", "artifacts", "datasets.images", "statistics", "evaluation"},
    "dag": {"runtime", "config", "artifacts.shards", "artifacts.files", "report.published", "report.plan"},
    "scenes": CORE - {"dag", "report"},
    "analyses": CORE | {"command", "exchange"},
    "exchange": {"runtime", "config", "artifacts", "report", "dag"},
    "command": CORE | {"exchange"},
}
MODULES = sorted(path for path in (ROOT / "densevse").rglob("*.py") if "tests" not in path.parts)


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


def test_building_the_dag_imports_nothing_heavy():
    heavy = {"torch", "torchvision", "pandas", "pyarrow", "cv2", "numpy", "stanza"}
    rooms = [path for room in ("config", "extensions", "dag") for path in (ROOT / "densevse" / room).rglob("*.py")]
    reached = ["artifacts/shards.py", "artifacts/files.py", "artifacts/identity.py", "evaluation/metrics.py"]
    reached += [f"report/{name}.py" for name in ("published", "published_files", "plan")]
    for path in [*rooms, *(ROOT / "densevse" / file for file in reached)]:
        assert not {name.split(".")[0] for name in imports(path)} & heavy, path


def test_methods_and_kernels_know_no_files():
    forbidden = {"pathlib", "os", "io", "json", "pandas", "pyarrow", "yaml", "safetensors"}
    for path in [*(ROOT / "densevse/methods").rglob("*.py"), *(ROOT / "densevse/kernels").glob("*.py")]:
        assert not {name.split(".")[0] for name in imports(path)} & forbidden, path


def test_every_room_is_in_the_picture():
    rooms = {path.name for path in (ROOT / "densevse").iterdir() if path.is_dir() and path.name != "__pycache__"}
    text = (ROOT / "docs/architecture.md").read_text()
    assert rooms == set(ALLOWED) - {"__init__"}
    for room in rooms:
        assert f"`densevse/{room}/`" in text or f"`{room}/`" in text, room


def test_no_shell_is_started():
    """So none can be given a name that came out of a data file."""
    for path in [*MODULES, *(ROOT / "workflow/scripts").rglob("*.py")]:
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call):
                assert "shell" not in {keyword.arg for keyword in node.keywords}, path
                assert ast.unparse(node.func) not in {"os.system", "os.popen", "subprocess.getoutput"}, path
    for path in [ROOT / "Snakefile", *(ROOT / "workflow").rglob("*.smk"), *(ROOT / "densevse").rglob("*.smk")]:
        assert not re.search(r"^\s*shell(:|\()", path.read_text(), re.MULTILINE), path
