import errno
import io
import itertools
import os
import re
import subprocess
import sys
import tempfile
import time

import pytest

from snakeproof.errors import InputError
from snakeproof.logs import last_errors, log_job, logger, progress

ADVICE = {"FullError": "The shelf is full: take something out."}


def fail(log, error):
    with log_job(str(log), ADVICE):
        logger.info("at work")
        raise error


def failed(log, error):
    with pytest.raises(SystemExit) as raised:
        fail(log, error)
    return raised.value


def test_each_line_has_time_and_level(tmp_path):
    with log_job(str(tmp_path / "logs/job.log")):
        logger.info("at work")
        logger.warning("odd")
    lines = (tmp_path / "logs/job.log").read_text().splitlines()
    time = r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3}"
    *said, done = [re.sub(time, "<time>", line) for line in lines]
    assert said == ["<time> INFO at work", "<time> WARNING odd"]
    assert re.fullmatch(r"<time> INFO done in \d+\.\d s, with \d+\.\d s of CPU and \d+ MB of memory at most", done)


def test_warnings_and_nothing_less_are_told_on_standard_error(tmp_path, capsys):
    with log_job(str(tmp_path / "job.log")):
        logger.info("at work")
        logger.warning("1 empty captions are kept")
    assert capsys.readouterr().err == "warning: 1 empty captions are kept\n"
    logger.warning("after the job")
    assert "warning: after" not in capsys.readouterr().err


def test_the_errors_of_a_run_are_its_jobs_last_ones_each_once(tmp_path):
    began = time.time() - 10
    logs = {
        name: str(tmp_path / f"{name}.log") for name in ("done", "first", "second", "unexpected", "earlier", "none")
    }
    with log_job(logs["done"]):
        logger.error("it goes on")
    for name in ("first", "second", "earlier"):
        failed(logs[name], InputError("photographs.zip: not there.\nCorrect the path."))
    failed(logs["unexpected"], RuntimeError("odd"))
    os.utime(logs["earlier"], (began - 1, began - 1))
    first, unexpected = last_errors(logs.values(), began)
    assert first == f"photographs.zip: not there.\nCorrect the path.\n(log: {logs['second']})"
    assert unexpected == f"RuntimeError: odd\n(log: {logs['unexpected']})"


def test_long_work_says_every_minute_how_far_it_is(tmp_path, monkeypatch):
    monkeypatch.setattr(time, "monotonic", itertools.count(0, 25).__next__)  # 25 s for each item
    with log_job(str(tmp_path / "job.log")):
        assert list(progress(range(7), "images", 7)) == list(range(7))
        assert list(progress(iter("ab"), "letters")) == ["a", "b"]
    lines = (tmp_path / "job.log").read_text().splitlines()
    assert [line.split("INFO ")[1] for line in lines if "images" in line] == [
        "images: started, 7 to do",
        "images: 3 of 7 done",
        "images: 6 of 7 done",
        "images: 7 done",
    ]
    assert [line.split("INFO ")[1] for line in lines if "letters" in line] == ["letters: started", "letters: 2 done"]


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_bars_of_parts_share_a_line(monkeypatch):
    monkeypatch.setattr("sys.stderr", Terminal())
    for epoch in (1, 2):
        list(progress(range(3), f"epoch {epoch} of 2", 3, "loss 0.5"))
    shown = sys.stderr.getvalue()
    assert "epoch 2 of 2: " in shown
    assert "loss 0.5" in shown
    assert "\n" not in shown


def test_what_a_job_used_is_counted_with_what_it_started(tmp_path):
    code = """
import subprocess, sys, time
from snakeproof.logs import log_job
with log_job(sys.argv[1]):
    subprocess.run([sys.executable, "-c", "some = b'x' * 300_000_000; sum(range(10_000_000))"], check=True)
"""
    began = time.monotonic()
    subprocess.run([sys.executable, "-c", code, str(tmp_path / "job.log")], check=True)
    took = time.monotonic() - began
    found = re.findall(r"done in ([\d.]+) s, with ([\d.]+) s of CPU and (\d+) MB", (tmp_path / "job.log").read_text())
    seconds, processor, memory = map(float, found[0])
    assert processor > 0
    assert 0 < seconds < took + 0.1
    assert memory > 280


def test_a_failure_ends_with_the_error_and_the_log(tmp_path, capsys):
    log = tmp_path / "job.log"
    assert failed(log, InputError("a.zip: expected b, found c. Do d.")).code == 1
    assert capsys.readouterr().err.splitlines()[-2:] == ["a.zip: expected b, found c. Do d.", f"(log: {log})"]
    assert log.read_text().endswith("ERROR a.zip: expected b, found c. Do d.\n")


def test_an_unexpected_failure_says_where_its_traceback_is_and_what_to_do(tmp_path, capsys):
    log = tmp_path / "job.log"
    assert failed(log, ZeroDivisionError("by zero")).code == 1
    said = capsys.readouterr().err
    assert "ZeroDivisionError: by zero" in said
    assert "run the same command again" in said
    assert str(log) in said.splitlines()[-1]
    assert "Traceback" in log.read_text()


class FullError(Exception):
    """An error of a library's own."""


def test_an_error_of_a_library_says_what_the_workflow_advises(tmp_path, capsys):
    log = tmp_path / "job.log"
    assert failed(log, FullError("no room for 3 books")).code == 1
    said = capsys.readouterr().err
    assert "FullError: no room for 3 books" in said
    assert f"The shelf is full: take something out. The traceback is in {log}." in said
    assert "error in the program" not in said


@pytest.mark.parametrize(
    ("number", "advice"),
    [
        (errno.ENOSPC, f"make room there, or in the folder of temporary files ({tempfile.gettempdir()}; TMPDIR"),
        (errno.EDQUOT, "make room there, or in the folder of temporary files"),
        (errno.EFBIG, "raise the limit (ulimit -f)"),
        (errno.ENAMETOOLONG, "use a folder with a shorter path"),
    ],
)
def test_a_limit_of_the_disk_is_no_error_in_the_program(tmp_path, capsys, number, advice):
    assert failed(tmp_path / "job.log", OSError(number, os.strerror(number))).code == 1
    said = capsys.readouterr().err
    assert advice in said
    assert "error in the program" not in said


def test_an_end_on_request_is_logged_and_passed_on(tmp_path):
    log = tmp_path / "job.log"
    assert failed(log, SystemExit("Run the same command again to resume it.")).code.startswith("Run the same")
    assert "ERROR Run the same command again to resume it." in log.read_text()


def test_a_log_that_cannot_be_written_is_named(tmp_path, capsys):
    (tmp_path / "logs").write_text("a file where the folder should be")
    with pytest.raises(SystemExit), log_job(str(tmp_path / "logs/job.log")):
        pytest.fail("nothing runs without a log")
    assert "logs/job.log: cannot write the log" in capsys.readouterr().err


NAME = os.fsdecode(b"caf\xe9.jpg") + " \u65e5\u672c \ud83d"
"""A name that is not UTF-8, and half of a surrogate pair."""


@pytest.mark.parametrize("streams", [{}, {"PYTHONIOENCODING": "ascii:strict"}, {"PYTHONIOENCODING": "latin-1:strict"}])
@pytest.mark.parametrize("locale", [{}, {"LC_ALL": "POSIX", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}])
@pytest.mark.parametrize("error", ["InputError", "ValueError", "SystemExit", "None"])
def test_no_name_stops_a_log_or_a_message(tmp_path, streams, locale, error):
    code = f"""
import sys
import tempfile
from snakeproof.errors import InputError
from snakeproof.logs import log_job, logger, progress
name = {NAME!a}
with log_job(sys.argv[1]):
    logger.info("reading %s", name)
    list(progress([1], name))
    print(name)
    print(name, file=sys.stderr)
    if {error} is not None:
        raise {error}(name)
"""
    environment = {**os.environ, **locale, **streams}
    command = [sys.executable, "-c", code, str(tmp_path / "job.log")]
    ended = subprocess.run(command, env=environment, capture_output=True)
    assert ended.returncode == (0 if error == "None" else 1), ended.stderr
    assert b"Logging error" not in ended.stderr
    assert b"UnicodeEncodeError" not in ended.stderr
    assert b"caf" in ended.stdout
    log = (tmp_path / "job.log").read_text(encoding="utf-8")
    assert "reading caf\\udce9.jpg \u65e5\u672c \\ud83d" in log
    if error != "None":
        assert b"caf" in ended.stderr
        assert log.count("caf\\udce9.jpg") >= 3


def test_a_full_disk_is_said_in_a_line_for_each_line_of_the_log(capsys):
    if not os.path.exists("/dev/full"):
        pytest.skip("no /dev/full here")
    with log_job("/dev/full"):
        logger.info("at work")
    said = capsys.readouterr().err
    assert said.count("/dev/full: a line is lost ([Errno 28]") == 2
    assert "Logging error" not in said
