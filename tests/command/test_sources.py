from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from densevse.command.main import main
from densevse.command.subcommands import sources
from densevse.config.config import Config
from densevse.config.sources import Source
from densevse.datasets.check_sources import ask_address, check_sources, unobtainable_sources
from tests.servers import CONTENT, Server, serving

SIZE = len(CONTENT)


@pytest.fixture
def servers() -> Iterator[Callable[[], Server]]:
    with ExitStack() as stack:
        yield lambda: stack.enter_context(serving())


def source(*servers: Server, size: int | None = None) -> Source:
    return Source(file="file", url=[server.address for server in servers], size=size, licence="none")


def test_an_address_is_asked_by_its_header_alone(servers: Callable[[], Server]) -> None:
    server = servers()
    assert ask_address(server.address) == ("", SIZE)
    assert server.asked == [None]


@pytest.mark.parametrize("state", [403, 405, 501])
@pytest.mark.parametrize("ranges", [True, False])
def test_where_head_is_refused_the_first_byte_is_asked_for(
    servers: Callable[[], Server], state: int, ranges: bool
) -> None:
    server = servers()
    server.head, server.ranges = state, ranges
    assert ask_address(server.address) == ("", SIZE)
    assert server.asked == [None, "bytes=0-0"]


def test_a_file_that_is_gone_is_a_problem(servers: Callable[[], Server]) -> None:
    server = servers()
    server.states = [404, 404]
    assert ask_address(server.address).problem == "HTTP 404"
    assert ask_address(server.address.replace("http:", "https:")).problem.startswith("SSLError")


def test_one_good_address_is_enough(servers: Callable[[], Server]) -> None:
    gone, small, good = servers(), servers(), servers()
    gone.states, small.content = [404] * 4, CONTENT[:1000]
    checked = check_sources(
        {
            "a/one": source(gone, small, good, size=SIZE),
            "b/none": source(gone, small, size=SIZE),
            "c/any": source(small),
        }
    )
    assert [one.problem for one in checked] == ["HTTP 404", "another size", "", "HTTP 404", "another size", ""]
    assert unobtainable_sources(checked) == ["b/none"]


@pytest.mark.parametrize("gone", [False, True])
def test_the_command_prints_a_table_and_fails_for_what_cannot_be_had(
    servers: Callable[[], Server],
    gone: bool,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
) -> None:
    server = servers()
    server.states = [404] * 2 if gone else []
    monkeypatch.setattr(sources, "configuration", lambda over: Config.model_construct(**_one_dataset(server)))
    monkeypatch.setattr(sources, "overrides", lambda files: [])
    assert main(["sources"]) == (1 if gone else 0)
    head, row, *missing = capsys.readouterr().out.splitlines()
    assert head.split() == ["source", "answer", "bytes", "configured", "address"]
    found = "HTTP 404  ?" if gone else "ok 256,000"
    assert row.split() == f"own/file {found} 256,000 {server.address}".split()
    assert [line.partition(":")[0] for line in missing] == (["own/file"] if gone else [])


def _one_dataset(server: Server) -> dict[str, object]:
    from densevse.config.datasets import Dataset

    own = Dataset.model_construct(sources={"file": source(server, size=SIZE)})
    return {"datasets": {"own": own}, "networks": {}, "word_vectors": {}, "proposers": {}}
