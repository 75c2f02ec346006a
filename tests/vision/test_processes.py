"""Work in processes: its order, and a process that is killed."""

import os
import signal

import pytest

from densevse.vision.processes import map_in_processes
from snakeproof.errors import InputError


def squared(number):
    return number**2


def killed_at_three(number):
    if number == 3:
        os.kill(os.getpid(), signal.SIGKILL)
    return number


def test_results_come_in_the_order_of_the_items():
    assert list(map_in_processes(squared, [3, 1, 2], 2, "numbers")) == [9, 1, 4]
    assert list(map_in_processes(squared, [], 2, "numbers")) == []


def test_a_killed_process_is_an_error_and_not_waited_for():
    with pytest.raises(InputError, match="numbers: a process was killed"):
        list(map_in_processes(killed_at_three, [1, 2, 3, 4], 2, "numbers"))
