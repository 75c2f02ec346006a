"""The installation of packages into .venv, from indexes on this machine with synthetic packages."""

import base64
import functools
import hashlib
import http.server
import importlib.metadata
import os
import runpy
import shutil
import ssl
import subprocess
import sys
import threading
import zipfile
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
INSTALL = runpy.run_path(str(ROOT / "envs/install.py"))


OF_INSTALLERS = ("PIP_", "UV_", "PYTHON", "SSL_", "CURL_", "REQUESTS_")
"""How variables begin that tell pip or uv something."""


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


@contextmanager
def served(folder, certificate=None):
    """The address of an index in a folder, while it is served."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=str(folder)))
    if certificate:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate)
        server.socket = context.wrap_socket(server.socket, server_side=True)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http{'s' if certificate else ''}://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


def write_wheel(folder, name, version, files, needs=()):
    """A wheel of these files that needs packages; the requirement that pins and hashes it."""
    folder.mkdir(parents=True, exist_ok=True)
    path, info = folder / f"{name}-{version}-py3-none-any.whl", f"{name}-{version}.dist-info"
    metadata = ["Metadata-Version: 2.1", f"Name: {name}", f"Version: {version}"]
    metadata += [f"Requires-Dist: {needed}" for needed in needs]
    files = files | {
        f"{info}/METADATA": "\n".join([*metadata, ""]).encode(),
        f"{info}/WHEEL": b"Wheel-Version: 1.0\nGenerator: tests\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    record = [f"{file},sha256={_digest(content)},{len(content)}" for file, content in files.items()]
    files[f"{info}/RECORD"] = "\n".join([*record, f"{info}/RECORD,,\n"]).encode()
    with zipfile.ZipFile(path, "w") as archive:
        for file, content in files.items():
            entry = zipfile.ZipInfo(file)
            entry.external_attr = (0o100755 if "/scripts/" in file else 0o100644) << 16
            archive.writestr(entry, content)
    return f"{name}=={version} --hash=sha256:{hashlib.sha256(path.read_bytes()).hexdigest()}\n"


def _digest(content):
    return base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()


def write_index(folder):
    """Pages in PEP 503's form for the wheels in a folder."""
    pages = {}
    for wheel in folder.glob("*.whl"):
        pages.setdefault(wheel.name.split("-")[0].replace("_", "-"), []).append(wheel)
    for name, wheels in pages.items():
        page = folder / "simple" / name / "index.html"
        page.parent.mkdir(parents=True)
        page.write_text("".join(f'<a href="../../{wheel.name}">{wheel.name}</a>' for wheel in wheels))


def real_uv():
    """The files of this environment's uv, as a wheel has them."""
    try:
        installed = importlib.metadata.distribution("uv")
    except importlib.metadata.PackageNotFoundError:
        pytest.skip("uv could not be installed on this machine")
    own = [file for file in installed.files if file.parts[0] == "uv"]
    binary = next(file for file in installed.files if file.name == "uv")
    files = {str(file): file.locate().read_bytes() for file in own if file.suffix == ".py"}
    return files | {f"uv-{installed.version}.data/scripts/uv": binary.locate().read_bytes()}, installed.version


FAILING = {"uv/__init__.py": b"", "uv/__main__.py": b"raise SystemExit('no such file or directory')"}


def write_certificates(folder):
    """A key with its certificate for this machine, and the certificate of the authority that signed it."""
    new = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2"]
    signed = ["-CA", "authority.pem", "-CAkey", "authority.key", "-addext", "subjectAltName=IP:127.0.0.1"]
    signed += ["-addext", "basicConstraints=critical,CA:FALSE"]
    for name, options in (("authority", []), ("server", signed)):
        subject = ["-subj", f"/CN={name}", "-keyout", f"{name}.key", "-out", f"{name}.pem"]
        subprocess.run([*new, *subject, *options], cwd=folder, check=True, capture_output=True)
    both = folder / "both.pem"
    both.write_text((folder / "server.key").read_text() + (folder / "server.pem").read_text())
    return both, folder / "authority.pem"


class Machine:
    """A project with an empty environment, and the indexes that it may be set to."""

    def __init__(self, folder, environment):
        self.folder, self.python = folder, environment / "bin/python"
        (folder / "envs/locks").mkdir(parents=True)
        shutil.copy(ROOT / "envs/install.py", folder / "envs")
        self.pip_conf, self.uv, self.requirements = "", "uv==1.0 --hash=sha256:00\n", ""

    def has(self, name, version, where, files=None):
        """A package that is pinned, in the folder of an index or of wheels."""
        content = {f"{name}/__init__.py": b""} if files is None else files
        pinned = write_wheel(self.folder / where, name, version, content)
        if name == "uv":
            self.uv = pinned
        else:
            self.requirements += pinned

    def install(self, *files, **variables):
        """Run the installer: its exit status and what it prints."""
        (self.folder / "pip.conf").write_text(self.pip_conf)
        (self.folder / "envs/locks/uv.txt").write_text(self.uv)
        (self.folder / "requirements.txt").write_text(self.requirements)
        kept = {key: value for key, value in os.environ.items() if not key.startswith(OF_INSTALLERS)}
        outside = {"PIP_CONFIG_FILE": str(self.folder / "pip.conf"), "PIP_CACHE_DIR": str(self.folder / "pip")}
        outside |= {"UV_CACHE_DIR": str(self.folder / "uv"), "UV_NO_CONFIG": "1", "no_proxy": "127.0.0.1"}
        command = [self.python, "envs/install.py", *(files or ["requirements.txt"])]
        done = subprocess.run(
            command, cwd=self.folder, env=kept | outside | variables, capture_output=True, text=True, timeout=120
        )
        return done.returncode, done.stdout + done.stderr

    def installed(self):
        """Package -> the program that installed it."""
        found = self.python.parents[1].glob("lib/python*/site-packages/made_up*.dist-info")
        return {path.name.split("-")[0]: (path / "INSTALLER").read_text().strip() for path in found}


@pytest.fixture(scope="module")
def environment(tmp_path_factory):
    folder = tmp_path_factory.mktemp("environment") / ".venv"
    subprocess.run([sys.executable, "-m", "venv", folder], check=True)
    return folder


@pytest.fixture
def machine(tmp_path, environment):
    """Nothing that an earlier test installed is there."""
    for path in environment.glob("lib/python*/site-packages/*"):
        if path.name.startswith(("made_up", "uv")):
            shutil.rmtree(path)
    return Machine(tmp_path, environment)


@pytest.fixture
def without_bundles(monkeypatch):
    for name in INSTALL["BUNDLES"]:
        monkeypatch.delenv(name, raising=False)


@pytest.mark.slow
def test_uv_installs_from_all_that_pip_is_set_to(machine):
    files, version = real_uv()
    machine.has("uv", version, "index", files)
    machine.has("made_up", "1.0", "index")
    machine.has("made_up_extra", "1.0", "extra")
    machine.has("made_up_found", "1.0", "wheels")
    # An older version of the same name in the first index hides the pinned one from neither pip nor uv.
    write_wheel(machine.folder / "index", "made_up_extra", "0.9", {"made_up_extra/__init__.py": b""})
    with ExitStack() as stack:
        for name in ("index", "extra"):
            write_index(machine.folder / name)
        index, extra = (stack.enter_context(served(machine.folder / name)) for name in ("index", "extra"))
        machine.pip_conf = f"""
[global]
index-url = {index}/simple
trusted-host = 127.0.0.1
    localhost
timeout = 20
[install]
extra-index-url = {extra}/simple
"""
        status, said = machine.install(PIP_FIND_LINKS=f"wheels {machine.folder}/not_there")
    assert status == 0, said
    assert "pip does it now" not in said
    assert machine.installed() == {"made_up": "uv", "made_up_extra": "uv", "made_up_found": "uv"}


@pytest.mark.slow
@pytest.mark.skipif(not shutil.which("openssl"), reason="openssl, which makes the certificate, is not here")
def test_uv_trusts_the_certificate_that_pip_trusts(machine):
    files, version = real_uv()
    machine.has("uv", version, "index", files)
    machine.has("made_up", "1.0", "index")
    write_index(machine.folder / "index")
    certificate, authority = write_certificates(machine.folder)
    with served(machine.folder / "index", certificate) as index:
        status, said = machine.install(PIP_INDEX_URL=f"{index}/simple", PIP_CERT=str(authority))
    assert status == 0, said
    assert machine.installed() == {"made_up": "uv"}


@pytest.mark.parametrize("uv", [None, FAILING], ids=["absent", "failing"])
def test_pip_installs_where_uv_cannot(machine, uv):
    if uv:
        machine.has("uv", "1.0", "index", uv)
    machine.has("made_up", "1.0", "index")
    write_index(machine.folder / "index")
    with served(machine.folder / "index") as index:
        machine.pip_conf = f"[global]\nindex-url = {index}/simple\n"
        status, said = machine.install()
    assert status == 0, said
    assert "uv could not install requirements.txt, as said above. pip does it now" in said
    assert machine.installed() == {"made_up": "pip"}


def test_a_uv_whose_installation_was_killed_is_installed_again(machine):
    """Its metadata are there, so pip takes it for installed."""
    files, version = real_uv()
    machine.has("uv", version, "index", files)
    machine.has("made_up", "1.0", "index")
    write_index(machine.folder / "index")
    with served(machine.folder / "index") as index:
        machine.pip_conf = f"[global]\nindex-url = {index}/simple\ntrusted-host = 127.0.0.1\n"
        assert machine.install()[0] == 0
        (machine.python.parent / "uv").unlink()
        for path in machine.python.parents[1].glob("lib/python*/site-packages/made_up*"):
            shutil.rmtree(path)
        status, said = machine.install()
    assert status == 0, said
    assert machine.installed() == {"made_up": "uv"}


@pytest.mark.parametrize("uv", [True, False], ids=["uv", "pip"])
def test_the_last_file_that_names_a_package_says_what_is_installed(machine, uv):
    files, version = real_uv() if uv else (FAILING, "1.0")
    machine.has("uv", version, "index", files)
    for name in ("made_up", "made_up_other", "made_up_unneeded"):
        machine.has(name, "1.0", "index")
    newer = write_wheel(machine.folder / "index", "made_up", "2.0", {"made_up/__init__.py": b""})
    (machine.folder / "further.txt").write_text(f"# By a program\n{newer}made_up_unneeded ; python_version < '3'\n")
    write_index(machine.folder / "index")
    with served(machine.folder / "index") as index:
        machine.pip_conf = f"[global]\nindex-url = {index}/simple\ntrusted-host = 127.0.0.1\n"
        status, said = machine.install("requirements.txt", "further.txt")
    assert status == 0, said
    by = "uv" if uv else "pip"
    assert machine.installed() == {"made_up": by, "made_up_other": by}
    assert next(machine.python.parents[1].glob("lib/python*/site-packages/made_up-2.0.dist-info"))


@pytest.mark.parametrize("uv", [True, False], ids=["uv", "pip"])
def test_what_is_installed_further_leaves_the_packages_that_it_needs_as_they_are(machine, uv):
    files, version = real_uv() if uv else (FAILING, "1.0")
    machine.has("uv", version, "index", files)
    made = {"made_up_further/__init__.py": b""}
    further = write_wheel(machine.folder / "index", "made_up_further", "1.0", made, needs=["made_up>=2"])
    (machine.folder / "further.txt").write_text(further)
    write_index(machine.folder / "index")
    with served(machine.folder / "index") as index:
        machine.pip_conf = f"[global]\nindex-url = {index}/simple\ntrusted-host = 127.0.0.1\n"
        status, said = machine.install("further.txt")
    assert status == 0, said
    assert machine.installed() == {"made_up_further": "uv" if uv else "pip"}


def test_a_package_of_another_hash_is_installed_by_neither(machine):
    machine.has("uv", "1.0", "index", FAILING)
    machine.has("made_up", "1.0", "index")
    machine.requirements = f"made_up==1.0 --hash=sha256:{'0' * 64}\n"
    write_index(machine.folder / "index")
    with served(machine.folder / "index") as index:
        status, said = machine.install(PIP_INDEX_URL=f"{index}/simple")
    assert status == 1
    assert "THESE PACKAGES DO NOT MATCH THE HASHES" in said
    assert machine.installed() == {}


def test_settings_of_pip_are_read_as_pip_reads_them(without_bundles):
    listed = """:env:.default-timeout='180'
:env:.index-url='https://b.example'
freeze.timeout='1'
global.index-url='https://a.example'
global.find-links='\\nhttps://c/wheels\\n/not/there'
install.no-index='true'"""
    pip = INSTALL["settings"](listed)
    assert pip["index-url"] == "https://b.example"
    assert "timeout" not in pip
    options = ["--default-index", "https://b.example", "--find-links", "https://c/wheels", "--no-index"]
    assert list(INSTALL["options"](pip)) == options
    assert INSTALL["variables"](pip) == {"UV_HTTP_TIMEOUT": "180"}


def test_a_bundle_of_certificates_wins_over_pips_own_in_uv_too(without_bundles, monkeypatch):
    assert list(INSTALL["options"]({"cert": "/etc/a.pem"})) == ["--cert", "/etc/a.pem"]
    monkeypatch.setenv("REQUESTS_CA_BUNDLE", "/etc/b.pem")
    assert list(INSTALL["options"]({"cert": "/etc/a.pem"})) == ["--cert", "/etc/b.pem"]


def test_a_proxy_of_pip_is_uvs_too(without_bundles):
    pip = {"proxy": "http://user@proxy:3128", "client-cert": "/etc/me.pem", "no-index": "0"}
    assert INSTALL["variables"](pip) == {
        "HTTP_PROXY": "http://user@proxy:3128",
        "HTTPS_PROXY": "http://user@proxy:3128",
        "SSL_CLIENT_CERT": "/etc/me.pem",
    }
    assert list(INSTALL["options"](pip)) == []
