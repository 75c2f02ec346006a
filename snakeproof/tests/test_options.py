"""Each option of Snakemake is harmless or refused, wherever it is given."""

import pytest
from snakemake.cli import get_argument_parser

from snakeproof.errors import InputError
from snakeproof.options import ADOPTS, HARMLESS, REFUSED, check_options, find_options

TABLE = "results/tables/scenes.md"
REFUSED_CALLS = {
    "no_hooks": ("--no-hooks",),
    "nolock": ("--nolock",),
    "mode": ("--mode", "subprocess"),
    "immediate_submit": ("--immediate-submit",),
    "drop_metadata": ("--drop-metadata",),
    "cleanup_metadata": ("--cleanup-metadata", TABLE),
    "persistence_backend": ("--persistence-backend", "db"),
    "draft_notebook": ("--draft-notebook", TABLE),
    "rerun_triggers": ("--rerun-triggers", "mtime", "params"),
    "consider_ancient": ("--consider-ancient", "retrieve=model"),
    "ignore_incomplete": ("--ignore-incomplete",),
    "trust_io_cache": ("--trust-io-cache",),
    "touch": ("--touch",),
    "executor": ("--executor", "touch"),
    "batch": ("--batch", "table=4/4"),
    "allowed_rules": ("--allowed-rules", "table"),
    "keep_incomplete": ("--keep-incomplete",),
    "allow_ambiguity": ("--allow-ambiguity",),
    "cache": ("--cache", "train"),
    "replace_workflow_config": ("--replace-workflow-config",),
    "omit_flags": ("--omit-flags", "ancient"),
    "not_retrieve_storage": ("--not-retrieve-storage",),
    "keep_storage_local_copies": ("--keep-storage-local-copies",),
}
TAKEN_CALLS = [
    (),
    ("--dry-run", "--touch", "--nolock"),
    ("--rerun-triggers", "code", "input", "params", "mtime"),
    ("--persistence-backend", "file"),
    ("--executor", "dryrun"),
    ("--forceall", "--until", "train", "--unlock", "--delete-all-output", "--set-threads", "train=4"),
]
OF_A_JOB = (
    *("--mode", "remote", "--target-jobs", "table:table=scenes", "--allowed-rules", "table", "--force", "--no-hooks"),
    *("--nolock", "--ignore-incomplete", "--rerun-triggers", "mtime", "--attempt", "1", "--retries", "0"),
)


@pytest.fixture(scope="module")
def parser():
    return get_argument_parser()


def flags(parser) -> dict[str, list[str]]:
    """The options of Snakemake itself, by the names of their values; those of plugins are in groups of their own."""
    of_plugins = {group for group in parser._action_groups if group.title.endswith(" plugin settings")}
    return {action.dest: action.option_strings for action in parser._actions if action.container not in of_plugins}


def test_each_option_is_on_one_list(parser):
    known = flags(parser).keys()
    assert known - HARMLESS - REFUSED.keys() == set(), "decide if these are harmless here: snakeproof/options.py"
    assert (HARMLESS | REFUSED.keys()) - known == set(), "Snakemake has no such options"
    assert HARMLESS & REFUSED.keys() == set()


def test_each_refusal_names_its_option_and_says_what_to_do(parser):
    assert REFUSED_CALLS.keys() == REFUSED.keys()
    for name, call in REFUSED_CALLS.items():
        assert call[0] in flags(parser)[name]
        with pytest.raises(InputError, match=rf"^{call[0]}: \S.*[;.,] .*\.$"):
            check_options(parser.parse_args(call), "mine adopt")


@pytest.mark.parametrize("call", TAKEN_CALLS, ids=" ".join)
def test_what_is_harmless_is_not_refused(parser, call):
    check_options(parser.parse_args(call), "mine adopt")


def test_options_of_snakemake_s_own_processes_are_not_refused(parser):
    check_options(parser.parse_args(OF_A_JOB), "mine adopt")


def test_a_command_that_adopts_may_touch_what_is_not_in_a_bucket(parser, monkeypatch):
    monkeypatch.setenv(ADOPTS, "1")
    check_options(parser.parse_args(["--touch", "--forceall", "--nolock"]), "mine adopt")
    with pytest.raises(InputError, match=r"^--touch, mine adopt: files in a bucket cannot be adopted"):
        check_options(parser.parse_args(["--touch", "--nolock", "--default-storage-provider", "s3"]), "mine adopt")


def test_a_start_without_the_command_is_refused():
    def command(args):
        return find_options(command)

    assert command("the options") == "the options"
    with pytest.raises(InputError, match="Start the workflow by Snakemake's command"):
        find_options(command)
