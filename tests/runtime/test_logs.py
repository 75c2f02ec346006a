import re
import subprocess
import sys
import time

import pytest

from densevse.runtime.errors import InputError
from densevse.runtime.logs import job, logger


def fail(log, error):
    with job(str(log)):
        logger.info("at work")
        raise error


def failed(log, error):
    with pytest.raises(SystemExit) as raised:
        fail(log, error)
    return raised.value


def test_each_line_has_time_and_level(tmp_path):
    with job(str(tmp_path / "logs/job.log")):
        logger.info("at work")
        logger.warning("odd")
    lines = (tmp_path / "logs/job.log").read_text().splitlines()
    time = r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3}"
    *said, done = [re.sub(time, "<time>", line) for line in lines]
    assert said == ["<time> INFO at work", "<time> WARNING odd"]
    assert re.fullmatch(r"<time> INFO done in \d+\.\d s, with \d+\.\d s of CPU and \d+ MB of memory at most", done)


def test_what_a_job_used_is_counted_with_what_it_started(tmp_path):
    code = """
import subprocess, sys, time
from densevse.runtime.logs import job
with job(sys.argv[1]):
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


def test_an_end_on_request_is_logged_and_passed_on(tmp_path):
    log = tmp_path / "job.log"
    assert failed(log, SystemExit("Run the same command again to resume it.")).code.startswith("Run the same")
    assert "ERROR Run the same command again to resume it." in log.read_text()


def test_a_log_that_cannot_be_written_is_named(tmp_path, capsys):
    (tmp_path / "logs").write_text("a file where the folder should be")
    with pytest.raises(SystemExit), job(str(tmp_path / "logs/job.log")):
        pytest.fail("nothing runs without a log")
    assert "logs/job.log: the log cannot be written" in capsys.readouterr().err
