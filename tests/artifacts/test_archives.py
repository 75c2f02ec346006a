import bz2
import gzip
import io
import lzma
import os
import pickle
import subprocess
import sys
import tarfile
import zipfile
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path

import pytest

from densevse.artifacts import archives
from densevse.artifacts.archives import Archive
from densevse.artifacts.file_names import is_hidden
from densevse.artifacts.images import ImageFiles
from densevse.artifacts.matrices import open_matrix
from snakeproof.errors import InputError

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


NFD = "cafe\u0301.jpg"
NFC = "caf\u00e9.jpg"


def zip_of(path: Path, name: bytes, flags: int = 0) -> Path:
    """A zip with one file, whose name is these bytes."""
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("x" * len(name), b"1")
    data = bytearray(path.read_bytes().replace(b"x" * len(name), name))
    for header, place in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        start = data.index(header) + place
        data[start : start + 2] = flags.to_bytes(2, "little")
    path.write_bytes(data)
    return path


def test_an_encrypted_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(
        InputError, match=r"a\.zip: a\.jpg is encrypted, .* repack the zip with Deflate, without a pass"
    ):
        Archive.open(zip_of(tmp_path / "a.zip", b"a.jpg", flags=1))


METHODS = [(9, "Deflate64"), (12, "bzip2"), (14, "LZMA"), (93, "Zstandard"), (77, "method 77")]


def of_method(path: Path, method: int, others: tuple[str, ...] = ()) -> Path:
    """A zip whose file a.npy says that it is compressed by a method; others are stored."""
    with zipfile.ZipFile(path, "w") as archive:
        for name in ("a.npy", *others):
            archive.writestr(name, b"1")
    data = bytearray(path.read_bytes())
    for header, place in ((b"PK\x03\x04", 8), (b"PK\x01\x02", 10)):
        start = data.index(header) + place
        data[start : start + 2] = method.to_bytes(2, "little")
    path.write_bytes(data)
    return path


@pytest.mark.parametrize(("method", "name"), METHODS)
def test_the_method_of_a_zip_is_named(tmp_path: Path, method: int, name: str) -> None:
    refused = rf": a\.npy is compressed by {name}, which is not read; repack the zip with Deflate"
    with pytest.raises(InputError, match=refused):
        Archive.open(of_method(tmp_path / "all.zip", method))
    with Archive.open(of_method(tmp_path / "some.zip", method, ("b.jpg",))) as archive:
        assert archive.read("b.jpg") == b"1"
        with pytest.raises(InputError, match=refused):
            archive.read("a.npy")
    with pytest.raises(InputError, match=refused):
        open_matrix(of_method(tmp_path / "a.npz", method), "a", tmp_path)


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "folder"])
def test_what_is_behind_the_end_of_an_archive_is_named(tmp_path: Path, kind: str) -> None:
    path = make(tmp_path, kind)
    whole = path.read_bytes()
    for padding in (0, 1, 512, 40_000):
        path.write_bytes(whole + bytes(padding))
        assert read_all(path) == FILES
    for rest in (b"x", bytes(512) + b"x", bytes(40_000) + b"x", whole):
        if rest == whole and not kind.startswith(("plain", "stored", "deflated")):
            continue  # streams of one file may follow each other, and the tar in them is refused below
        path.write_bytes(whole + rest)
        with pytest.raises(InputError, match=kind):
            Archive.open(path)
    assert not list(tmp_path.glob("*.tmp*"))


def test_a_tar_may_end_with_a_zip(tmp_path: Path) -> None:
    packed = make(tmp_path, "stored.zip", {"a.jpg": b"thumbnail"}).read_bytes()
    files = {"a.jpg": b"photograph", "thumbnails.zip": packed}
    for kind in ("plain.tar", "gzip.tar.gz"):
        assert read_all(make(tmp_path, kind, files)) == files


def test_a_folder_is_listed_whenever_it_is_opened(tmp_path: Path) -> None:
    path = make(tmp_path, "folder")
    assert read_all(path) == read_all(path) == FILES


@pytest.mark.parametrize("kind", ["plain.tar", "stored.zip"])
def test_a_dot_that_stands_for_a_folder_hides_nothing(tmp_path: Path, kind: str) -> None:
    files = {"photographs/./a.jpg": b"1", "././b.jpg": b"2", "./c./d.jpg": b"3", "e/./.hidden/f.jpg": b"4"}
    assert read_all(make(tmp_path, kind, files)) == {"photographs/a.jpg": b"1", "b.jpg": b"2", "c./d.jpg": b"3"}


def test_a_zip_may_begin_with_a_folder(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.mkdir("photographs")
        archive.writestr("photographs/a.jpg", b"1")
    assert read_all(tmp_path / "a.zip") == {"photographs/a.jpg": b"1"}


def test_a_tar_that_goes_on_behind_a_hole_is_named(tmp_path: Path) -> None:
    path = make(tmp_path, "plain.tar")
    with tarfile.open(path) as archive:
        place = archive.getmembers()[30].offset
    data = bytearray(path.read_bytes())
    for hole in (bytes(512), b"x" * 512):
        data[place : place + 512] = hole
        path.write_bytes(data)
        with pytest.raises(InputError, match=rf"plain\.tar: seems to end at byte {place:,}, but something begins at"):
            Archive.open(path)


def test_compressed_streams_may_follow_each_other(tmp_path: Path) -> None:
    for kind, compress in (("a.gz", gzip.compress), ("a.bz2", bz2.compress), ("a.xz", lzma.compress)):
        data = make(tmp_path, "plain.tar").read_bytes()
        (tmp_path / kind).write_bytes(compress(data[:50_000]) + compress(data[50_000:]))
        assert read_all(tmp_path / kind) == FILES
        (tmp_path / kind).write_bytes(compress(data) + compress(data))
        with pytest.raises(InputError, match=rf"{kind}.*: seems to end at byte"):
            Archive.open(tmp_path / kind)


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
    with pytest.raises(InputError, match=r"no source 'pictures'; it has \['images'\]"):
        files.archive("pictures")
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
    (copy,) = tmp_path.glob("gzip.tar.gz.*.uncompressed.tar")
    first = copy.stat().st_mtime_ns
    with Archive.open(path):
        pass
    assert copy.stat().st_mtime_ns == first


@pytest.mark.parametrize("time", [10**9, None])
def test_a_compressed_tar_that_replaces_another_is_uncompressed_again(tmp_path: Path, time: int | None) -> None:
    """It may be older, as after `cp -p`, or have the same time, as in some stores."""
    path = make(tmp_path, "gzip.tar.gz")
    (tmp_path / "gzip.tar.gz.uncompressed.tar").touch()  # of an earlier version of densevse
    before = path.stat().st_mtime
    with Archive.open(path):
        pass
    with tarfile.open(path, "w:gz") as archive:
        member = tarfile.TarInfo("other.jpg")
        member.size = 5
        archive.addfile(member, io.BytesIO(b"other"))
    os.utime(path, (time or before, time or before))
    with Archive.open(path) as archive:
        assert archive.names() == ["other.jpg"]
    assert len(list(tmp_path.glob("*.uncompressed.tar"))) == 1, "those of earlier contents are gone"


@pytest.mark.parametrize(
    "name", ["../outside.jpg", "/etc/passwd", "inside/../../outside.jpg", "..\\outside.jpg", "C:\\x"]
)
@pytest.mark.parametrize("kind", ["stored.zip", "plain.tar"])
def test_names_that_leave_the_folder_are_refused(tmp_path: Path, kind: str, name: str) -> None:
    with pytest.raises(InputError, match="leads out of the folder"):
        Archive.open(make(tmp_path, kind, {"fine.jpg": b"1", name: b"2"}))


def test_a_folder_is_not_left_either(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("secret")
    with Archive.open(make(tmp_path, "folder")) as archive, pytest.raises(InputError, match="leads out of the folder"):
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


def test_a_tar_that_ends_between_two_members_is_told(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    path = make(tmp_path, "tar")
    Archive.open(path).close()
    assert not caplog.text
    with tarfile.open(path) as archive:
        last = archive.getmembers()[-1].offset
    path.write_bytes(path.read_bytes()[:last])
    Archive.open(path).close()
    assert "ends without the mark of a tar's end; it may be truncated" in caplog.text


def test_other_files_are_refused(tmp_path: Path) -> None:
    (tmp_path / "page.html").write_text("<html>" * 1000)
    with pytest.raises(InputError, match=r"page\.html: cannot be read as a folder, zip or tar"):
        Archive.open(tmp_path / "page.html")
    with pytest.raises(InputError, match="no such file or folder"):
        Archive.open(tmp_path / "nothing.zip")


@pytest.mark.parametrize("kind", ["folder", "stored.zip", "plain.tar"])
@pytest.mark.parametrize("name", ["set\\train\\" + NFC, "set/train/" + NFD, "set\\train/" + NFD])
def test_a_name_with_backslashes_or_decomposed_accents_is_the_plain_one(tmp_path: Path, kind: str, name: str) -> None:
    with Archive.open(make(tmp_path, kind, {name: b"1"})) as archive:
        assert archive.names() == [f"set/train/{NFC}"]
        assert f"set/train/{NFC}" in archive
        assert archive.read(f"set/train/{NFC}") == b"1"


@pytest.mark.parametrize("kind", ["folder", "stored.zip", "plain.tar"])
def test_two_names_that_look_the_same_are_refused(tmp_path: Path, kind: str) -> None:
    path = make(tmp_path, kind, {NFC: b"1", NFD: b"2"})
    with pytest.raises(InputError, match=rf"{kind}: two of its files are called {NFC}, as .*u0301"):
        read_all(path)


def test_a_file_that_was_added_to_an_archive_again_is_the_last_one(tmp_path: Path) -> None:
    path = make(tmp_path, "plain.tar", {"a.jpg": b"1"})
    with tarfile.open(path, "a") as archive:
        member = tarfile.TarInfo("./a.jpg")
        member.size = 1
        archive.addfile(member, io.BytesIO(b"2"))
    assert read_all(path) == {"a.jpg": b"2"}


def test_a_zip_s_name_in_utf_8_needs_no_flag(tmp_path: Path) -> None:
    assert read_all(zip_of(tmp_path / "old.zip", NFD.encode())) == {NFC: b"1"}
    assert read_all(zip_of(tmp_path / "dos.zip", NFC.encode("cp437"))) == {NFC: b"1"}


def test_a_zip_that_lies_about_utf_8_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"lies\.zip: cannot be read"):
        Archive.open(zip_of(tmp_path / "lies.zip", b"caf\xe9.jpg", 0x800))


@pytest.mark.parametrize("kind", ["folder", "plain.tar"])
def test_a_name_that_is_not_utf_8_is_valid_text_and_can_be_read(tmp_path: Path, kind: str) -> None:
    with Archive.open(make(tmp_path, kind, {os.fsdecode(b"caf\xe9.jpg"): b"1"})) as archive:
        assert archive.names() == ["caf%E9.jpg"]
        assert archive.read("caf%E9.jpg") == b"1"


def test_names_are_the_same_under_an_ascii_locale(tmp_path: Path) -> None:
    make(tmp_path, "folder", {NFC: b"1", os.fsdecode(b"caf\xe9.txt"): b"2"})
    make(tmp_path, "plain.tar", {NFC: b"1"})
    code = """
import sys
from densevse.artifacts.archives import Archive
assert sys.getfilesystemencoding() == "ascii", sys.getfilesystemencoding()
for path in sys.argv[1:]:
    archive = Archive.open(path)
    print([(ascii(name), archive.read(name)) for name in archive.names()])
"""
    environment = {**os.environ, "LC_ALL": "POSIX", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    command = [sys.executable, "-c", code, tmp_path / "folder", tmp_path / "plain.tar"]
    said = subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout
    assert said.splitlines() == [
        str([("'caf%E9.txt'", b"2"), ("'caf\\xe9.jpg'", b"1")]),
        str([("'caf\\xe9.jpg'", b"1")]),
    ]


def test_links_to_folders_are_followed_but_not_in_circles(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere/a.jpg").write_bytes(b"1")
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder/link").symlink_to(tmp_path / "elsewhere")
    (tmp_path / "folder/file.jpg").symlink_to(tmp_path / "elsewhere/a.jpg")
    (tmp_path / "folder/up").symlink_to(tmp_path / "folder")
    (tmp_path / "folder/self").symlink_to("self")
    (tmp_path / "folder/nowhere.jpg").symlink_to("not there")
    assert read_all(tmp_path / "folder") == {"link/a.jpg": b"1", "file.jpg": b"1"}


def test_a_folder_that_is_linked_beside_itself_has_its_files_once(tmp_path: Path) -> None:
    path = make(tmp_path, "folder", {"train/a.jpg": b"1", "z/train/b.jpg": b"2"})
    (path / "all").symlink_to(path / "train")
    (path / "train/deep").symlink_to(path / "z")
    with Archive.open(path) as archive:
        assert archive.names() == ["train/a.jpg", "z/train/b.jpg"]
        assert archive.read("all/a.jpg") == b"1"


@pytest.mark.parametrize("kind", KINDS)
def test_what_a_mac_adds_is_no_file(tmp_path: Path, kind: str) -> None:
    files = {"a.jpg": b"1", "._a.jpg": b"2", "set/._b.jpg": b"3", "__MACOSX/._a.jpg": b"4", "__MACOSX/c.jpg": b"5"}
    assert read_all(make(tmp_path, kind, files)) == {"a.jpg": b"1"}


def test_what_snakemake_puts_into_a_copied_folder_is_no_file(tmp_path: Path) -> None:
    assert read_all(make(tmp_path, "folder", {"a.jpg": b"1", ".snakemake_timestamp": b""})) == {"a.jpg": b"1"}


@pytest.mark.parametrize("kind", ["folder", "stored.zip"])
def test_what_is_missing_is_named_with_what_is_called_alike(tmp_path: Path, kind: str) -> None:
    path = make(tmp_path, kind, {"set/A.JPG": b"1", "set/b.heic": b"2"})
    with Archive.open(path) as archive:
        for name, instead in (("a.jpg", "set/A.JPG"), ("set/b.jpg", "set/b.heic")):
            with pytest.raises(InputError, match=f"has no file {name}; it has {instead}"):
                archive.read(name)


@pytest.mark.parametrize("kind", ["folder", "plain.tar"])
def test_a_name_in_another_encoding_is_named_beside_the_missing_one(tmp_path: Path, kind: str) -> None:
    path = make(tmp_path, kind, {os.fsdecode(b"set/caf\xe9.jpg"): b"1"})
    with Archive.open(path) as archive, pytest.raises(InputError, match=r"it has set/caf%E9\.jpg, where .* rename the"):
        archive.read(NFC)


def test_a_zip_s_name_in_another_encoding_is_named_beside_the_missing_one(tmp_path: Path) -> None:
    path = zip_of(tmp_path / "windows.zip", NFC.encode("latin-1"))
    with Archive.open(path) as archive, pytest.raises(InputError, match=rf"has no file {NFC}; it has cafΘ\.jpg"):
        archive.read(NFC)


def test_a_name_with_a_line_break_is_on_one_line(tmp_path: Path) -> None:
    assert read_all(make(tmp_path, "folder", {"a\nb.jpg": b"1"})) == {"a%0Ab.jpg": b"1"}


def test_a_second_name_of_a_file_in_a_tar_is_that_file(tmp_path: Path) -> None:
    first = make(tmp_path, "folder", {"a.jpg": b"1"}) / "a.jpg"
    for name in ("b.jpg", "c.jpg"):
        os.link(first, first.with_name(name))
    with tarfile.open(tmp_path / "links.tar", "w") as archive:
        archive.add(first.parent, "set")
    assert read_all(tmp_path / "links.tar") == {f"set/{name}.jpg": b"1" for name in "abc"}


def test_a_second_name_of_a_file_that_is_not_in_a_tar_is_named(tmp_path: Path) -> None:
    link = tarfile.TarInfo("b.jpg")
    link.type, link.linkname = tarfile.LNKTYPE, "../outside.jpg"
    with tarfile.open(tmp_path / "links.tar", "w") as archive:
        archive.addfile(link)
    with pytest.raises(InputError, match=r"b\.jpg is a link to \.\./outside\.jpg, which is not in it"):
        read_all(tmp_path / "links.tar")


def test_strange_names_of_folders_are_no_reason_to_refuse_others(tmp_path: Path) -> None:
    assert read_all(make(tmp_path, "folder", {"a.jpg": b"1", "x/C:/b.jpg": b"2"})) == {
        "a.jpg": b"1",
        "x/C:/b.jpg": b"2",
    }
    with Archive.open(make(tmp_path, "folder", {"C:/b.jpg": b"2"})) as archive:
        assert archive.read("a.jpg") == b"1"


HIDDEN = [".thumbnails/a.jpg", "x/.ipynb_checkpoints/a.jpg", "@eaDir/a.jpg", "Thumbs.db", "x/desktop.ini", "Icon\r"]


@pytest.mark.parametrize("kind", KINDS)
def test_hidden_files_and_those_of_programs_are_left_out_and_known(tmp_path: Path, kind: str) -> None:
    files = {**FILES, **dict.fromkeys(HIDDEN, b"made by a program")}
    with Archive.open(make(tmp_path, kind, files)) as archive:
        assert archive.names() == sorted(FILES)
        assert len(archive.hidden) == len(HIDDEN)


def test_names_that_only_look_hidden_stay() -> None:
    assert not any(map(is_hidden, ["my.thumbnails/a.jpg", "a.@eaDir", "thumbs.db.jpg", "v1.2/s.jpg", "__a__/1.jpg"]))
