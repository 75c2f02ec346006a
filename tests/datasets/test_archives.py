import io
import os
import pickle
import tarfile
import zipfile
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path

import pytest

from densevse.datasets import archives
from densevse.datasets.archives import Archive
from densevse.datasets.images import ImageFiles
from densevse.runtime.errors import InputError

FILES = {f"photographs/{number:03d}.jpg": os.urandom(2000 + number) for number in range(60)} | {"a b.txt": b"x" * 5000}
KINDS = ["folder", "stored.zip", "deflated.zip", "plain.tar", "gzip.tar.gz", "bzip.tar.bz2", "lzma.tar.xz"]


def make(folder: Path, kind: str, files: dict[str, bytes] = FILES) -> Path:
    path = folder / kind
    if kind == "folder":
        for name, data in files.items():
            (path / name).parent.mkdir(parents=True, exist_ok=True)
            (path / name).write_bytes(data)
    elif kind.endswith(".zip"):
        method = zipfile.ZIP_STORED if kind.startswith("stored") else zipfile.ZIP_DEFLATED
        with zipfile.ZipFile(path, "w", method) as archive:
            for name, data in files.items():
                archive.writestr(name, data)
    else:
        with tarfile.open(path, f"w:{path.suffix[1:].replace('tar', '')}") as archive:
            for name, data in files.items():
                member = tarfile.TarInfo(name)
                member.size = len(data)
                archive.addfile(member, io.BytesIO(data))
    return path


def read_all(path: Path) -> dict[str, bytes]:
    with Archive.open(path) as archive:
        return {name: archive.read(name) for name in archive.names()}


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_reads_alike(tmp_path: Path, kind: str) -> None:
    with Archive.open(make(tmp_path, kind)) as archive:
        assert archive.names() == sorted(FILES)
        for name in reversed(FILES):
            assert archive.read(name) == FILES[name]
        with pytest.raises(InputError, match=r"has no file nothing\.jpg"):
            archive.read("nothing.jpg")


@pytest.mark.parametrize("kind", KINDS)
def test_threads_and_workers_share_an_archive(tmp_path: Path, kind: str) -> None:
    files = ImageFiles({"images": str(make(tmp_path, kind))})
    names = list(FILES) * 5
    files.read("images", names[0])
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(files.read, ["images"] * len(names), names)) == [FILES[name] for name in names]
    with ProcessPoolExecutor(2) as processes:
        assert list(processes.map(files.read, ["images"] * 60, names[:60])) == [FILES[name] for name in names[:60]]
    assert pickle.loads(pickle.dumps(files)).read("images", names[0]) == FILES[names[0]]


def test_a_compressed_tar_is_uncompressed_once(tmp_path: Path) -> None:
    path = make(tmp_path, "gzip.tar.gz")
    with Archive.open(path):
        pass
    copy = tmp_path / "gzip.tar.gz.uncompressed.tar"
    first = copy.stat().st_mtime_ns
    with Archive.open(path):
        pass
    assert copy.stat().st_mtime_ns == first


def test_a_compressed_tar_that_an_older_one_replaces_is_uncompressed_again(tmp_path: Path) -> None:
    path = make(tmp_path, "gzip.tar.gz")
    with Archive.open(path):
        pass
    with tarfile.open(path, "w:gz") as archive:
        member = tarfile.TarInfo("other.jpg")
        member.size = 5
        archive.addfile(member, io.BytesIO(b"other"))
    os.utime(path, (10**9, 10**9))
    with Archive.open(path) as archive:
        assert archive.names() == ["other.jpg"]


@pytest.mark.parametrize(
    "name", ["../outside.jpg", "/etc/passwd", "inside/../../outside.jpg", "..\\outside.jpg", "C:\\x"]
)
@pytest.mark.parametrize("kind", ["stored.zip", "plain.tar"])
def test_names_that_leave_the_folder_are_refused(tmp_path: Path, kind: str, name: str) -> None:
    with pytest.raises(InputError, match="leads out of its folder"):
        Archive.open(make(tmp_path, kind, {"fine.jpg": b"1", name: b"2"}))


def test_a_folder_is_not_left_either(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("secret")
    with Archive.open(make(tmp_path, "folder")) as archive, pytest.raises(InputError, match="leads out of its folder"):
        archive.read("../secret")


def test_links_in_a_tar_are_not_followed(tmp_path: Path) -> None:
    link = tarfile.TarInfo("link.jpg")
    link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
    with tarfile.open(tmp_path / "links.tar", "w") as archive:
        archive.addfile(link)
    with Archive.open(tmp_path / "links.tar") as opened:
        assert opened.names() == []


def test_bombs_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bomb = {"bomb.jpg": bytes(10_000_000)}
    with (
        Archive.open(make(tmp_path, "deflated.zip", bomb)) as archive,
        pytest.raises(InputError, match="refused to read"),
    ):
        archive.read("bomb.jpg")
    with pytest.raises(InputError, match="refused to uncompress"):
        Archive.open(make(tmp_path, "gzip.tar.gz", bomb))
    assert not list(tmp_path.glob("*uncompressed*"))
    monkeypatch.setattr(archives, "LARGEST_MEMBER", 1000)
    with Archive.open(make(tmp_path, "stored.zip")) as archive, pytest.raises(InputError, match="refused to read"):
        archive.read("photographs/000.jpg")


def test_a_zip_that_lost_its_beginning_is_named(tmp_path: Path) -> None:
    path = make(tmp_path, "stored.zip")
    path.write_bytes(path.read_bytes()[100:])
    with pytest.raises(InputError, match=r"stored\.zip: .*the archive is damaged"):
        read_all(path)


def test_a_zip_of_a_version_that_does_not_exist_is_named(tmp_path: Path) -> None:
    path = make(tmp_path, "stored.zip", {"a.jpg": b"a"})
    data = bytearray(path.read_bytes())
    data[data.index(b"PK\x01\x02") + 6] = 100
    path.write_bytes(data)
    with pytest.raises(InputError, match=r"stored\.zip: cannot be read .*version 10\.0"):
        read_all(path)


def test_a_zip_that_lies_about_sizes_is_not_inflated_whole(tmp_path: Path) -> None:
    path = make(tmp_path, "deflated.zip", {"a.jpg": bytes(100_000)})
    data = path.read_bytes()
    path.write_bytes(data.replace((100_000).to_bytes(4, "little"), (1000).to_bytes(4, "little")))
    with Archive.open(path) as archive, pytest.raises(InputError, match="damaged"):
        archive.read("a.jpg")


@pytest.mark.parametrize("kind", ["stored.zip", "deflated.zip"])
def test_flipped_bytes_are_found(tmp_path: Path, kind: str) -> None:
    path = make(tmp_path, kind, {"a.jpg": os.urandom(500)})
    data = bytearray(path.read_bytes())
    data[100] ^= 0xFF
    path.write_bytes(data)
    with Archive.open(path) as archive, pytest.raises(InputError, match=r"a\.jpg is damaged"):
        archive.read("a.jpg")


@pytest.mark.parametrize("kind", ["stored.zip", "plain.tar", "gzip.tar.gz"])
def test_truncated_archives_are_named(tmp_path: Path, kind: str) -> None:
    path = make(tmp_path, kind)
    path.write_bytes(path.read_bytes()[:70_000])
    with pytest.raises(InputError, match=kind):
        read_all(path)


def test_other_files_are_refused(tmp_path: Path) -> None:
    (tmp_path / "page.html").write_text("<html>" * 1000)
    with pytest.raises(InputError, match=r"page\.html: cannot be read as a folder, zip or tar"):
        Archive.open(tmp_path / "page.html")
    with pytest.raises(InputError, match="no such file or folder"):
        Archive.open(tmp_path / "nothing.zip")
