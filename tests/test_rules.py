"""A rule can be read alone: it shows the paths of its inputs, and its script has its name."""

import ast
import re
from pathlib import Path

import pytest

from densevse.dag.project import Project, any_of
from densevse.dag.tables import TableStage
from tests.rules import ROOT, Rule, rules

SHOWN = ("path", "local_path")
"""Functions that take the pattern of the path."""
MOST_HIDDEN = 15
EVERY = pytest.mark.parametrize("rule", rules().values(), ids=lambda rule: rule.name)


def inputs(rule: Rule) -> list[ast.expr]:
    return list(rule.arguments("input").values())


def shows_its_path(line: ast.expr) -> bool:
    """True if a line of an input section is a path, a function that fills a pattern beside it, or a rule's output."""
    if isinstance(line, ast.Call) and ast.unparse(line.func).rpartition(".")[2] in SHOWN:
        line = line.args[0]
    return isinstance(line, ast.Constant) or ast.unparse(line).startswith("rules.")


def is_unpacked(line: ast.expr) -> bool:
    return isinstance(line, ast.Call) and ast.unparse(line.func) == "unpack"


def test_every_rule_is_read():
    text = "".join(file.read_text() for file in (ROOT / "workflow/rules").rglob("*.smk"))
    assert len(rules()) == sum(line.startswith(("rule ", "use rule ")) for line in text.splitlines())


@EVERY
def test_a_rule_shows_the_paths_of_its_inputs(rule):
    hidden = [ast.unparse(line) for line in inputs(rule) if not shows_its_path(line) and not is_unpacked(line)]
    assert hidden == []


def test_few_lines_hide_what_the_configuration_alone_decides():
    assert sum(is_unpacked(line) for rule in rules().values() for line in inputs(rule)) <= MOST_HIDDEN


@EVERY
def test_a_script_has_the_name_of_its_rule(rule):
    """A rule that uses another one runs the script of that."""
    scripts = [ast.literal_eval(script) for script in rule.arguments("script").values()]
    assert len(scripts) == (0 if rule.base or rule.name in ("absent", "unknown") else 1)
    for script in scripts:
        assert Path(script).stem == rule.name
        assert (rule.file.parent / script).is_file()


@EVERY
def test_a_log_lies_in_a_folder_with_the_name_of_its_rule(rule):
    """So that what a stage cost can be added up; a rule that uses another one may share its folder."""
    for log in map(ast.literal_eval, rule.arguments("log").values()):
        assert log.removeprefix("<logs>/").partition("/")[0].removesuffix(".log") in {rule.name, rule.base}


@EVERY
def test_a_rule_asks_for_a_gpu_if_its_script_may_compute_on_one(rule):
    """Without the request, a job with `gpu: 1` finds no GPU on a cluster, and is not counted on a workstation."""
    for script in rule.arguments("script").values():
        text = (rule.file.parent / ast.literal_eval(script)).read_text(encoding="utf-8")
        requested = "**settings.accelerator" in rule.sections["resources"]
        assert requested or not re.search(r"\b(?:set_up|device)\(", text), "use set_up_processor, or request a GPU"
        assert not requested or "set_up_processor(" not in text


def test_every_script_is_run_by_a_rule():
    run = {
        (rule.file.parent / ast.literal_eval(script)).resolve()
        for rule in rules().values()
        for script in rule.arguments("script").values()
    }
    assert run == set((ROOT / "workflow/scripts").rglob("*.py"))


def test_a_rule_is_no_copy_of_another_one_in_its_file():
    """A rule of the same script says only where it differs; `use rule` cannot give another script."""
    scripts = [rule.sections["script"].strip() for rule in rules().values() if "script" in rule.sections]
    assert len(scripts) == len(set(scripts)), "write `use rule ... as ... with:`"


@EVERY
def test_a_rule_that_uses_another_one_repeats_no_section(rule):
    if rule.base:
        repeated = [name for name, text in rule.sections.items() if rules()[rule.base].sections.get(name) == text]
        assert repeated == []


def test_no_table_of_the_project_has_the_name_of_what_another_rule_makes():
    """A dry run does not check this, to save time: see densevse.dag.tables.Tables.check_names."""
    project = Project(ROOT, {})
    config = project.config
    known = {"dataset": config.datasets, "variant": config.variant_names(), "proposer": config.proposers}
    made = [
        re.compile(re.sub(r"\\{(\w+)\\}", lambda found: f"({any_of(known[found[1]])})", re.escape(output.value)))
        for rule in rules().values()
        for output in ast.walk(rule.arguments("output").get("markdown", ast.Constant("")))
        if rule.name != "table"
        and isinstance(output, ast.Constant)
        and str(output.value).startswith("<results>/tables/")
    ]
    assert len(made) > 5
    for name in TableStage(project).names():
        assert not [pattern for pattern in made if pattern.fullmatch(f"<results>/tables/{name}.md")], name
