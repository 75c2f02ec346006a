"""A rule can be read alone: it shows the paths of its inputs and names its function.

The report, which is read in a browser, shows pages and pictures that rules make; its captions are plain text.
"""

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from docutils.core import publish_parts

from densevse.config.analyses import Entries
from densevse.dag import tables
from densevse.dag.project import Project, Stage, name_pattern, project_code
from tests.rules import ROOT, Rule, files, rules

SHOWN = ("path", "local_path")
"""Functions that take the pattern of the path."""
MOST_HIDDEN = 19
WITHOUT_JOB = {"absent", "adopt", "unknown"}
REPORTED = re.compile(r'(?:report|table_files|table_pages)\(\s*"([^"]+)",\s*(?:caption=)?f?"(?:[^"]*/)?([^"/]+)"')


def shows_its_path(line: ast.expr) -> bool:
    """True if a line of an input section is a path, a function that fills a pattern beside it, or a rule's output."""
    if isinstance(line, ast.Call) and ast.unparse(line.func).rpartition(".")[2] in SHOWN:
        line = line.args[0]
    if isinstance(line, ast.List):
        return all(map(shows_its_path, line.elts))
    return isinstance(line, ast.Constant) or ast.unparse(line).startswith("rules.")


def is_unpacked(line: ast.expr) -> bool:
    return isinstance(line, ast.Call) and ast.unparse(line.func) == "unpack"


@cache
def module(name: str) -> ast.Module | None:
    """A module of the package; None for another one."""
    file = ROOT / f"{name.replace('.', '/')}.py"
    return ast.parse(file.read_text(encoding="utf-8")) if name.startswith("densevse.") and file.is_file() else None


@cache
def called_by(place: str, name: str) -> frozenset[str]:
    """The names that a function of a module calls, directly or through other functions of the package."""
    found, waiting, seen = set(), [(place, name)], set()
    while waiting:
        place, name = waiting.pop()
        tree = module(place)
        if tree is None or (place, name) in seen:
            continue
        seen.add((place, name))
        definitions = {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef | ast.ClassDef)}
        imported = {
            alias.asname or alias.name: (str(node.module), alias.name)
            for node in ast.walk(tree)
            if isinstance(node, ast.ImportFrom)
            for alias in node.names
        }
        for node in ast.walk(definitions.get(name, ast.Module([], []))):
            if isinstance(node, ast.Call):
                found.add(ast.unparse(node.func))
            if isinstance(node, ast.Name):
                waiting.append((place, node.id) if node.id in definitions else imported.get(node.id, ("", "")))
    return frozenset(found)


def wrong_about_gpus(rule: Rule) -> Iterator[str]:
    """The differences between the request of a rule and the function, which may compute on a GPU."""
    place, _, name = str(rule.call).partition(":")
    called = called_by(place, name)
    requested = "**settings.accelerator" in rule.sections["resources"]
    if {"set_up", "device"} & called and not requested:
        yield f"{rule.name} may compute on a GPU and requests none; use set_up_processor, or request a GPU"
    if requested and not {"set_up", "device"} & called:
        yield f"{rule.name} requests a GPU, and {rule.call} uses none"


def test_every_rule_is_read():
    text = "".join(file.read_text() for file in files())
    assert len(rules()) == sum(line.startswith(("rule ", "use rule ")) for line in text.splitlines())


def test_a_rule_shows_the_paths_of_its_inputs():
    inputs = {name: list(rule.arguments("input").values()) for name, rule in rules().items() if name != "adopt"}
    hidden = {name: [ast.unparse(line) for line in lines if not shows_its_path(line)] for name, lines in inputs.items()}
    unpacked = {name: [ast.unparse(line) for line in lines if is_unpacked(line)] for name, lines in inputs.items()}
    assert {name: lines for name, lines in hidden.items() if lines != unpacked[name]} == {}
    assert sum(map(len, unpacked.values())) <= MOST_HIDDEN


def test_a_rule_names_a_function_that_exists():
    """tests/workflow/test_calls.py compares the arguments of planned jobs with the parameters of their functions."""
    code = project_code(ROOT, ROOT / ".snakemake/densevse-code.json")
    for name in rules().keys() - WITHOUT_JOB:
        code.check(str(rules()[name].call))


def test_the_runner_runs_every_rule():
    scripts = {name: rule.sections.get("script", "").strip() for name, rule in rules().items() if not rule.base}
    assert {name for name, script in scripts.items() if script != "RUNNER"} == WITHOUT_JOB


def test_a_log_lies_in_a_folder_with_the_name_of_its_rule():
    """So that what a stage cost can be added up; a rule that uses another one may share its folder."""
    for rule in rules().values():
        for log in map(ast.literal_eval, rule.arguments("log").values()):
            assert log.removeprefix("<logs>/").partition("/")[0].removesuffix(".log") in {rule.name, rule.base}


def test_a_rule_asks_for_a_gpu_exactly_if_its_function_may_compute_on_one():
    """Without the request, a job with `gpu: 1` finds no GPU on a cluster, and is not counted on a workstation."""
    with_jobs = [rule for rule in rules().values() if rule.name not in WITHOUT_JOB and not rule.base]
    assert [line for rule in with_jobs for line in wrong_about_gpus(rule)] == []


def test_a_rule_that_uses_another_one_repeats_no_section():
    for rule in rules().values():
        if rule.base:
            base = rules()[rule.base].sections
            assert [name for name, text in rule.sections.items() if base.get(name) == text] == [], rule.name


def test_no_table_of_the_project_has_the_name_of_what_another_rule_makes():
    """A dry run does not check this, to save time: see densevse.dag.tables.check_table_names."""
    project = Project(ROOT, {})
    config = project.config
    known = {"dataset": config.datasets, "variant": config.variant_names(), "proposer": config.proposers}
    entries = [one for one in config.analyses() if isinstance(one, Entries)]
    known["asked"] = {name for one in entries for name, _ in one.items()}
    made = [
        re.compile(re.sub(r"\\{(\w+)\\}", lambda found: f"({name_pattern(known[found[1]])})", re.escape(output.value)))
        for rule in rules().values()
        for output in ast.walk(rule.arguments("output").get("markdown", ast.Constant("")))
        if rule.name != "table"
        and isinstance(output, ast.Constant)
        and str(output.value).startswith("<results>/tables/")
    ]
    assert len(made) > 5
    for name in Stage(project, tables).names():
        assert not [pattern for pattern in made if pattern.fullmatch(f"<results>/tables/{name}.md")], name


def test_the_report_shows_what_is_in_it_and_uses_every_caption_as_text():
    """It offers nothing as a download, and no caption has a link that nobody wrote."""
    captions = [*(ROOT / "workflow/report").glob("*.rst"), *(ROOT / "densevse/analyses").glob("*/*.rst")]
    reported = [found for file in files() for found in REPORTED.findall(file.read_text())]
    assert {Path(path).suffix for path, _ in reported} == {"", ".html", ".png", ".svg"}  # a table's path has no ending
    assert {caption for _, caption in reported} | {"workflow.rst"} == {file.name for file in captions}
    options = {"halt_level": 2}
    shown = {
        file: publish_parts(file.read_text(), writer="html", settings_overrides=options)["body"] for file in captions
    }
    assert [file for file, body in shown.items() if "href" in body] == []  # docutils takes R@10 for an address of mail
