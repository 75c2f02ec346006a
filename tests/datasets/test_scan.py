"""SCAN's folders of precomputed features, read as a data set without pictures."""

import pytest

from densevse.datasets.readers import read_dataset
from snakeproof.errors import InputError

COUNTS = {"train": 3, "dev": 1, "test": 1, "testall": 2}


def lines(folder, name, found):
    (folder / name).write_text("".join(f"{line}\n" for line in found))


@pytest.fixture
def folder(tmp_path):
    for split, count in COUNTS.items():
        lines(tmp_path, f"{split}_ids.txt", [f"{split}{number}" for number in range(count)])
        lines(tmp_path, f"{split}_caps.txt", [f"Sentence {number} of {split}." for number in range(5 * count)])
    return tmp_path


def read(folder, **options):
    settings = {"reader": "scan", "options": {"copies": 1, **options}}
    return read_dataset(settings, {"precomp": str(folder)})


@pytest.mark.parametrize("repeated", [False, True])
def test_sentence_i_is_of_image_i_by_5(folder, repeated):
    if repeated:
        for split, count in COUNTS.items():
            lines(folder, f"{split}_ids.txt", [f"{split}{number // 5}" for number in range(5 * count)])
    images, captions = read(folder)
    assert dict(zip(images["image_id"], images["split"], strict=True)) == {
        **dict.fromkeys(["train0", "train1", "train2"], "train"),
        "dev0": "val",
        "test0": "test",
    }
    assert captions.loc[captions["image_id"] == "train1", "text"].tolist() == [
        f"Sentence {number} of train." for number in range(5, 10)
    ]
    assert (images[["width", "height"]] == 0).all(axis=None)
    assert set(images["status"]) == {"ok"}
    assert set(images["captions"]) == {5}


def test_testall_may_be_the_test_split(folder):
    images, _ = read(folder, test="testall")
    assert images.loc[images["split"] == "test", "image_id"].tolist() == ["testall0", "testall1"]


@pytest.mark.parametrize(
    ("file", "found", "message"),
    [
        ("train_caps.txt", ["a sentence"] * 14, r"train_caps\.txt: 14 sentences, which are not 5 for each image"),
        ("train_caps.txt", [*["a sentence"] * 7, "", *["a sentence"] * 7], r"train_caps\.txt, line 8: it is blank"),
        ("train_ids.txt", ["a", "b"], r"train_ids\.txt: 2 lines, expected 3, .* or 15"),
        ("train_ids.txt", ["a", "b", "a"], r"train_ids\.txt: image 3 of the split has the id 'a' of one before it"),
        (
            "train_ids.txt",
            [*"aaaaabbbbc", *"ccccc"],
            r"train_ids\.txt, line 6: .* must be one image, found \['b', 'c'\]",
        ),
        ("test_ids.txt", ["dev0"], "1 image ids are in the data set twice: dev0"),
    ],
)
def test_what_is_wrong_is_named_by_file_and_line(folder, file, found, message):
    lines(folder, file, found)
    with pytest.raises(InputError, match=message):
        read(folder)


def test_a_file_that_is_not_there(folder):
    (folder / "dev_ids.txt").unlink()
    with pytest.raises(InputError, match=r"no file dev_ids\.txt in it"):
        read(folder)


def test_copies_are_never_guessed(folder):
    with pytest.raises(InputError, match=r"options\.copies"):
        read_dataset({"reader": "scan", "options": {}}, {"precomp": str(folder)})
