import re

import pytest

from densevse.errors import InputError
from densevse.logs import job, logger


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
    assert [re.sub(time, "<time>", line) for line in lines] == [
        "<time> INFO at work",
        "<time> WARNING odd",
        "<time> INFO done",
    ]


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
