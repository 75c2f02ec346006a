"""The command, called as `main` is."""

from collections.abc import Callable
from typing import NamedTuple

import pytest

from densevse.command.main import main


class Answer(NamedTuple):
    """The output of the command, and its exit status."""

    status: int
    output: str
    errors: str

    @property
    def lines(self) -> list[str]:
        return self.output.splitlines()


@pytest.fixture
def densevse(capsys) -> Callable[..., Answer]:
    """Calls the command with arguments."""

    def call(*arguments: str) -> Answer:
        try:
            status = main(arguments)
        except SystemExit as left:
            status = int(left.code or 0)
        printed = capsys.readouterr()
        assert all(len(line) <= 120 for line in printed.out.splitlines())
        assert "Traceback" not in printed.err
        return Answer(status, printed.out, printed.err)

    return call
