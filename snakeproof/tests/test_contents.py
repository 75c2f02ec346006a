"""Digests of the contents of the user's files, whatever their times."""

import os
import shutil
import time
from pathlib import Path

import pytest

from snakeproof import contents as module
from snakeproof.contents import PROJECT, Contents, Marks, Uploads, link_folders
from snakeproof.errors import InputError

MARKS = Marks(timeless="timeless {}".format, here="here {}".format, in_bucket="in bucket {}".format)


@pytest.fixture
def folder(tmp_path):
    """A folder of two files and one inside a folder, written long enough ago."""
    folder = tmp_path / "photographs"
    (folder / "more").mkdir(parents=True)
    for name in ("a.jpg", "b.jpg", "more/c.jpg"):
        (folder / name).write_text(name)
    return folder


@pytest.fixture
def now(tmp_path):
    """The digest of a path now, as a new process finds it."""
    return lambda path: Contents(tmp_path / "kept").digests(str(path))[0]


def replace(path, text):
    """Puts a file of the same size and time in the place of another."""
    times, size = os.stat(path), len(path.read_text())
    other = path.with_name("other")
    other.write_text(text)
    assert len(text) == size
    os.utime(other, ns=(times.st_atime_ns, times.st_mtime_ns))
    other.replace(path)


def test_a_file_that_another_of_the_same_size_and_time_replaces_is_seen(folder, now):
    before = now(folder), now(folder / "a.jpg")
    replace(folder / "a.jpg", "A.jpg")
    assert now(folder) != before[0]
    assert now(folder / "a.jpg") != before[1]


def test_a_file_that_is_written_to_where_it_is_and_gets_its_old_time_is_seen(folder, now):
    file = folder / "more/c.jpg"
    before, times = now(folder), file.stat()
    file.write_text("more/C.jpg")
    os.utime(file, ns=(times.st_atime_ns, times.st_mtime_ns))
    assert now(folder) != before


def test_a_name_and_a_new_file_are_seen_and_so_is_one_that_goes(folder, now):
    seen = [now(folder)]
    (folder / "a.jpg").rename(folder / "d.jpg")
    seen.append(now(folder))
    (folder / "e.jpg").touch()
    seen.append(now(folder))
    (folder / "d.jpg").unlink()
    assert len({*seen, now(folder)}) == 4


def test_times_copies_and_what_file_managers_write_change_nothing(folder, now, tmp_path):
    before = now(folder), now(folder / "a.jpg")
    (folder / "a.jpg").touch()
    os.utime(folder / "b.jpg", (1, 1))
    (folder / ".DS_Store").write_text("view")
    (folder / "._a.jpg").write_text("fork")
    shutil.copytree(folder, tmp_path / "copy")
    assert now(tmp_path / "copy") == now(folder) == before[0]
    shutil.copy(folder / "a.jpg", tmp_path / "z.png")
    assert now(tmp_path / "z.png") == before[1]


def test_files_behind_links_are_read_and_circles_end(folder, now, tmp_path):
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere/d.jpg").write_text("d")
    (folder / "linked").symlink_to(tmp_path / "elsewhere")
    (folder / "circle").symlink_to(folder)
    (folder / "nowhere").symlink_to(tmp_path / "nowhere")
    before = now(folder)
    (tmp_path / "elsewhere/d.jpg").write_text("e")
    assert now(folder) != before


def test_what_is_not_there_differs_from_what_is_empty(tmp_path, now):
    (tmp_path / "empty").mkdir()
    assert now(tmp_path / "nothing") == "absent" != now(tmp_path / "empty")


def test_what_goes_is_taken_for_what_it_was(folder, now, monkeypatch):
    """Snakemake asks for a file again where it needs it; what is made of one obtained by hand may outlive it."""
    monkeypatch.setattr("snakeproof.files.COARSEST", 0)
    before = now(folder)
    shutil.rmtree(folder)
    assert now(folder) == now(folder) == before


def test_names_that_are_not_utf_8_are_names_too(tmp_path, now):
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / os.fsdecode(b"caf\xe9.jpg")).write_text("a")
    assert now(tmp_path / "folder") == now(tmp_path / "folder")


def test_nothing_is_read_twice_and_what_is_kept_may_be_lost_or_damaged(folder, now, tmp_path, monkeypatch):
    monkeypatch.setattr("snakeproof.files.COARSEST", 0)
    read = []
    monkeypatch.setattr(module, "checksum", lambda path: read.append(path) or "0")
    before = now(folder)
    assert len(read) == 3
    assert now(folder) == before
    assert len(read) == 3
    (folder / "a.jpg").touch()
    assert now(folder) == before
    assert read[3:] == [str(folder / "a.jpg")]
    for damaged in ("", "[1]", '{"/a.jpg": [1]}', '{"/a.jpg": 7}'):
        for kept in (tmp_path / "kept").iterdir():
            kept.write_text(damaged)
        assert now(folder) == before
    assert len(read) == 4 + 4 * 3


def test_a_file_that_has_just_changed_is_read_again(folder, now, monkeypatch):
    """Its next change might leave the same time."""
    read = []
    monkeypatch.setattr(module, "checksum", lambda path: read.append(path) or "0")
    now(folder), now(folder)
    assert len(read) == 6


def test_what_a_rule_makes_is_left_to_snakemake(folder):
    contents = Contents(is_made=lambda path: path.startswith("results/"), marks=MARKS)
    assert contents.mark_path("results/a") == "results/a"
    assert contents.mark_path("a") == "timeless a"
    assert contents.digests("results/a") == []


def test_a_file_of_the_project_s_own_lies_where_snakemake_runs():
    contents = Contents(marks=MARKS)
    contents.uploads = Uploads("resources")
    assert contents.mark_path(f"{PROJECT}/config/classes.txt") == f"timeless here {PROJECT}/config/classes.txt"


def test_the_project_has_one_path_wherever_it_stands(tmp_path, monkeypatch):
    for place in ("checkout", "package"):
        (tmp_path / place).mkdir()
        (tmp_path / place / "file").write_text(place)
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")
    for place in ("checkout", "package", "package"):
        assert link_folders(project=tmp_path / place) == {"project": PROJECT}
        assert Path(PROJECT, "file").read_text() == place
    assert [path.name for path in Path(".snakemake").iterdir()] == ["snakeproof"]


def test_a_folder_in_which_the_link_cannot_be_made_is_refused(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path(".snakemake").write_text("a file")
    with pytest.raises(InputError, match=r"^cannot make links to the project in \.snakemake/snakeproof"):
        link_folders(project=tmp_path)


def test_a_file_of_the_user_s_is_read_from_its_copy_where_results_lie_in_a_bucket(folder, tmp_path):
    """And what lies in the bucket already from there; its time is that of its upload, so that it has no digest."""
    contents = Contents(tmp_path / "kept", marks=MARKS)
    there = ["resources/flickr8k/images.zip", "s3://bucket/images.zip"]
    assert contents.mark_path(there[1]) == "in bucket s3://bucket/images.zip"
    before = contents.digests(str(folder))
    contents.uploads = Uploads("resources")
    assert contents.mark_path("/data/images.zip") == "resources/own/absolute/data/images.zip"
    assert contents.mark_path("data/images.zip") == "resources/own/relative/data/images.zip"
    assert contents.mark_path(there[0]) == there[0]
    assert contents.digests(*there, str(folder)) == before
    assert contents.mark_local_path("a") == "timeless here a"


@pytest.mark.skipif(not os.geteuid(), reason="root may read everything")
def test_what_may_not_be_read_is_named(folder, now):
    (folder / "a.jpg").chmod(0)
    with pytest.raises(InputError, match=r"a\.jpg cannot be read \(Permission denied\)"):
        now(folder)


def test_whoever_waits_is_told_why(folder, tmp_path, monkeypatch):
    monkeypatch.setattr(module, "MENTIONED", 3)
    said = []
    Contents(tmp_path / "kept", say=said.append).digests(str(folder))
    assert len(said) == 1
    assert str(folder) in said[0]


def test_10_000_photographs_that_were_read_before_take_less_than_a_second(tmp_path, now, monkeypatch):
    monkeypatch.setattr("snakeproof.files.COARSEST", 0)
    folder = tmp_path / "many"
    folder.mkdir()
    for number in range(10_000):
        (folder / f"{number}.jpg").touch()
    now(folder)
    begin = time.process_time()
    now(folder)
    assert time.process_time() - begin < 1
