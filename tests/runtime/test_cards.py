"""Jobs on the cards of one machine: each has its own card, and the card of a job that dies is free again."""

import signal
import subprocess
import sys

import pytest

from densevse.runtime import gpu as cards

JOB = """
import sys, time
from pathlib import Path
from densevse.runtime import gpu as cards
cards.WAIT = 0.05
print(cards.lock_card(["a", "b"], int(sys.argv[2]), Path(sys.argv[1])), flush=True)
time.sleep(60)
"""


@pytest.fixture
def start(tmp_path):
    """A function that starts a job, which prints its card when it has one."""
    jobs = []

    def begin(jobs_per_card=1):
        command = [sys.executable, "-c", JOB, str(tmp_path), str(jobs_per_card)]
        jobs.append(subprocess.Popen(command, stdout=subprocess.PIPE, text=True))
        return jobs[-1]

    yield begin
    for job in jobs:
        job.kill()
        job.wait()


def card_of(job):
    return int(job.stdout.readline())


def test_two_jobs_have_two_cards_and_a_third_has_that_of_one_that_dies(start):
    first, second = start(), start()
    taken = {card_of(first): first, card_of(second): second}
    assert taken.keys() == {0, 1}
    third = start()
    taken[1].send_signal(signal.SIGKILL)
    assert card_of(third) == 1


def test_cards_are_shared_where_that_is_allowed_and_free_ones_come_first(start):
    assert sorted(card_of(start(jobs_per_card=2)) for _ in range(4)) == [0, 0, 1, 1]


def test_waiting_is_said_in_the_log(tmp_path, monkeypatch, caplog):
    assert cards.lock_card(["only"], 1, tmp_path) == 0
    monkeypatch.setattr(cards.time, "sleep", lambda seconds: cards._held.pop().close())
    with caplog.at_level("INFO"):
        assert cards.lock_card(["only"], 1, tmp_path) == 0
    assert "waiting for a GPU: other jobs use all of only" in caplog.text
    cards._held.pop().close()
