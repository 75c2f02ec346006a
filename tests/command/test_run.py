"""`densevse run`: what it refuses before Snakemake starts, and what it prints of a run."""

import importlib
import logging
import os
import signal
import subprocess
import sys
import time
from types import SimpleNamespace

import pytest
import snakemake
from snakemake.common import NOTHING_TO_BE_DONE_MSG

from densevse.command.shared import LOGGERS
from snakeproof.signals import INTERRUPTED
from tests.projects import ANOTHER_RATE

TABLE = "results/tables/scenes.md"


@pytest.fixture
def started(monkeypatch):
    """The command lines and variables by which `densevse run` would replace its process."""
    found = []

    def replace_process(program, command, variables):
        found.append((command, variables))
        raise SystemExit(0)

    monkeypatch.setattr(os, "execve", replace_process)
    return found


@pytest.mark.parametrize(
    ("target", "file", "message"),
    [
        (
            "results/tables/flickr30.md",
            "{}",
            "results/tables/flickr30.md: no rule makes this; is 'results/tables/flickr30k.md'",
        ),
        ("results/tables/scenes_clams.md", "{}", "is 'results/tables/scenes_claims.md' meant?"),
        ("results/tables/nothing_like_it.md", "{}", "no rule makes this; docs/artifacts.md lists the paths."),
        (TABLE, "margen: 1", "margen: there is no such key"),
        (TABLE, "methods:\n\tvse: 1", "line 2 begins with a tab"),
        (TABLE, "tables: {scenes: {measure: [vze]}}", "is 'vse' meant?"),
    ],
)
def test_a_mistake_ends_a_run_before_it_starts_in_the_words_of_plan(densevse, started, tmp_path, target, file, message):
    (tmp_path / "mine.yaml").write_text(file)
    said = {name: densevse(name, target, "--configfile", str(tmp_path / "mine.yaml")) for name in ("run", "plan")}
    assert said["run"].status == 1
    assert message in said["run"].errors
    assert said["run"].errors == said["plan"].errors.replace("densevse plan:", "densevse run:")
    assert started == []


@pytest.mark.parametrize(
    "target",
    [
        TABLE,
        "results/tables/scenes_claims.parquet",
        "results/tables/scenes_localisation_hm_lstm.md",
        "results/x.md",
        "all",
    ],
)
def test_what_rules_make_and_other_paths_go_on_to_snakemake(densevse, started, target):
    densevse("run", target)
    ((command, variables),) = started
    assert command[-4:] == ["--logger", "quiet", "--", target]
    assert variables["PYTHONPATH"].startswith(str(LOGGERS))


def test_verbose_leaves_the_screen_to_snakemake(densevse, started):
    densevse("run", TABLE, "--verbose")
    ((command, _),) = started
    assert "--logger" not in command


def test_the_folder_is_unlocked_by_the_same_command(densevse, started, monkeypatch):
    for typed, unlock in (
        (["run", TABLE, "--cores", "2"], f"densevse run {TABLE} --cores 2 -- --unlock"),
        (["run", "a b.md", "--", "--config", "gpu=1"], "densevse run 'a b.md' -- --config gpu=1 --unlock"),
    ):
        monkeypatch.setattr(sys, "argv", ["densevse", *typed])
        densevse(*typed)
        assert started.pop()[1]["SNAKEPROOF_UNLOCK"] == unlock


@pytest.fixture
def heard(monkeypatch, capsys):
    """What the quiet logger prints of records; each has an event, and the path of the file that it is of."""
    monkeypatch.syspath_prepend(LOGGERS)
    plugin = importlib.import_module("snakemake_logger_plugin_quiet")

    def hear(*records, dryrun=False):
        handler = plugin.LogHandler(SimpleNamespace(dryrun=dryrun), None)
        for event, text, values in records:
            level, path = values.pop("level", logging.INFO), values.pop("path", snakemake.__file__)
            record = logging.LogRecord("", level, path, 1, text, (), None)
            vars(record).update(values, **({"event": event} if event else {}))
            handler.emit(record)
        printed = capsys.readouterr()
        return (printed.out if dryrun else printed.err).splitlines()

    return hear


JOBS = [
    (None, "Building DAG of jobs...", {}),
    ("run_info", "Job stats:\n...", {"stats": {"train": 2, "total": 2}}),
    ("job_info", "", {"jobid": 4, "rule_name": "train", "rule_msg": "training vse on scenes\n    log: x.log"}),
    ("job_info", "", {"jobid": 5, "rule_name": "all", "rule_msg": None}),
]


def test_a_job_is_a_line(heard):
    ended = [("job_finished", "", {"job_id": 4}), ("progress", "", {}), ("job_finished", "", {"job_id": 5})]
    own = [(None, "Table: results/tables/scenes.md", {"path": "/project/workflow/rules/core/runs.smk"})]
    done = ["2 jobs", "1 of 2 done: training vse on scenes (0 s)", "2 of 2 done: all (0 s)"]
    assert heard(*JOBS, *ended, *own) == [*done, "Table: results/tables/scenes.md"]
    assert heard((None, NOTHING_TO_BE_DONE_MSG, {})) == [NOTHING_TO_BE_DONE_MSG]
    assert heard((None, "Job 1: as it is", {}), dryrun=True) == ["Job 1: as it is"]


def test_an_error_is_said_once_and_without_a_traceback(heard):
    failed = [
        ("error", "RuleException:\nCalledProcessError in file x, line 3:\n...", {"exception": "RuleException"}),
        ("job_error", "", {"jobid": 4, "level": logging.ERROR}),
        (None, "Exiting because a job execution failed.", {"level": logging.ERROR}),
        (None, "\nThe disk is full.\n(log: x.log)", {"level": logging.ERROR, "path": "/project/snakeproof/runs.py"}),
        (None, "Complete log(s): x.snakemake.log", {}),
        ("error", "WorkflowError:\nAt least one job did not complete successfully.", {"exception": "WorkflowError"}),
    ]
    ends = [
        "failed: training vse on scenes (0 s)",
        "",
        "The disk is full.",
        "(log: x.log)",
        "Complete log(s): x.snakemake.log",
    ]
    assert heard(*JOBS, *failed) == ["2 jobs", *ends]
    text = 'InputError in file "x.smk", line 8:\nresults: make it writable.\n  File "x.smk", line 8, in <module>'
    assert heard(("error", text, {"exception": "InputError"})) == ["results: make it writable."]
    assert heard(("error", "LockException: another", {})) == ["LockException: another"]


@pytest.mark.long
def test_a_run_says_what_changed_and_goes_on_after_ctrl_c(continue_project):
    """Ctrl-C comes while a training imports torch."""
    project = continue_project(ANOTHER_RATE)

    def start():
        command = [sys.executable, "-P", "-c", "import sys; from densevse.command.main import main; sys.exit(main())"]
        return subprocess.Popen(
            [*command, "run", TABLE, "--configfile", "test.yaml"],
            cwd=project.folder,
            env={**os.environ, "PYTHONPATH": str(project.folder)},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
        )

    log, before = project.folder / "results/logs/train/scenes_vse_seed0_round0.log", time.time()
    run = start()
    while not (log.is_file() and log.stat().st_mtime >= before):
        assert run.poll() is None, run.communicate()[0]
        time.sleep(0.02)
    os.killpg(run.pid, signal.SIGINT)
    printed, _ = run.communicate(timeout=120)
    assert run.returncode == 130, printed
    assert printed.splitlines()[-1] == INTERRUPTED
    assert not any(word in printed for word in ("Traceback", "CalledProcessError", "did not complete")), printed
    change = "Changed: phases.1.learning_rate: 0.0004 -> 0.05 (training vse on scenes, seed 0)"
    assert change in printed.splitlines()

    run = start()
    printed, _ = run.communicate(timeout=600)
    assert run.returncode == 0, printed
    *_, last, table = printed.splitlines()
    assert "done: writing the table scenes (" in last
    assert table == f"Table: {TABLE}"
    assert "Reason: " not in printed, "it has all values of both jobs"
    (*_, newest) = sorted((project.folder / ".snakemake/log").iterdir())
    assert "Reason: " in newest.read_text()
