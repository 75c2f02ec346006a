"""Downloaded files stay, unless somebody requests them again."""

import functools
import http.server
import os
import shutil
import threading

import pytest

from tests.projects import without_power_over_permissions

FILE = "resources/flickr8k/texts.zip"


@pytest.fixture
def address(tmp_path):
    """The address of a folder, tmp_path/served, on this machine."""
    (tmp_path / "served").mkdir()
    handler = functools.partial(http.server.SimpleHTTPRequestHandler, directory=tmp_path / "served")
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


@pytest.mark.long
@pytest.mark.skipif(not (os.geteuid() or shutil.which("setpriv")), reason="root may write everywhere; no setpriv here")
def test_a_download_outlives_delete_all_output_and_is_obtained_anew_on_purpose(make_project, tmp_path, address):
    served = tmp_path / "served/texts.zip"
    served.write_bytes(b"first")
    unknown = dict.fromkeys(("size", "md5", "sha256", "sha1", "manual"))
    source = {**unknown, "file": "texts.zip", "url": f"{address}/texts.zip"}
    project = make_project({"datasets": {"flickr8k": {"sources": {"text": source}}}})
    path = project.folder / FILE
    project.run(FILE)
    assert path.stat().st_mode & 0o222 == 0

    served.write_bytes(b"second")
    done = project.run("--delete-all-output", FILE, through=without_power_over_permissions)
    assert "Skipping write-protected file" in done.stdout
    assert path.read_bytes() == b"first"

    path.chmod(0o644)
    path.unlink()
    project.run(FILE)
    assert path.read_bytes() == b"second"
