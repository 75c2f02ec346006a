"""Each option of Snakemake is harmless or refused, wherever it is given."""

import pytest
from snakemake.cli import get_argument_parser

from snakeproof.errors import InputError
from snakeproof.options import ADOPTS, REFUSED, check_options, find_options

TABLE = "results/tables/scenes.md"
HARMLESS = frozenset(
    [
        # What is made: targets, jobs that run though their files are current, and jobs that are left for another run.
        *("targets", "force", "forceall", "forcerun", "until", "omit_from", "prioritize", "target_jobs"),
        "target_files_omit_workdir_adjustment",
        # Settings, and where they, the rules, the results and copies of them lie. Files are compared with all of these.
        *("config", "configfile", "profile", "workflow_profile", "snakefile", "directory"),
        *("default_storage_provider", "default_storage_prefix", "local_storage_prefix"),
        *("remote_job_local_storage_prefix", "shared_fs_usage", "shadow_prefix", "runtime_source_cache_path"),
        # What jobs are granted. The threads on which bytes depend are settings.
        *("cores", "jobs", "local_cores", "resources", "set_threads", "max_threads", "set_resources", "set_scatter"),
        *("set_resource_scopes", "default_resources", "attempt"),
        # When, in which order, together with which others and how often jobs run.
        *("scheduler", "scheduler_greediness", "scheduler_subsample", "scheduler_solver_path", "groups"),
        *("group_components", "local_groupid", "keep_going", "retries", "preemptible_rules", "preemptible_retries"),
        *("max_jobs_per_second", "max_jobs_per_timespan", "max_status_checks_per_second"),
        *("seconds_between_status_checks", "latency_wait", "wait_for_files", "wait_for_files_file"),
        *("wait_for_free_local_storage", "queue_input_wait_time", "max_inventory_time", "force_use_threads"),
        # Where jobs run, and with which software. A changed environment is the trigger `software-env`.
        *("software_deployment_method", "use_conda", "use_apptainer", "use_envmodules", "conda_prefix"),
        *("conda_base_path", "conda_frontend", "conda_cleanup_pkgs", "conda_not_block_search_path_envvars"),
        *("conda_create_envs_only", "apptainer_prefix", "apptainer_args", "container_image", "wrapper_prefix"),
        *("jobscript", "jobname", "precommand", "envvars", "job_deploy_sources"),
        # Files that are deleted or kept. What is gone and needed is made again.
        *("delete_all_output", "delete_temp_output", "notemp", "all_temp", "unneeded_temp_files", "cleanup_shadow"),
        *("skip_script_cleanup", "conda_cleanup_envs", "container_cleanup_images"),
        # Snakemake's lock of a run that was killed. The lock of the results is another one (snakeproof.run_lock).
        "unlock",
        # More jobs run, or the run ends with an error: without the first, if a file is in doubt.
        *("rerun_incomplete", "strict_dag_evaluation"),
        # Inputs up to this size are not called changed if their contents are the same.
        "max_checksum_file_size",
        # Nothing is made: text, drawings and archives.
        *("help", "version", "dryrun", "lint", "list_rules", "list_target_rules", "dag", "rulegraph", "filegraph"),
        *("d3dag", "summary", "detailed_summary", "list_changes", "list_input_changes", "list_params_changes"),
        *("list_untracked", "list_conda_envs", "print_compilation", "archive"),
        *("containerize", "generate_unit_tests", "report", "report_after_run", "report_stylesheet"),
        *("report_metadata", "reporter"),
        # What is said of a run.
        *("printshellcmds", "debug_dag", "nocolor", "quiet", "verbose", "debug", "runtime_profile"),
        *("show_failed_logs", "logger", "benchmark_extended"),
        # No effect here: no rule has a notebook or a subworkflow, Snakemake itself ignores the third, the next is for
        # a refused backend, and with the last it reads no rules.
        *("edit_notebook", "notebook_listen", "no_subworkflows", "export_cwl", "persistence_backend_db_url"),
        "deploy_sources",
    ]
)
"""The other options, but for those of Snakemake's plugins, which name machines and places."""
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
    assert known - HARMLESS - REFUSED.keys() == set(), (
        "decide if these are harmless, or refuse them in snakeproof/options.py"
    )
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
