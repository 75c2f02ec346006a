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


def test_keys_may_have_dots(tmp_path):
    members = sample("IMG_2.0", 1, "A dog.") | sample("IMG_2.1", 2, "A cat.") | sample("v1.2/s", 3, "A bird.")
    write_tar(tmp_path / "0.tar", members | sample("v1", 4, "A horse."))
    images, captions = read({"shards": tmp_path}, files={"test": "*"})
    assert images["image_id"].tolist() == ["0/IMG_2.0", "0/IMG_2.1", "0/v1.2/s", "0/v1"]
    assert captions["text"].tolist() == ["A dog.", "A cat.", "A bird.", "A horse."]


@pytest.mark.parametrize(
    "names",
    [
        ("IMG_2.png", "IMG_2.0.png"),
        ("s.png", "s.seg.png"),
        ("s.png", "s.PNG"),
        ("s.txt", "s.TXT"),
        ("s.jpeg", "s.jpg"),
    ],
)
def test_two_files_of_one_key_are_both_named(tmp_path, names):
    write_tar(tmp_path / "0.tar", {**sample("t", 1, "A dog."), **{name: picture(2) for name in names}})
    with pytest.raises(InputError, match=r"0\.tar: (s|IMG_2) has ") as error:
        read({"shards": tmp_path}, files={"test": "*"})
    assert all(name in str(error.value).split(" has ")[1] for name in names)


def test_a_hidden_tar_is_left_out(tmp_path):
    for folder in ("", ".thumbnails", "@eaDir"):
        write_tar(tmp_path / "wds" / folder / "0.tar", sample("s0", 1, "A dog."))
    images, _ = read({"shards": tmp_path / "wds"}, files={"test": "*"})
    assert images["image_id"].tolist() == ["0/s0"]


def test_of_several_pictures_of_a_key_one_suffix_may_be_named(tmp_path):
    members = {"s0.left.png": picture(1), "s0.right.png": picture(2), "s0.en.txt": b"A dog.", "s0.de.txt": b"Ein Hund."}
    write_tar(tmp_path / "0.tar", members)
    images, captions = read({"shards": tmp_path}, files={"test": "*"}, pictures="left.png", sentences="de.txt")
    assert (images["image_id"].tolist(), images["file"].tolist()) == (["0/s0"], ["0.tar/s0.left.png"])
    assert captions["text"].tolist() == ["Ein Hund."]
    with pytest.raises(InputError, match=r"images without a sentence.* such as '0/s0\.left' and '0/s0\.en'"):
        read({"shards": tmp_path}, files={"test": "*"})


def test_tars_without_pictures_say_what_they_have(tmp_path):
    write_tar(tmp_path / "0.tar", {"s0.img": picture(1), "s0.cap": b"A dog."})
    with pytest.raises(InputError, match=r"0\.tar: no name ends .* in \.apng, .*; there are s0\.cap, s0\.img\. Name"):
        read({"shards": tmp_path}, files={"test": "*"})


def test_keys_that_differ_in_case_alone_are_named(tmp_path):
    members = {**sample("s0", 1, "A dog."), "s1.png": picture(2), "S1.txt": b"A cat."}
    write_tar(tmp_path / "0.tar", members)
    with pytest.raises(InputError, match=r"1 names agree only without folder, case.* such as '0/s1' and '0/S1'"):
        read({"shards": tmp_path}, files={"test": "*"})


def test_a_text_without_a_picture_is_counted(tmp_path, caplog):
    write_tar(tmp_path / "0.tar", {**sample("s0", 1, "A dog."), "s2.txt": b"A cat."})
    with caplog.at_level("INFO"):
        images, _ = read({"shards": tmp_path}, files={"test": "*"})
    assert images["image_id"].tolist() == ["0/s0"]
    assert "1 captioned images are in no split and are ignored: 0/s2" in caplog.text
