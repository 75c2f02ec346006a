"""The code on pages: programs and queries run on the files that they name, and each command is read by its own parser.

The tutorials and docs/one_number.md have tests of their own (tests/tutorials), as they run from their first line on.
"""

import os
import re
import runpy
import shlex
import shutil
import subprocess
import sys
from argparse import ArgumentParser
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import duckdb
import pytest
import yaml
from snakemake.cli import get_argument_parser

import densevse
from densevse.command import main as command_main
from tests.projects import ROOT, SMALL, Project, copy_code

PAGES = [
    *(ROOT / name for name in ("README.md", "config/README.md")),
    *sorted(page for folder in ("docs", "docs/results", "densevse/analyses/*") for page in ROOT.glob(f"{folder}/*.md")),
]
BLOCK = re.compile(r"^```(python|sql)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
FENCED = re.compile(r"^```([^\n]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
INDENTED = re.compile(r"(?:^ {4}.*\n)+", re.MULTILINE)
INLINE = re.compile(r"`((?:densevse|snakemake) [^`]*)`")
ARGUMENT = re.compile(r"^\w+ \w+ (?:.* )?[^-\s]|^snakemake -")
"""A command in words with something to work on, in place of the name of a subcommand or option."""
PLACEHOLDER = re.compile(r"<[^>]*>")
PROGRAM = re.compile(r"(?:\.venv/bin/)?(densevse|snakemake|make|python) (?!=|\w+:)")
FILE = re.compile(r"results/scenes/[\w/.-]+\.parquet")
RUN = {"artifacts": 4, "models": 3, "evaluation": 1, "api": 2}
"""Pages whose programs and queries run on the demo's files -> how many there are."""

NOT_READ = {
    "snakemake --executor cluster-generic": "its options are those of a plugin, which no lock has",
    "densevse run results/tables/scenes.md --cores 8 -- --default-storage-provider s3": "the same",
    "snakemake --workflow-profile profiles/kubernetes": "the same",
    ".venv/bin/python -m pip uninstall densevse": "of pip",
}
"""The beginnings of commands that no parser of ours, or of Snakemake, reads -> why."""
NOT_PLANNED = 14
"""Commands of `run`, `plan` and Snakemake that need a file of the reader's, or name no target."""


def text_of(page):
    return page.read_text(encoding="utf-8")


def commands():
    """(page, command) of each command on a page, without its comment; a line that ends in a backslash goes on."""
    found = []
    for page in PAGES:
        text = text_of(page)
        code = [block for language, block in FENCED.findall(text) if language in ("", "bash")]
        code = "".join([*code, *INDENTED.findall(FENCED.sub("", text))]).replace("\\\n", " ")
        lines = [line.strip() for line in code.splitlines()]
        named = [" ".join(command.split()) for command in INLINE.findall(text)]
        found += [(page.name, line) for line in (*filter(PROGRAM.match, lines), *filter(ARGUMENT.search, named))]
    return list(dict.fromkeys(found))


def mentions():
    """(subcommand, option) of each command that words name without what it is for, such as `densevse export --onnx`."""
    named = [" ".join(found.split()) for page in PAGES for found in INLINE.findall(text_of(page))]
    words = [one.split() for one in named if not ARGUMENT.search(one)]
    return sorted({(name, option) for _, name, *options in words for option in options or [""]})


COMMANDS = commands()
READ = [one for one in COMMANDS if not one[1].startswith(tuple(NOT_READ))]


def words_of(command):
    """The words of a command, with a name for each placeholder."""
    return shlex.split(PLACEHOLDER.sub("x", command).replace("...", ""), comments=True)


@pytest.fixture
def read(monkeypatch):
    """A function that lets a command's own parser read it, and returns the targets and the files of a plan."""
    monkeypatch.chdir(ROOT)
    understood = []
    monkeypatch.setattr(command_main, "_run", lambda name, _, arguments: understood.append((name, arguments)) or 0)

    def read_densevse(*words):
        if words[0].startswith("-"):
            with pytest.raises(SystemExit, match="0"):
                command_main.main(words)
        elif "--help" not in words:
            assert command_main.main(words) == 0
            name, arguments = understood.pop()
            if name == "run":
                read_snakemake(*arguments.passed_on)
            return getattr(arguments, "targets", []), getattr(arguments, "configfile", [])
        return [], []

    def read_snakemake(*words):
        arguments = get_argument_parser().parse_args([*words])
        return [*arguments.targets], [*arguments.configfile]

    def read_make(target, *variables):
        assert re.search(rf"^{target}:", text_of(ROOT / "Makefile"), re.MULTILINE)
        assert all("=" in one for one in variables)
        return [], []

    def read_python(*words):
        module = words[0] == "-m"
        file = Path(find_spec(words[1]).origin) if module else ROOT / words[0]
        file = file.with_name("__main__.py") if file.name == "__init__.py" else file
        if "ArgumentParser" not in text_of(file):
            assert all((ROOT / one).exists() for one in words if "/" in one and Path(one).stem != "x")
            return [], []
        parse = ArgumentParser.parse_args

        def stop(parser, *given):
            parse(parser, *given)
            sys.exit(0)

        monkeypatch.setattr(ArgumentParser, "parse_args", stop)
        monkeypatch.setattr(sys, "argv", [str(file), *words[1 + module :]])
        with pytest.raises(SystemExit, match="0"):
            runpy.run_path(str(file), run_name="__main__")
        return [], []

    readers = {"densevse": read_densevse, "snakemake": read_snakemake, "make": read_make, "python": read_python}
    return lambda program, *words: readers[Path(program).name](*words)


def test_subcommands_and_options_that_words_name_exist():
    known = command_main.subcommands()
    assert len(mentions()) > 15
    for name, option in mentions():
        if not name.startswith(("-", "<")):
            parser = ArgumentParser(name)
            import_module(known[name]).add_arguments(parser)
            assert re.search(rf"(?<![\w-]){re.escape(option)}(?![\w-])", parser.format_help()), (name, option)


def test_few_commands_of_pages_are_read_by_no_parser():
    """This list may only shrink."""
    assert len(COMMANDS) > 90
    assert len(COMMANDS) - len(READ) == len(NOT_READ) <= 4


@pytest.mark.parametrize(("page", "command"), READ)
def test_a_command_of_a_page_is_understood_by_its_own_parser(page, command, read):
    read(*words_of(command))


@pytest.fixture
def plans(read):
    """Files of the configuration -> the targets of commands that need no file of the reader's."""
    found, left_out = {}, []
    for page, command in READ:
        targets, files = read(*words_of(command))
        files = tuple(map(str, files or ()))
        if not targets:
            continue
        if PLACEHOLDER.search(command) or "..." in command or not all((ROOT / file).is_file() for file in files):
            left_out.append((page, command))
        else:
            found.setdefault(files, set()).update(targets)
    assert len(left_out) == NOT_PLANNED, left_out
    return found


@pytest.mark.long
def test_what_commands_of_pages_make_is_planned(plans, tmp_path):
    for number, (files, targets) in enumerate(plans.items()):
        project = Project(copy_code(tmp_path / str(number)))
        text = text_of(ROOT / files[0]) if files else "{}"
        project.configure(yaml.safe_load(text))
        for name in re.findall(r"local/[\w./-]*\w", text):  # files of the reader's, which no plan opens
            (project.folder / name).parent.mkdir(exist_ok=True)
            (project.folder / name).touch()
        status, text = project.plan(*sorted(targets))
        assert status == 0, (files, text[-3000:])


@pytest.fixture(scope="module")
def demo(finished, tmp_path_factory):
    """A project with the files of scenes that the programs and queries of pages open, and two photographs."""
    project = finished.copy(tmp_path_factory.mktemp("demo") / "project", SMALL)
    named = {file for name in RUN for file in FILE.findall(text_of(ROOT / f"docs/{name}.md"))}
    assert len(named) >= 5
    project.run(*sorted(file for file in named if not (project.folder / file).exists()))
    shutil.unpack_archive(project.folder / "resources/scenes/scenes.zip", project.folder / "unpacked")
    (project.folder / "photographs").mkdir()
    for number, picture in enumerate(sorted((project.folder / "unpacked").rglob("*.png"))[:4]):
        shutil.copy2(picture, project.folder / f"photographs/{number}.png")
    return project.folder


@pytest.mark.long
@pytest.mark.parametrize("name", RUN)
def test_programs_and_queries_of_a_page_run_on_the_files_that_they_name(name, demo, monkeypatch):
    """They share their names, as a reader's session does; a query finds something."""
    blocks = BLOCK.findall(text_of(ROOT / f"docs/{name}.md"))
    assert len(blocks) == RUN[name]
    monkeypatch.chdir(demo)
    names = {}
    if name == "models":
        pytest.importorskip("onnx")
        export = ["export", "vse", "--on", "scenes", "--onnx", "--configfile", "test.yaml"]
        command = [sys.executable, "-P", "-c", "import sys; from densevse.command.main import main; sys.exit(main())"]
        subprocess.run([*command, *export], env={**os.environ, "PYTHONPATH": str(demo)}, check=True)
        model = densevse.load("results/scenes/models/vse/seed0/round0")
        names = {"names": sorted(map(str, (demo / "photographs").iterdir()))}
        names |= {"images": model.encode_images(names["names"]), "sentences": model.encode_sentences(["a red box"])}
    for language, block in blocks:
        if language == "python":
            exec(compile(block, f"docs/{name}.md", "exec"), names)
        else:
            with duckdb.connect() as connection:
                for query in block.split(";")[:-1]:
                    found = connection.sql(query).fetchall()
                    assert found or "SELECT" not in query, query
