"""Files of a hub's repository, obtained by the hub's own library from a server on this machine."""

import hashlib
import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from huggingface_hub import constants
from huggingface_hub.errors import LocalEntryNotFoundError

from densevse.datasets.download import download_from_hub
from densevse.runtime.errors import InputError

CONTENT = bytes(range(256)) * 500
DIGEST = hashlib.sha256(CONTENT).hexdigest()
REVISION = "1a25a446712ba5ee05982a381eed697ef9b435cf"
SOURCE = {"hub": "some/network", "revision": REVISION, "file": "model.safetensors", "size": None, "sha256": DIGEST}
ASKED = f"/some/network/resolve/{REVISION}/model.safetensors"


class Hub(BaseHTTPRequestHandler):
    """Serves one file of one repository, and answers requests for others like the hub."""

    def do_HEAD(self) -> None:
        self.do_GET()

    def do_GET(self) -> None:
        found = self.path == ASKED
        self.send_response(200 if found else 404)
        if found:
            self.send_header("X-Repo-Commit", REVISION)
            self.send_header("ETag", f'"{DIGEST}"')
        else:
            self.send_header("X-Error-Code", "EntryNotFound")
        body = CONTENT if found else b""
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command == "GET":
            self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Nothing is printed."""


@pytest.fixture(autouse=True)
def hub(monkeypatch):
    server = ThreadingHTTPServer(("127.0.0.1", 0), Hub)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    monkeypatch.setattr(constants, "ENDPOINT", f"http://127.0.0.1:{server.server_port}")
    monkeypatch.setattr(
        constants, "HUGGINGFACE_CO_URL_TEMPLATE", constants.ENDPOINT + "/{repo_id}/resolve/{revision}/{filename}"
    )
    yield
    server.shutdown()


def test_a_file_is_obtained_checked_and_recorded(tmp_path):
    path = tmp_path / "clip/model.safetensors"
    download_from_hub({**SOURCE, "size": len(CONTENT)}, path)
    assert path.read_bytes() == CONTENT
    assert sorted(file.name for file in path.parent.iterdir()) == [path.name, f"{path.name}.obtained.json"]
    record = json.loads(path.with_name(f"{path.name}.obtained.json").read_text())
    assert record == {key: SOURCE[key] for key in ("hub", "revision", "file", "sha256")} | {"size": len(CONTENT)}


@pytest.mark.parametrize("wrong", [{"sha256": "0" * 64}, {"size": 3}])
def test_other_bytes_are_refused_and_removed(wrong, tmp_path):
    with pytest.raises(InputError, match=rf"model\.safetensors: downloaded from some/network, but.*{DIGEST} instead"):
        download_from_hub({**SOURCE, **wrong}, tmp_path / "model.safetensors")
    assert not list(tmp_path.iterdir())


def test_what_the_hub_does_not_have_is_named(tmp_path):
    with pytest.raises(InputError, match=rf"the hub has no file other\.bin in some/network at {REVISION}.*HF_TOKEN"):
        download_from_hub({**SOURCE, "file": "other.bin"}, tmp_path / "other.bin")


def test_a_hub_that_cannot_be_reached_says_what_to_do(tmp_path, monkeypatch):
    def refused(*_: object, **__: object) -> None:
        raise LocalEntryNotFoundError("Please check your connection.")

    monkeypatch.setattr("densevse.datasets.download.hf_hub_download", refused)
    with pytest.raises(InputError, match=r"the hub did not give it.*connection.*as `local` of the network clip"):
        download_from_hub(SOURCE, tmp_path / "clip/model.safetensors")
