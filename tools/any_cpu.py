"""Shows that exact jobs have the same bits on other processors: `make any-cpu`, with qemu, in half an hour.

A table of a few generated pictures is made with `exact: true`: on this processor, and with all jobs on emulated ones
that have AVX2 and no AVX-512. Its files are compared: drawn pictures, selective search, features, the concept network,
a training of a few steps of each method, ranks, and the table with its intervals. Emulated jobs are 10 to 30 times
slower.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from densevse.runtime.exact import why_not_exact
from snakeproof.statements import ARTIFACTS, digest

ROOT = Path(__file__).parents[1]
PROCESSORS = ("EPYC-Rome", "Haswell")
"""Of AMD and of Intel, as qemu names them; it emulates no AVX-512."""
EMULATOR = "qemu-x86_64"
TABLE = "results/tables/scenes.md"

_ONE_EPOCH = {"epochs": 1}
_TINY = {"parameters": {"dimension": 32}}
SETTINGS: Mapping[str, Any] = {
    "exact": True,
    "datasets": {"scenes": {"options": {"images": {"train": 40, "val": 8, "test": 12}}}},
    "tables": {"scenes": {"measure": ["vse", "hm_lstm", "sm_lstm", "defrag", "sco"]}},
    "concept_networks": {"multi_label_scenes": {"phases": {"main": _ONE_EPOCH}}},
    "methods": {
        "vse": {"datasets": {"scenes": {"phases": {"main": _ONE_EPOCH}, **_TINY}}},
        "hm_lstm": {
            "datasets": {
                "scenes": {
                    "phases": {"sentences": _ONE_EPOCH, "phrases": _ONE_EPOCH},
                    "rounds": [["sentences"], ["phrases"]],
                    **_TINY,
                }
            }
        },
        "sm_lstm": {"datasets": {"scenes": {"phases": {"main": _ONE_EPOCH}, "parameters": {"context_dimension": 32}}}},
        "defrag": {"datasets": {"scenes": {"phases": {"multiple_instance": _ONE_EPOCH}, **_TINY}}},
        "sco": {"datasets": {"scenes": {"phases": {"main": _ONE_EPOCH}, **_TINY}}},
    },
}

# Python imports a module of this name as it starts. The process of a job, and those that it starts, begin again as
# emulated ones; Snakemake's own stay as they are. There NumPy sorts indices without vectors: qemu 7.2 gathers numbers
# wrongly, so that argsort returns another order or ends the process (findings/qemu_argsort.sh).
BEGIN = """
import os, sys

given = " ".join(sys.orig_argv)
is_job = ".snakemake/scripts/" in given or "multiprocessing.spawn" in given
if is_job and os.environ.get("EMULATED_PROCESS") != str(os.getpid()):
    os.environ["EMULATED_PROCESS"] = str(os.getpid())
    emulator = os.environ["EMULATOR"].split()
    os.execvp(emulator[0], [*emulator, sys.executable, *sys.orig_argv[1:]])


class AfterNumPy:
    def find_spec(self, name, path=None, target=None):
        if name != "numpy":
            return None
        from importlib.util import find_spec

        sys.meta_path.remove(self)
        found = find_spec(name)
        load = found.loader.exec_module
        found.loader.exec_module = lambda module: (load(module), sort_stably(module.ndarray))
        return found


def sort_stably(array):
    import ctypes, gc

    own = array.argsort
    gc.get_referents(array.__dict__)[0]["argsort"] = lambda self, axis=-1, *_, **__: own(self, axis, "stable")
    ctypes.pythonapi.PyType_Modified(ctypes.py_object(array))


if is_job:
    sys.meta_path.insert(0, AfterNumPy())
"""


def make_table(folder: Path, processor: str | None) -> subprocess.Popen[str]:
    """Starts a run in an empty folder, with its jobs on an emulated processor if one is named."""
    folder.mkdir(parents=True)
    (folder / "settings.yaml").write_text(json.dumps(SETTINGS), encoding="utf-8")
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    if processor:
        (folder / "begin").mkdir()
        (folder / "begin/sitecustomize.py").write_text(BEGIN, encoding="utf-8")
        environment |= {"PYTHONPATH": f"{folder / 'begin'}:{ROOT}", "EMULATOR": f"{EMULATOR} -cpu {processor}"}
    command = [sys.executable, "-m", "densevse", "run", TABLE, "--cores", "1"]
    with (folder / "log").open("w") as log:
        return subprocess.Popen(
            [*command, "--configfile", "settings.yaml"],
            cwd=folder,
            env=environment,
            stdout=log,
            stderr=subprocess.STDOUT,
            text=True,
        )


def made_files(folder: Path) -> list[str]:
    """The files of a run that are compared, in the order in which they were made."""
    kinds = {*ARTIFACTS, ".md", ".csv"}
    found = [path for path in (folder / "results").rglob("*") if path.suffix in kinds]
    found += (folder / "resources/scenes").glob("*.zip")  # the pictures
    files = [path for path in found if not any(part.startswith(".") for part in path.relative_to(folder).parts)]
    return [str(path.relative_to(folder)) for path in sorted(files, key=lambda path: path.stat().st_mtime_ns)]


def contents(path: Path) -> object:
    """The part of a file that two processors must share: its rows, without its statement and without times."""
    if path.name.endswith("history.parquet"):
        return pd.read_parquet(path).drop(columns="seconds").to_csv()
    return digest(path) if path.suffix in ARTIFACTS else path.read_bytes()


def differing_files(one: Path, other: Path) -> Iterator[str]:
    """The files of a run that another one has not, or with other contents, in the order in which they were made."""
    for file in made_files(one):
        if not (other / file).is_file() or contents(one / file) != contents(other / file):
            yield file


def main() -> int:
    """Makes the table on all processors, and prints for each the first file that differs; returns an exit status."""
    if shutil.which(EMULATOR) is None:
        print(f"{EMULATOR} is not installed; on Debian and Ubuntu: apt-get install qemu-user", file=sys.stderr)
        return 2
    if reason := why_not_exact(gpu=0):
        print(f"Nothing to compare with: {reason}.", file=sys.stderr)
        return 2
    folder = Path(tempfile.mkdtemp(prefix="densevse-any-cpu-"))
    runs = {name: make_table(folder / name, name) for name in PROCESSORS}
    runs["native"] = make_table(folder / "native", None)
    if failed := [name for name, run in runs.items() if run.wait()]:
        print("\n".join(f"The run failed: {folder / name}/log" for name in failed), file=sys.stderr)
        return 1
    differing = {name: next(differing_files(folder / "native", folder / name), None) for name in PROCESSORS}
    for name, first in differing.items():
        same = f"all {len(made_files(folder / 'native'))} files are the same"
        print(f"{name}: {f'{first} differs' if first else same}")
    flags = Path("/proc/cpuinfo").read_text(encoding="utf-8").split()
    print("AVX-512 shown" if "avx512f" in flags else "AVX-512 not shown: this processor has none")
    if any(differing.values()):
        print(f"The runs: {folder}")
        return 1
    shutil.rmtree(folder)
    return 0


if __name__ == "__main__":
    sys.exit(main())
