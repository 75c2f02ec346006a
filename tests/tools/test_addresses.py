"""One place has the repository's address, and the files of services that find, cite and build the project fit it."""

import re
import tomllib

import pytest
import yaml

from snakeproof.errors import InputError
from tools.addresses import (
    CHANGES,
    CITATION,
    PYPROJECT,
    ZENODO,
    add_code_address,
    add_urls,
    notes,
    repository_address,
    zenodo,
)
from tools.environments import ROOT

ADDRESS = "https://example.org/owner/densevse"
TEXT, CITED = (path.read_text(encoding="utf-8") for path in (PYPROJECT, CITATION))


def test_each_file_has_the_address_that_pyproject_states():
    repository = repository_address(TEXT)
    assert add_urls(TEXT, repository) == TEXT, "run `make addresses`"
    assert add_code_address(CITED, repository) == CITED, "run `make addresses`"
    assert zenodo(yaml.safe_load(CITED)) == ZENODO.read_text(encoding="utf-8"), "run `make addresses`"
    assert ("urls" in tomllib.loads(TEXT)["project"]) == bool(repository)


def test_an_address_that_an_owner_sets_gets_everywhere_and_can_be_taken_back():
    project, cited = (
        add_urls(add_urls(TEXT, "https://old"), ADDRESS),
        add_code_address(add_code_address(CITED, "old"), ADDRESS),
    )
    assert tomllib.loads(project)["project"]["urls"] == {"Repository": ADDRESS}
    assert yaml.safe_load(cited)["repository-code"] == ADDRESS
    assert f'"identifier": "{ADDRESS}"' in zenodo(yaml.safe_load(cited))
    assert (add_urls(project, repository_address(TEXT)), add_code_address(cited, repository_address(TEXT))) == (
        TEXT,
        CITED,
    )


def test_the_notes_of_a_version_are_its_part_of_the_changes():
    text = CHANGES.read_text(encoding="utf-8")
    version = tomllib.loads(TEXT)["project"]["version"]
    assert notes(text, version) in text
    assert len(notes(text, version)) > 1000
    assert not re.search("^## ", notes(text, version), re.MULTILINE)
    assert notes("# Changes\n\n## 1.1\n\nnew\n\n## 1.0 (2026-01-01)\n\nold\n", "1.0") == "old\n"
    with pytest.raises(InputError, match=r"no heading `## 9\.9`"):
        notes(text, "9.9")


def lines_of(target: str) -> list[str]:
    """The commands of a target of the Makefile."""
    recipe = re.search(rf"^{target}:.*\n((?:\t.*\n)+)", (ROOT / "Makefile").read_text(), re.MULTILINE)
    assert recipe
    return [line.replace("$(BIN)", ".venv/bin") for line in recipe[1].replace("\t", "").splitlines()]


def test_a_commit_is_checked_with_what_lint_runs():
    hooks = [
        hook
        for repository in yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text())["repos"]
        for hook in repository["hooks"]
    ]
    assert [hook["entry"] for hook in hooks] == lines_of("lint")
    assert not any(hook["pass_filenames"] for hook in hooks)


WORKFLOWS = sorted((ROOT / ".github/workflows").glob("*.yml"))
TARGETS = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))


def steps_of(workflow):
    return [step for job in workflow["jobs"].values() for step in job["steps"]]


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_a_workflow_calls_known_targets_and_pinned_actions_and_may_only_read(path):
    workflow = yaml.safe_load(path.read_text())
    assert workflow["permissions"] == {"contents": "read"}
    steps = steps_of(workflow)
    used = re.findall(r"uses: (.*)", path.read_text())
    assert used
    assert all(re.fullmatch(r"actions/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+.*", action) for action in used), used
    called = [name for step in steps for name in re.findall(r"\bmake ([a-z-]+)", step.get("run", ""))]
    assert set(called) <= TARGETS
    assert all("timeout-minutes" in job for job in workflow["jobs"].values())


def test_the_workflows_check_what_a_change_must_pass():
    workflow = yaml.safe_load((ROOT / ".github/workflows/checks.yml").read_text())
    run = "\n".join(step.get("run", "") for step in steps_of(workflow))
    for command in ("make lint", "make test", "make docs", "pip wheel", "docker build", "docker run"):
        assert command in run
    matrix = workflow["jobs"]["test"]["strategy"]["matrix"]["python"]
    oldest = tomllib.loads(TEXT)["project"]["requires-python"].removeprefix(">=")
    assert matrix[0] == oldest


def test_each_kind_of_file_that_names_versions_for_services_is_watched():
    watched = yaml.safe_load((ROOT / ".github/dependabot.yml").read_text())["updates"]
    assert {one["package-ecosystem"] for one in watched} == {"github-actions", "docker"}
    assert (ROOT / "Dockerfile").is_file()
    assert WORKFLOWS


def test_the_site_and_pixi_use_the_same_targets():
    built = yaml.safe_load((ROOT / ".readthedocs.yaml").read_text())["build"]
    assert "make docs" in built["commands"]
    assert any("docs/_build/html" in command for command in built["commands"])
    pixi = tomllib.loads((ROOT / "pixi.toml").read_text())
    assert {command.removeprefix("make ") for command in pixi["tasks"].values()} <= TARGETS
    project = tomllib.loads(TEXT)["project"]
    assert (pixi["workspace"]["name"], pixi["workspace"]["version"]) == (project["name"], project["version"])
    assert pixi["dependencies"]["python"] == project["requires-python"] + ",<3.14"
