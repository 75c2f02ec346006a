"""The command finds its subcommands, and reports invalid command lines."""

import importlib.util
import re
import subprocess
import sys
from importlib import import_module

import pytest

from densevse.command.main import main, subcommands
from tests.rules import ROOT

HEAVY = {"torch", "numpy", "pandas", "pyarrow", "pydantic", "yaml", "snakemake"}


def test_help_names_every_subcommand_in_a_line(densevse):
    answer = densevse("--help")
    assert answer.status == 0
    for name, module in subcommands().items():
        assert f"  {name:<9} {import_module(module).HELP}" in answer.lines


def test_help_imports_nothing_heavy():
    program = "import sys; from densevse.command.main import main\ntry: main(['--help'])\nexcept SystemExit: pass\n"
    program += f"print(sorted({HEAVY} & set(sys.modules)), file=sys.stderr)"
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stderr.strip() == "[]"


def test_the_module_is_the_same_command():
    done = subprocess.run([sys.executable, "-m", "densevse", "--help"], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0
    assert done.stdout.startswith("usage: densevse")


@pytest.mark.parametrize("name", subcommands())
def test_every_subcommand_describes_itself(name, densevse):
    answer = densevse(name, "--help")
    assert answer.status == 0
    assert f"usage: densevse {name}" in answer.output


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((), "usage: densevse"),
        (("lst",), "no subcommand 'lst'"),
        (("lst",), "is 'list' meant?"),
        (("--hlp",), "--hlp"),
        (("list", "--configfil", "x"), "--configfil"),
        (("show",), "variant"),
        (("list", "--", "--cores"), "passes nothing on"),
        (("run", "t.md", "--config", "gpu=1", "--keep-going"), "after a lone --: -- --config gpu=1 --keep-going"),
    ],
)
def test_what_cannot_be_read_is_named_with_status_2(arguments, said, densevse):
    answer = densevse(*arguments)
    assert answer.status == 2
    assert said in answer.errors
    assert not answer.output


@pytest.mark.parametrize(
    "given",
    [
        "a.md b.md --configfile 1.yaml 2.json --cores 3",
        "--configfile 1.yaml 2.json a.md b.md --cores 3",
        "--cores 3 --configfile 1.yaml a.md 2.json b.md",
    ],
)
def test_targets_may_stand_behind_the_files_of_the_configuration(given, monkeypatch):
    read = []
    monkeypatch.setattr("densevse.command.subcommands.run.run", lambda arguments: read.append(arguments) or 0)
    assert main(["run", *given.split()]) == 0
    assert read[0].targets == ["a.md", "b.md"]
    assert read[0].configfile == ["1.yaml", "2.json"]
    assert read[0].cores == "3"


def test_a_reader_that_has_seen_enough_is_no_error():
    program = f"{sys.executable} -m densevse list methods | head -1"
    done = subprocess.run(["bash", "-c", program], cwd=ROOT, capture_output=True, text=True, check=True)
    assert re.fullmatch(r"methods \(\d+\)\n", done.stdout)
    assert not done.stderr


SPEC = importlib.util.spec_from_file_location("command_of_environment", ROOT / "envs/command.py")


def test_the_command_is_that_of_the_project_s_folder(tmp_path):
    module = importlib.util.module_from_spec(SPEC)
    SPEC.loader.exec_module(module)
    (tmp_path / "bin").mkdir()
    command = module.write_command(tmp_path, tmp_path)
    done = subprocess.run([command, "list", "parsers"], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "config/parsers/grammar.yaml" in done.stdout
