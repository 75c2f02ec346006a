"""Files obtained from servers on this machine, from a stand-in of the hub, and from the project's folder."""

import gzip
import hashlib
import json
import logging
import socket
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from pathlib import Path

import pytest
from huggingface_hub.errors import LocalEntryNotFoundError

from densevse.datasets.download import _ATTEMPTS, download, download_from_hub, unpack
from snakeproof.errors import InputError
from snakeproof.files import checksum
from tests.hub import Repository, hub_at
from tests.projects import ROOT
from tests.servers import CONTENT, Server, serving
from tests.system.answers.server import serving as odd
from tests.system.answers.server import whole


@pytest.fixture
def server() -> Iterator[Server]:
    with serving() as one:
        yield one


@pytest.fixture
def mirror() -> Iterator[Server]:
    with serving() as one:
        yield one


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "resources" / "owner" / "file.zip"


def beside(path: Path) -> list[str]:
    return sorted(file.name for file in path.parent.iterdir())


def test_the_start_of_a_sha256_is_enough_where_only_that_is_known(server: Server, tmp_path: Path) -> None:
    start = hashlib.sha256(CONTENT).hexdigest()[:8]
    download(server.source(sha256=start), tmp_path / "file.zip", wait=0)
    assert (tmp_path / "file.zip").read_bytes() == CONTENT
    with pytest.raises(InputError, match=r"other\.zip[\s\S]*sha256 is .* instead of"):
        download(server.source(sha256=start[::-1]), tmp_path / "other.zip", wait=0)


@pytest.mark.parametrize("algorithm", ["sha256", "md5", "sha1"])
def test_obtains_a_file_with_a_published_checksum(server: Server, path: Path, algorithm: str) -> None:
    download(server.source(**{algorithm: hashlib.new(algorithm, CONTENT).hexdigest()}), path, wait=0)
    assert path.read_bytes() == CONTENT
    assert beside(path) == ["file.zip", "file.zip.obtained.json"]


def test_records_what_was_obtained(server: Server, path: Path) -> None:
    download(server.source(), path, wait=0)
    record = json.loads(path.with_name("file.zip.obtained.json").read_text())
    assert record == {"url": server.address, "size": len(CONTENT), "sha256": hashlib.sha256(CONTENT).hexdigest()}


def test_resumes_after_drops(server: Server, path: Path) -> None:
    server.drop_after = [100_000, 70_000]
    download(server.source(), path, wait=0)
    assert path.read_bytes() == CONTENT
    assert server.asked == [None, "bytes=100000-", "bytes=170000-"]


def test_resumes_what_an_earlier_run_left(server: Server, path: Path) -> None:
    server.drop_after = [100_000] + [0] * (_ATTEMPTS - 1)
    with pytest.raises(InputError, match=f"failed {_ATTEMPTS} times.*Run again to resume"):
        download(server.source(), path, wait=0)
    assert not path.exists()
    server.asked.clear()
    download(server.source(), path, wait=0)
    assert server.asked == ["bytes=100000-"]
    assert path.read_bytes() == CONTENT


def test_accepts_a_part_file_that_was_whole_already(server: Server, path: Path) -> None:
    path.parent.mkdir(parents=True)
    path.with_name("file.zip.part").write_bytes(CONTENT)
    path.with_name("file.zip.part.json").write_text(json.dumps({"url": server.address, "validator": '"one"'}))
    download(server.source(), path, wait=0)
    assert path.read_bytes() == CONTENT
    assert server.asked == [f"bytes={len(CONTENT)}-"]


def test_starts_afresh_after_a_416_for_a_part_that_is_too_long(server: Server, path: Path) -> None:
    path.parent.mkdir(parents=True)
    path.with_name("file.zip.part").write_bytes(CONTENT + b"more")
    path.with_name("file.zip.part.json").write_text(json.dumps({"url": server.address, "validator": '"one"'}))
    download(server.source(), path, wait=0)
    assert path.read_bytes() == CONTENT


def test_starts_afresh_where_the_server_ignores_range(server: Server, path: Path) -> None:
    server.ranges, server.drop_after = False, [100_000]
    download(server.source(), path, wait=0)
    assert path.read_bytes() == CONTENT
    assert server.asked == [None, "bytes=100000-"]


def test_does_not_join_parts_of_two_versions(server: Server, path: Path) -> None:
    server.drop_after = [100_000] + [0] * (_ATTEMPTS - 1)
    with pytest.raises(InputError):
        download(server.source(), path, wait=0)
    server.content, server.etag = CONTENT[::-1], '"two"'
    download(server.source(), path, wait=0)
    assert path.read_bytes() == CONTENT[::-1]


@pytest.mark.parametrize(("known", "resumed"), [({}, False), ({"md5": hashlib.md5(CONTENT).hexdigest()}, True)])
def test_without_a_validator_only_a_checksum_allows_resuming(
    server: Server, path: Path, known: dict[str, str], resumed: bool
) -> None:
    server.etag, server.drop_after = None, [100_000]
    download(server.source(**known), path, wait=0)
    assert path.read_bytes() == CONTENT
    assert server.asked == [None, "bytes=100000-" if resumed else None]


def test_tries_again_when_the_server_is_busy(server: Server, path: Path) -> None:
    server.states = [503, 503]
    download(server.source(), path, wait=0)
    assert path.read_bytes() == CONTENT


def test_a_refused_address_fails_at_once(server: Server, path: Path) -> None:
    server.states = [404]
    with pytest.raises(InputError, match="HTTP 404"):
        download(server.source(), path, wait=0)
    assert len(server.asked) == 1
    assert not path.exists()


def test_wrong_bytes_are_removed_and_named(server: Server, path: Path) -> None:
    download(server.source(), path, wait=0)
    path.unlink()
    server.content = CONTENT[::-1]
    with pytest.raises(InputError, match=r"file\.zip[\s\S]*sha256 is .* instead of"):
        download(server.source(sha256=hashlib.sha256(CONTENT).hexdigest()), path, wait=0)
    assert beside(path) == ["file.zip.obtained.json"]


def test_the_first_sha256_is_compared_ever_after(server: Server, mirror: Server, path: Path) -> None:
    download(server.source(), path, wait=0)
    path.unlink()
    server.content = CONTENT[::-1]
    with pytest.raises(InputError, match=r"sha256 is .* instead of[\s\S]*obtained\.json says what it was before"):
        download(server.source(), path, wait=0)
    assert beside(path) == ["file.zip.obtained.json"]
    download(server.source(), path, [mirror.address], wait=0)
    assert path.read_bytes() == CONTENT


def test_a_key_takes_the_place_of_the_record(server: Server, path: Path) -> None:
    download(server.source(), path, wait=0)
    path.unlink()
    server.content = CONTENT[::-1]
    now = hashlib.sha256(CONTENT[::-1]).hexdigest()
    download(server.source(sha256=now[:8]), path, wait=0)
    assert json.loads(path.with_name("file.zip.obtained.json").read_text())["sha256"] == now


@pytest.mark.parametrize("text", ["", "[]", "{", '{"sha256": 3}', '{"sha256": "00"}'])
def test_a_damaged_record_is_named(server: Server, path: Path, text: str) -> None:
    path.parent.mkdir(parents=True)
    path.with_name("file.zip.obtained.json").write_text(text)
    with pytest.raises(InputError, match=r"file\.zip\.obtained\.json: expected the sha256 of an.*delete"):
        download(server.source(), path, wait=0)
    assert server.asked == []


@pytest.mark.parametrize("text", ["", "[]", "{", '{"url": 3}'])
def test_without_a_readable_version_a_part_is_not_continued(server: Server, path: Path, text: str) -> None:
    path.parent.mkdir(parents=True)
    path.with_name("file.zip.part").write_bytes(CONTENT[::-1][:1000])
    path.with_name("file.zip.part.json").write_text(text)
    download(server.source(), path, wait=0)
    assert path.read_bytes() == CONTENT
    assert server.asked == [None]


def test_a_file_that_is_gzip_itself_may_be_called_so(path: Path, tmp_path: Path) -> None:
    """As Apache does: the file is the bytes that are sent, which no one decodes."""
    packed = gzip.compress(CONTENT)
    answers = {"file": lambda to: to.send(whole("Content-Encoding: x-gzip", body=packed))}
    with odd(answers, tmp_path) as (address, _):
        source = {**dict.fromkeys(("manual", "size", "sha256", "md5", "sha1")), "url": f"{address}/file"}
        download(source, tmp_path / "file.tar.gz", wait=0)
    assert (tmp_path / "file.tar.gz").read_bytes() == packed


def test_a_truncated_file_is_refused(server: Server, path: Path) -> None:
    server.content = CONTENT[:1000]
    with pytest.raises(InputError, match="expected 256,000 bytes, but the server offers 1,000"):
        download(server.source(size=len(CONTENT)), path, wait=0)
    assert not path.exists()


def test_a_file_to_obtain_by_hand_says_how(path: Path) -> None:
    nothing = dict.fromkeys(("url", "size", "sha256", "md5", "sha1"))
    with pytest.raises(InputError, match=r"Fill in the form[\s\S]*local"):
        download({**nothing, "manual": "Fill in the form."}, path)
    assert not path.parent.exists()


def dead() -> str:
    """An address at which nothing listens."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return f"http://127.0.0.1:{free.getsockname()[1]}/file"


def test_the_next_address_is_tried_after_dead_and_wrong_ones(
    server: Server, mirror: Server, path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "snakeproof")
    server.content, nowhere = CONTENT[::-1], dead()
    source = {**server.source(sha256=hashlib.sha256(CONTENT).hexdigest()), "url": nowhere}
    download(source, path, [server.address, mirror.address], wait=0)
    assert path.read_bytes() == CONTENT
    assert beside(path) == ["file.zip", "file.zip.obtained.json"]
    assert json.loads(path.with_name("file.zip.obtained.json").read_text())["url"] == mirror.address
    said = [record.getMessage() for record in caplog.records]
    assert any(f"{nowhere}: failed {_ATTEMPTS} times" in line for line in said)
    assert any(f"{server.address}: downloaded, but its sha256 is" in line for line in said)
    assert f"{path}: asking {mirror.address}" in said


def test_an_address_without_tls_is_left_at_once(server: Server, mirror: Server, path: Path) -> None:
    source = {**server.source(), "url": server.address.replace("http:", "https:")}
    download(source, path, [mirror.address], wait=0)
    assert path.read_bytes() == CONTENT
    assert server.asked == []


def test_no_mirror_is_asked_where_the_first_address_answers(server: Server, mirror: Server, path: Path) -> None:
    download(server.source(), path, [mirror.address], wait=0)
    assert mirror.asked == []


def test_parts_of_two_addresses_are_not_joined(server: Server, mirror: Server, path: Path) -> None:
    """The versions of both have the same ETag, so only the address tells them apart."""
    server.drop_after, mirror.content = [100_000] + [0] * (_ATTEMPTS - 1), CONTENT[::-1]
    download(server.source(), path, [mirror.address], wait=0)
    assert path.read_bytes() == CONTENT[::-1]
    assert mirror.asked == [None]


def test_a_failure_names_each_address_with_its_reason(server: Server, mirror: Server, path: Path) -> None:
    server.states, mirror.content = [404], CONTENT[:1000]
    with pytest.raises(InputError) as failure:
        download(server.source(size=len(CONTENT)), path, [mirror.address], wait=0)
    first, second, third, hint = str(failure.value).splitlines()
    assert first == f"{path}: no address gave this file."
    assert second == f"  {server.address}: HTTP 404"
    assert third == f"  {mirror.address}: expected 256,000 bytes, but the server offers 1,000"
    assert hint.startswith("You can also use your own file")


DIGEST = hashlib.sha256(CONTENT).hexdigest()
REVISION = "1a25a446712ba5ee05982a381eed697ef9b435cf"
SOURCE = {"hub": "some/network", "revision": REVISION, "file": "model.safetensors", "size": None, "sha256": DIGEST}
IN_DATASET = {**SOURCE, "hub": "datasets/some/pictures", "path": "test/0.tar", "file": "test-0.tar"}


@pytest.fixture
def hub(monkeypatch, tmp_path_factory):
    """A model's and a data set's repository, with one file each."""
    with hub_at(monkeypatch, tmp_path_factory.mktemp("hub")) as hub:
        for source in (SOURCE, IN_DATASET):
            files = {source.get("path", source["file"]): CONTENT}
            hub.repositories[source["hub"]] = Repository(files, fixed=REVISION)
        yield hub


@pytest.mark.usefixtures("hub")
def test_a_file_is_obtained_checked_and_recorded(tmp_path):
    path = tmp_path / "clip/model.safetensors"
    download_from_hub({**SOURCE, "size": len(CONTENT)}, path)
    assert path.read_bytes() == CONTENT
    assert sorted(file.name for file in path.parent.iterdir()) == [path.name, f"{path.name}.obtained.json"]
    record = json.loads(path.with_name(f"{path.name}.obtained.json").read_text())
    assert record == {key: SOURCE[key] for key in ("hub", "revision", "file", "sha256")} | {"size": len(CONTENT)}


@pytest.mark.usefixtures("hub")
def test_a_file_in_a_folder_of_a_data_sets_repository_is_obtained(tmp_path):
    path = tmp_path / "mine/test-0.tar"
    download_from_hub(IN_DATASET, path)
    assert path.read_bytes() == CONTENT
    assert json.loads(path.with_name(f"{path.name}.obtained.json").read_text())["hub"] == IN_DATASET["hub"]


@pytest.mark.usefixtures("hub")
@pytest.mark.parametrize("wrong", [{"sha256": "0" * 64}, {"size": 3}])
def test_other_bytes_are_refused_and_removed(wrong, tmp_path):
    with pytest.raises(InputError, match=rf"model\.safetensors: downloaded from some/network, but.*{DIGEST} instead"):
        download_from_hub({**SOURCE, **wrong}, tmp_path / "model.safetensors")
    assert not list(tmp_path.iterdir())


@pytest.mark.usefixtures("hub")
def test_a_file_of_a_hub_is_compared_with_its_record(tmp_path):
    path = tmp_path / "model.safetensors"
    path.with_name(f"{path.name}.obtained.json").write_text(json.dumps({"sha256": DIGEST[:8] + "0" * 56}))
    with pytest.raises(InputError, match=rf"{DIGEST} instead[\s\S]*obtained\.json says what it was before"):
        download_from_hub({**SOURCE, "sha256": DIGEST[:8]}, path)


@pytest.mark.usefixtures("hub")
def test_what_the_hub_does_not_have_is_named(tmp_path):
    with pytest.raises(InputError, match=rf"the hub has no file other\.bin in some/network at {REVISION}.*HF_TOKEN"):
        download_from_hub({**SOURCE, "file": "other.bin"}, tmp_path / "other.bin")


def test_a_hub_that_cannot_be_reached_says_what_to_do(tmp_path, monkeypatch):
    def refused(*_: object, **__: object) -> None:
        raise LocalEntryNotFoundError("Please check your connection.")

    monkeypatch.setattr("densevse.datasets.download.hf_hub_download", refused)
    with pytest.raises(InputError, match=r"the hub did not give it.*connection.*as `local` of clip"):
        download_from_hub(SOURCE, tmp_path / "clip/model.safetensors")


@pytest.fixture
def waits(monkeypatch):
    """The seconds that were waited, without waiting."""
    waited = []
    monkeypatch.setattr("densevse.runtime.busy_servers.time.sleep", waited.append)
    return waited


@pytest.mark.parametrize("state", [429, 503])
@pytest.mark.parametrize(("header", "seconds"), [("7", 7), ("0", 1), ("60", 60)])
def test_a_busy_server_is_asked_again_when_it_says(server, path, waits, caplog, state, header, seconds):
    server.states, server.headers = [state] * 3, {"Retry-After": header}
    download(server.source(), path)
    assert path.read_bytes() == CONTENT
    assert waits == [seconds] * 3
    assert f"HTTP {state}" in caplog.text
    assert f"(Retry-After: {header} seconds)" in caplog.text


def test_a_date_says_when_to_ask_again(server, path, waits):
    date = format_datetime(datetime.now(UTC) + timedelta(seconds=100), usegmt=True)
    server.states, server.headers = [429], {"Retry-After": date}
    download(server.source(), path)
    assert len(waits) == 1
    assert 95 < waits[0] <= 100


def test_a_server_is_waited_for_no_longer_than_five_minutes(server, path, waits):
    server.states, server.headers = [429] * 9, {"Retry-After": "100"}
    with pytest.raises(
        InputError, match=r"HTTP 429, too many requests \(Retry-After: 100 seconds\); run again after \d"
    ):
        download(server.source(), path)
    assert waits == [100] * 3


def test_a_429_without_a_time_is_named_in_the_end(server, path, waits):
    server.states = [429] * 9
    with pytest.raises(InputError, match=r"failed 5 times, the last time with: HTTP 429, too many requests"):
        download(server.source(), path)
    assert waits == [2, 4, 8, 16]


@pytest.mark.parametrize("headers", [{"Retry-After": "9"}, {"RateLimit": '"api";r=0;t=9'}])
def test_a_busy_hub_is_asked_again_when_it_says(hub, tmp_path, waits, headers):
    hub.busy = [headers] * 2
    download_from_hub(SOURCE, tmp_path / "model.safetensors")
    assert waits == [9, 9]


@pytest.mark.parametrize("headers", [{"Retry-After": "3600"}, {}])
def test_a_hub_that_stays_busy_is_named_with_the_time_and_the_token(hub, tmp_path, waits, headers):
    hub.busy = [headers] * 99
    with pytest.raises(InputError, match=r"HTTP 429, too many .*Retry-After.*; run again after \d.*HF_TOKEN") as error:
        download_from_hub(SOURCE, tmp_path / "model.safetensors")
    assert sum(waits) <= 300
    assert "connection" not in str(error.value)


CLASSES = "config/networks/scenes_net_classes.txt"


def test_a_file_is_copied(tmp_path):
    unpack({"packaged": CLASSES, "sha256": checksum(ROOT / CLASSES)}, tmp_path / "classes.txt")
    assert (tmp_path / "classes.txt").read_bytes() == (ROOT / CLASSES).read_bytes()


@pytest.mark.parametrize(("file", "said"), [(CLASSES, "has the sha256"), ("config/none.txt", "is missing")])
def test_another_file_and_none_are_refused(file, said, tmp_path):
    with pytest.raises(InputError, match=rf"{file} {said}"):
        unpack({"packaged": file, "sha256": "0" * 64}, tmp_path / "classes.txt")
    assert not list(tmp_path.iterdir())
