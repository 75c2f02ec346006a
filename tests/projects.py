"""A separate project for a test: the workflow's code in an empty folder, and a way to run it there."""

import copy
import importlib
import json
import multiprocessing
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
OLDER = ROOT / "tests/older/5febe9e3.tar.xz"
"""The finished project of a few images that commit 5febe9e3 made: results with records, and test.yaml."""
FORKS = multiprocessing.get_context("forkserver")
# Imports of every dry run besides this project, which would take most of its time.
FORKS.set_forkserver_preload(
    ["snakemake.cli", "snakemake.workflow", "snakemake.dag", "snakemake.report", "nbformat", "smart_open", "numpy"]
)
FACTS = ".snakemake/densevse-code.json"
CODE = ("Snakefile", "workflow", "config", "profiles", "envs", "densevse", "snakeproof")
STARTED_FROM = ("examples/flickr8k.yaml", "examples/flickr8k_lite.yaml")
"""The settings that `densevse new` starts from."""

DIMENSION = {"parameters": {"dimension": 16}}

# A data set so small that a whole run takes seconds; its metrics are meaningless.
SMALL = {
    "datasets": {
        "scenes": {
            "options": {"images": {"train": 48, "val": 16, "test": 16}},
            "exact": False,  # as on a machine where no job can be
        }
    },
    "tables": {"scenes": {"measure": ["vse", "vsepp"]}},
    "methods": {
        "vse": {
            "datasets": {"scenes": {"phases": {name: {"epochs": 1} for name in ("main", "settle")}, **DIMENSION}},
            "variants": {
                "vsepp": {"datasets": {"scenes": {"phases": {name: {"epochs": 1} for name in ("warm_up", "main")}}}}
            },
        },
        "hm_lstm": {
            "datasets": {
                "scenes": {
                    "phases": {name: {"epochs": 1} for name in ("sentences", "phrases")},
                    "rounds": [["sentences"], ["phrases"], ["phrases"]],
                    **DIMENSION,
                }
            }
        },
    },
}

# The same with another learning rate at the end of both variants' training.
ANOTHER_RATE = copy.deepcopy(SMALL)
for _entry in (ANOTHER_RATE["methods"]["vse"], ANOTHER_RATE["methods"]["vse"]["variants"]["vsepp"]):
    _entry["datasets"]["scenes"]["phases"]["settle"] = {"epochs": 1, "learning_rate": 0.05}

# The same with a method that learns correspondences, whose rounds follow one another.
SMALL_ROUNDS = copy.deepcopy(SMALL)
SMALL_ROUNDS["tables"]["scenes"]["measure"] = ["vse", "hm_lstm"]


@dataclass
class Project:
    """The workflow in a separate folder."""

    folder: Path

    def configure(self, values: dict) -> None:
        (self.folder / "test.yaml").write_text(json.dumps(values))

    def copy(self, folder: Path, values: dict) -> "Project":
        """Copies everything, with results, into `folder`, with another configuration."""
        shutil.copytree(self.folder, folder, symlinks=True)
        project = Project(folder)
        project.configure(values)
        return project

    def command(self) -> list[str]:
        """The command that starts Snakemake in the folder, without targets."""
        return [sys.executable, "-m", "snakemake", "--cores", "2", "--configfile", "test.yaml"]

    def run(
        self, *arguments: str, check: bool = True, through: Callable[[list[str]], list[str]] = list
    ) -> subprocess.CompletedProcess:
        """Runs Snakemake to its end; `through` changes Snakemake's command."""
        options = [argument for argument in arguments if argument.startswith("-")]
        targets = [argument for argument in arguments if not argument.startswith("-")]
        command = through([*self.command(), *options, "--", *targets])
        environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
        done = subprocess.run(
            command, cwd=self.folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )
        assert done.returncode == 0 or not check, done.stdout[-6000:]
        return done

    def adopt(self, *targets: str) -> tuple[int, str]:
        """The exit status of `densevse adopt` and what it prints."""
        command = [sys.executable, "-P", "-c", "import sys; from densevse.command.main import main; sys.exit(main())"]
        done = subprocess.run(
            [*command, "adopt", *targets, "--configfile", "test.yaml"],
            cwd=self.folder,
            env={**os.environ, "PYTHONPATH": str(self.folder)},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        return done.returncode, done.stdout

    def planned(self, *targets: str) -> dict[str, int]:
        """Rule -> number of jobs that a run would start."""
        status, text = self.plan(*targets)
        assert status == 0, text[-6000:]
        return job_counts(text)

    def plan(self, *targets: str) -> tuple[int, str]:
        """The exit status of a dry run and what it prints.

        Its process is forked from one that has imported Snakemake, and nothing of this project.
        """
        output = self.folder / "plan.log"
        process = FORKS.Process(target=_dry_run, args=(self.folder, targets, output))
        process.start()
        process.join()
        return int(process.exitcode or 0), output.read_text()


def hearing(number: int) -> Callable[[], None]:
    """A `preexec_fn`: the process hears this signal also where the tests ignore it, with nohup or in the background."""
    return lambda: signal.signal(number, signal.SIG_DFL)


def without_power_over_permissions(command: list[str]) -> list[str]:
    """The same command for a user who may not write to what is read-only, as root may."""
    return command if os.geteuid() else ["setpriv", "--bounding-set", "-dac_override", *command]


def _dry_run(folder: Path, targets: Sequence[str], output: Path) -> None:
    assert "densevse" not in sys.modules
    with output.open("w") as file:
        for stream in (1, 2):
            os.dup2(file.fileno(), stream)
    os.chdir(folder)
    os.environ.pop("PYTHONPATH", None)
    sys.path[:] = [path for path in sys.path if Path(path or ".").resolve() != ROOT]
    main = importlib.import_module("snakemake.cli").main
    main(["--dry-run", "--cores", "2", "--configfile", "test.yaml", "--", *targets])


def job_counts(text: str) -> dict[str, int]:
    """Rule -> number of jobs, from what Snakemake prints before a run."""
    table = text.partition("Job stats:")[2].partition("\n\n")[0]
    rows = [line.split() for line in table.splitlines()]
    return {row[0]: int(row[1]) for row in rows if len(row) == 2 and row[1].isdigit() and row[0] != "total"}


def copy_code(folder: Path) -> Path:
    """Copies the files of the workflow into `folder`.

    What is known of these files comes with them, or each project's first run would find it again: compiled modules,
    but for those that are being written, and the facts of which digests are made.
    """
    importlib.import_module("densevse.dag.project").project_code(
        ROOT, ROOT / FACTS
    )  # not above: a dry run has the project's own
    for name in (*CODE, *STARTED_FROM, FACTS):
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, folder / name, ignore=shutil.ignore_patterns("*.pyc.*", "*.tmp.*", "tests"))
        else:
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source, folder / name)
    return folder
