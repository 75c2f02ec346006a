import errno
import hashlib
import os
import shutil
import stat

import pytest

from snakeproof import files
from snakeproof.errors import InputError
from snakeproof.files import atomic_file, checksum, whole_folder, write_text


def write_half(path):
    with atomic_file(path) as temporary:
        temporary.write_text("new, but not whole")
        raise RuntimeError("half way")


def test_a_failure_leaves_what_was_there_and_no_temporary_file(tmp_path):
    path = tmp_path / "table.md"
    write_text("old", path)
    with pytest.raises(RuntimeError, match="half way"):
        write_half(path)
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["table.md"]


def test_a_file_is_absent_until_it_is_whole_and_has_ordinary_permissions(tmp_path):
    path = tmp_path / "folder" / "table.md"
    with atomic_file(path) as temporary:
        temporary.write_text("text")
        assert not path.exists()
        assert temporary.parent == path.parent, "a move between file systems is not atomic"
    mask = os.umask(0)
    os.umask(mask)
    assert path.read_text() == "text"
    assert stat.S_IMODE(path.stat().st_mode) == 0o666 & ~mask
    assert os.listdir(path.parent) == ["table.md"]


def write_and_fail(path, error):
    with atomic_file(path) as temporary:
        temporary.write_text("new, but not whole")
        raise error


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT, errno.EROFS])
def test_a_disk_that_takes_no_more_is_named_with_the_file_and_what_to_do(tmp_path, number):
    path = tmp_path / "table.md"
    write_text("old", path)
    with pytest.raises(InputError, match=rf"table.md.*{os.strerror(number)}.*Make room") as raised:
        write_and_fail(path, OSError(number, os.strerror(number)))
    assert str(path) in str(raised.value)
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["table.md"]


def test_a_full_disk_is_seen_behind_a_librarys_own_error(tmp_path, monkeypatch):
    usage = shutil.disk_usage(tmp_path)
    monkeypatch.setattr(files.shutil, "disk_usage", lambda _: usage._replace(free=0))
    with pytest.raises(InputError, match=r"checkpoint\.pt.*unexpected pos.*Make room"):
        write_and_fail(tmp_path / "checkpoint.pt", RuntimeError("unexpected pos 64 vs 0"))


def test_a_path_that_no_file_can_have_is_refused(tmp_path):
    with pytest.raises(InputError, match="a folder is there; name a file"):
        write_text("text", tmp_path)
    write_text("text", tmp_path / "file")
    for path in (tmp_path / "file" / "a", tmp_path / "file" / "b" / "a"):
        with pytest.raises(InputError, match=r"file.* is no folder; name another path"):
            write_text("text", path)
        with pytest.raises(InputError, match=r"file.* is no folder; name another path"), whole_folder(path):
            raise AssertionError
    assert os.listdir(tmp_path) == ["file"]


def test_text_is_utf8(tmp_path):
    write_text("Grüße, 犬", tmp_path / "a")
    assert (tmp_path / "a").read_bytes() == "Grüße, 犬".encode()


@pytest.mark.parametrize("algorithm", ["sha256", "md5", "sha1"])
def test_checksum(tmp_path, algorithm):
    data = os.urandom(3_000_000)
    (tmp_path / "a").write_bytes(data)
    assert checksum(tmp_path / "a", algorithm) == hashlib.new(algorithm, data).hexdigest()
