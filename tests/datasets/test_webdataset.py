"""WebDatasets as img2dataset and CLIP_benchmark write them."""

import io
import json
import tarfile

import pytest
from PIL import Image

from densevse.artifacts.images import ImageFiles
from densevse.datasets.readers import read_dataset
from snakeproof.errors import InputError


def picture(shade):
    buffer = io.BytesIO()
    Image.new("RGB", (12, 9), (shade, 0, 0)).save(buffer, "PNG")
    return buffer.getvalue()


def write_tar(path, members):
    path.parent.mkdir(exist_ok=True, parents=True)
    with tarfile.open(path, "w") as archive:
        for name, data in members.items():
            member = tarfile.TarInfo(name)
            member.size = len(data)
            archive.addfile(member, io.BytesIO(data))


def sample(key, shade, *sentences):
    told = {"caption": sentences[0], "all": sentences, "key": key}
    text, others = "\n".join(sentences), json.dumps(told)
    return {f"{key}.png": picture(shade), f"{key}.txt": text.encode(), f"{key}.json": others.encode()}


@pytest.fixture
def folder(tmp_path):
    """Two shards of the split test with the same keys as those of train, as CLIP_benchmark's; a failed sample."""
    write_tar(tmp_path / "wds/test/0.tar", sample("s0", 1, "A dog.", "Zwei Hunde.") | sample("s1", 2, "A cat."))
    write_tar(tmp_path / "wds/test/1.tar", sample("s2", 3, "A bird.") | {"s3.json": b"{}"})
    write_tar(tmp_path / "wds/train/0.tar", sample("s0", 4, "A horse."))
    return tmp_path / "wds"


def read(paths, **options):
    return read_dataset({"reader": "webdataset", "options": options}, {n: str(p) for n, p in paths.items()}, 1)


def test_texts_and_splits_of_folders(folder):
    images, captions = read({"shards": folder}, files={"test": "test/*", "train": "train/*.tar"})
    assert dict(zip(images["image_id"], images["split"], strict=True)) == {
        "train/0/s0": "train",
        "test/0/s0": "test",
        "test/0/s1": "test",
        "test/1/s2": "test",
    }
    assert captions["text"].tolist() == ["A horse.", "A dog.", "Zwei Hunde.", "A cat.", "A bird."]
    files = ImageFiles({"shards": str(folder)})
    assert [files.read("shards", file) for file in images["file"]] == [picture(shade) for shade in (4, 1, 2, 3)]


def test_sentences_of_json(folder):
    _, captions = read({"shards": folder}, files={"test": "test/*"}, sentences="json")
    assert captions["text"].tolist() == ["A dog.", "A cat.", "A bird."]
    _, captions = read({"shards": folder}, files={"test": "test/*"}, sentences="json", field="all")
    assert captions["text"].tolist() == ["A dog.", "Zwei Hunde.", "A cat.", "A bird."]


def test_null_is_no_sentence(tmp_path):
    others = {
        "s0.json": json.dumps({"caption": None}).encode(),
        "s1.json": json.dumps({"caption": ["A cat.", None]}).encode(),
    }
    write_tar(tmp_path / "train/0.tar", {"s0.png": picture(1), "s1.png": picture(2), **others})
    images, captions = read({"shards": tmp_path}, files={"train": "train/*"}, sentences="json", field="caption")
    assert images["captions"].tolist() == [0, 1]
    assert captions["text"].tolist() == ["A cat."]


def test_texts_of_several_lines_are_counted(folder, caplog):
    with caplog.at_level("INFO"):
        read({"shards": folder}, files={"test": "test/*", "train": "train/*.tar"})
    assert "1 of 4 samples have several sentences; a text has one in each line" in caplog.text


def test_tars_that_are_sources_of_their_own(folder):
    tars = {"shards": folder / "test/0.tar", "more": folder / "test/1.tar"}
    images, _ = read(tars, files={"test": "*"})
    assert images[["image_id", "source", "file"]].to_numpy().tolist() == [
        ["0/s0", "shards", "s0.png"],
        ["0/s1", "shards", "s1.png"],
        ["1/s2", "more", "s2.png"],
    ]
    assert ImageFiles({name: str(path) for name, path in tars.items()}).read("more", "s2.png") == picture(3)


def test_splits_may_be_drawn(folder):
    images, _ = read({"shards": folder}, splits={"train": 2, "val": 1, "test": 1}, seed=3)
    assert sorted(images["split"]) == ["test", "train", "train", "val"]


def test_what_is_wrong_is_named(folder):
    with pytest.raises(
        InputError, match=r"files\.val: no tar is called val/\*; there are test/0\.tar, test/1\.tar, tr"
    ):
        read({"shards": folder}, files={"val": "val/*"})
    with pytest.raises(InputError, match=r"0\.tar, s0\.json: 'title' holds 'None' instead of a sentence or a list"):
        read({"shards": folder}, files={"test": "test/*"}, sentences="json", field="title")
    with pytest.raises(InputError, match=r"test/0\.tar matches the patterns of test and of train; name each tar"):
        read({"shards": folder}, files={"test": "test/*", "train": "*.tar"})
    with pytest.raises(InputError, match=r"another tar of that name has 0/s0 as well"):
        read({"shards": folder / "test/0.tar", "more": folder / "train/0.tar"}, files={"test": "*"})


def test_a_sentence_that_no_file_can_hold_is_named(tmp_path):
    write_tar(tmp_path / "0.tar", {"s0.png": picture(1), "s0.json": json.dumps({"caption": "a \ud800"}).encode()})
    with pytest.raises(InputError, match=r"0\.tar, s0\.json: 'caption' holds 'a \\ud800' instead of a sentence"):
        read({"shards": tmp_path}, files={"test": "*"}, sentences="json")


def test_a_sample_with_two_pictures_is_named(tmp_path):
    write_tar(tmp_path / "wds/0.tar", sample("s0", 1, "A dog.") | {"s0.jpg": picture(2)})
    with pytest.raises(InputError, match=r"0\.tar: s0 has s0\.jpg and s0\.png; leave one"):
        read({"shards": tmp_path / "wds"}, files={"test": "*"})


def test_a_sample_without_a_picture_is_named(tmp_path, caplog):
    write_tar(tmp_path / "0.tar", sample("s0", 1, "A dog.") | sample("s1.small", 2, "A cat."))
    images, _ = read({"shards": tmp_path}, files={"test": "*"})
    assert images["image_id"].tolist() == ["0/s0"]
    assert "1 samples without a picture are left out, the first is s1; a key ends at the first dot" in caplog.text
