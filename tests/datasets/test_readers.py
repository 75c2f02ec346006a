import io
import json
import logging
import os
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import yaml
from PIL import Image

from densevse.artifacts.file_names import refuse_alike
from densevse.artifacts.schemas.datasets import BOXES, CAPTIONS, IMAGES
from densevse.artifacts.schemas.proposals import runs_to_mask
from densevse.artifacts.sentences import clean_sentence
from densevse.datasets import coco as coco_files
from densevse.datasets import pascal
from densevse.datasets.layout import seeded_splits
from densevse.datasets.readers import read_dataset, write_dataset
from densevse.datasets.true_boxes import write_boxes
from snakeproof import schema
from snakeproof.errors import InputError

FLICKR = {"captions": "token.txt", "splits": {"train": "train.txt", "val": "dev.txt", "test": "test.txt"}}
TOKENS = (
    "".join(f"{image}.jpg#{number}\tCaption {number} of {image} .\n" for image in "abcd" for number in range(5))
    + "e.jpg#0\tAn unused photograph .\n"
)
LISTS = {"train.txt": "c.jpg\na.jpg\n", "dev.txt": "b.jpg\n", "test.txt": "d.jpg\n"}


def settings(layout: str, options: Mapping[str, Any], known_unreadable: Sequence[str] = ()) -> dict[str, Any]:
    return {"reader": layout, "options": options, "known_unreadable": list(known_unreadable)}


def read(
    layout: str,
    options: Mapping[str, Any],
    paths: Mapping[str, str],
    known_unreadable: Sequence[str] = (),
    threads: int = 1,
) -> tuple[pd.DataFrame, pd.DataFrame]:
    return read_dataset(settings(layout, options, known_unreadable), paths, threads)


def photograph(seed: int, size: tuple[int, int] = (30, 20)) -> bytes:
    pixels = np.random.default_rng(seed).integers(0, 255, (size[1], size[0], 3), dtype=np.uint8)
    buffer = io.BytesIO()
    Image.fromarray(pixels).save(buffer, "JPEG")
    return buffer.getvalue()


def zipped(path: Path, files: Mapping[str, bytes | str]) -> str:
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return str(path)


def photographs(names: str, folder: str = "Photographs/", suffix: str = ".jpg") -> dict[str, bytes]:
    return {f"{folder}{name}{suffix}": photograph(ord(name)) for name in names}


def flickr(
    folder: Path,
    images: Mapping[str, bytes] | None = None,
    tokens: str | bytes = TOKENS,
    lists: Mapping[str, str] = LISTS,
) -> dict[str, str]:
    files = photographs("abcde") if images is None else images
    mac = {"__MACOSX/Photographs/._a.jpg": b"what a Mac adds", "__MACOSX/._token.txt": b"\xff"}
    return {
        "images": zipped(folder / "images.zip", {**files, **mac}),
        "text": zipped(folder / "text.zip", {"token.txt": tokens, **lists, **mac}),
    }


def test_flickr(tmp_path: Path) -> None:
    images, captions = read("flickr", FLICKR, flickr(tmp_path))
    assert images["image_id"].tolist() == ["c.jpg", "a.jpg", "b.jpg", "d.jpg"]
    assert images["split"].tolist() == ["train", "train", "val", "test"]
    assert images["captions"].tolist() == [5, 5, 5, 5]
    assert images["family"].tolist() == images["image_id"].tolist()
    assert images["file"][0] == "Photographs/c.jpg"
    assert set(images["source"]) == {"images"}
    assert (images["width"] == 30).all()
    assert (images["height"] == 20).all()
    assert (images["status"] == "ok").all()
    assert captions["caption_id"][:6].tolist() == [f"c.jpg#{number}" for number in range(5)] + ["a.jpg#0"]
    assert captions["text"][1] == "Caption 1 of c ."
    assert captions["split"].tolist() == ["train"] * 10 + ["val"] * 5 + ["test"] * 5


def test_flickr_from_unpacked_folders(tmp_path: Path) -> None:
    packed = flickr(tmp_path)
    for name in ("images", "text"):
        with zipfile.ZipFile(packed[name]) as archive:
            archive.extractall(tmp_path / name)
    folders = {name: str(tmp_path / name) for name in packed}
    for ours, theirs in zip(read("flickr", FLICKR, folders), read("flickr", FLICKR, packed, [], 2), strict=True):
        assert ours.equals(theirs)


def test_captions_are_ordered_by_number_not_by_line(tmp_path: Path) -> None:
    shuffled = "\n".join(reversed(TOKENS.splitlines()))
    _, captions = read("flickr", FLICKR, flickr(tmp_path, tokens=shuffled))
    assert captions["text"][:5].tolist() == [f"Caption {number} of c ." for number in range(5)]


def karpathy_file(folder: Path, entries: list[tuple[str, str, int]], **more: Any) -> str:
    content = [
        {
            "filename": name,
            "split": split,
            "sentences": [{"raw": f" {name} {number}. \n"} for number in range(count)],
            **more,
        }
        for name, split, count in entries
    ]
    file = {"dataset_x.json": json.dumps({"images": content}), "dataset_y.json": "{}"}
    return zipped(folder / "caption_datasets.zip", file)


def test_flickr_with_karpathys_splits(tmp_path: Path) -> None:
    options = {"captions": "token.txt", "karpathy": "dataset_x.json"}
    paths = flickr(tmp_path)
    paths["karpathy"] = karpathy_file(tmp_path, [("d.jpg", "train", 5), ("a.jpg", "test", 5), ("c.jpg", "train", 5)])
    images, captions = read("flickr", options, paths)
    assert images["image_id"].tolist() == ["d.jpg", "c.jpg", "a.jpg"]
    assert captions["text"][0] == "Caption 0 of d ."
    del paths["text"]
    images, captions = read("flickr", options, paths)
    assert captions["text"][0] == "d.jpg 0."
    assert images["captions"].tolist() == [5, 5, 5]


def test_karpathy(tmp_path: Path) -> None:
    paths = flickr(tmp_path, photographs("ab"))
    paths = {
        "images": paths["images"],
        "karpathy": karpathy_file(tmp_path, [("b.jpg", "val", 4), ("a.jpg", "train", 7)]),
    }
    images, captions = read("karpathy", {"karpathy": "dataset_x.json"}, paths)
    assert images[["image_id", "split", "captions"]].to_numpy().tolist() == [["a.jpg", "train", 7], ["b.jpg", "val", 4]]
    assert captions["text"].iloc[-1] == "b.jpg 3."


def test_a_file_that_is_not_karpathys_is_named(tmp_path: Path) -> None:
    paths = flickr(tmp_path)
    paths = {"images": paths["images"], "karpathy": karpathy_file(tmp_path, [])}
    with pytest.raises(InputError, match=r"dataset_y\.json: 1 entries are not as .*\n  images: Field required"):
        read("karpathy", {"karpathy": "dataset_y.json"}, paths)


def coco(folder: Path) -> dict[str, str]:
    sources, annotations = {}, {}
    for source, numbers in (("train2014", (9, 4)), ("val2014", (7, 2))):
        files = {f"{source}/COCO_{source}_{n:012d}.jpg": photograph(n) for n in numbers}
        sources[source] = zipped(folder / f"{source}.zip", files)
        images = [{"id": n, "file_name": f"COCO_{source}_{n:012d}.jpg", "height": 20, "width": 30} for n in numbers]
        captions = [
            {"id": 1000 - 10 * n - i, "image_id": n, "caption": f"caption {i} of {n}"}
            for n in numbers
            for i in range(n)
        ]
        boxes = [
            {"id": n, "image_id": n, "category_id": 3, "bbox": [1.5, 2, 3, 4], "iscrowd": n == 4}
            | {"segmentation": {"size": [20, 30], "counts": [600]} if n == 4 else [[2, 3, 5, 3, 5, 7, 2, 7]]}
            for n in numbers
        ]
        categories = [{"id": 3, "name": "potted plant"}]
        annotations[f"annotations/captions_{source}.json"] = json.dumps({"images": images, "annotations": captions})
        annotations[f"annotations/instances_{source}.json"] = json.dumps(
            {"images": images, "annotations": boxes, "categories": categories}
        )
    return {**sources, "annotations": zipped(folder / "annotations.zip", annotations)}


def test_official_coco(tmp_path: Path) -> None:
    options = {"karpathy": None, "splits": {"train": 2, "val": 1, "test": 1}, "seed": 3}
    images, captions = read("coco", options, coco(tmp_path))
    assert sorted(images["image_id"]) == ["2", "4", "7", "9"]
    assert images["split"].tolist() == ["train", "train", "val", "test"]
    assert images.set_index("image_id")["captions"].to_dict() == {"2": 2, "4": 4, "7": 7, "9": 9}
    assert images.set_index("image_id")["source"].to_dict() == {
        "9": "train2014",
        "4": "train2014",
        "7": "val2014",
        "2": "val2014",
    }
    of_4 = captions[captions["image_id"] == "4"]
    assert of_4["text"].tolist() == [f"caption {i} of 4" for i in (3, 2, 1, 0)]
    assert of_4["sentid"].tolist() == [957, 958, 959, 960]


def test_coco_with_karpathys_splits(tmp_path: Path) -> None:
    paths = coco(tmp_path)
    splits = {7: "restval", 9: "train", 2: "test", 4: "train"}
    entries = [
        {
            "cocoid": n,
            "filename": f"COCO_{'train' if n in (9, 4) else 'val'}2014_{n:012d}.jpg",
            "split": split,
            "sentences": [{"raw": f"{n}-{i}", "sentid": 100 * n + i} for i in range(n)],
        }
        for n, split in splits.items()
    ]
    paths["karpathy"] = str(tmp_path / "dataset_coco.json")
    Path(paths["karpathy"]).write_text(json.dumps({"images": entries}))
    images, captions = read("coco", {"karpathy": "dataset_coco.json"}, paths)
    assert images["image_id"].tolist() == ["9", "4", "2", "7"]
    assert images["split"].tolist() == ["train", "train", "test", "restval"]
    assert images["captions"].tolist() == [9, 4, 2, 7]
    assert captions["text"].iloc[-1] == "7-6"
    assert captions["sentid"].iloc[-1] == 706


def test_coco_boxes(tmp_path: Path) -> None:
    paths, options = coco(tmp_path), {"splits": {"train": 2, "val": 1, "test": 1}}
    boxes = coco_files.read_boxes(paths)
    assert sorted(boxes["image_id"]) == ["2", "7", "9"]  # the crowd of image 4 is left out
    tables = str(tmp_path / "images.parquet"), str(tmp_path / "captions.parquet")
    write_dataset(settings("coco", options), paths, *tables, 1)
    write_boxes(settings("coco", options), paths, tables[0], str(tmp_path / "boxes.parquet"))
    images = schema.read(tmp_path / "images.parquet", IMAGES)["image_id"].tolist()
    boxes = schema.read(tmp_path / "boxes.parquet", BOXES)
    assert boxes["image_id"].tolist() == [image for image in images if image != "4"]
    assert boxes.loc[0, ["phrase", "x", "y", "width", "height", "start"]].tolist() == ["potted plant", 1.5, 2, 3, 4, -1]


@pytest.mark.parametrize(("sides", "wrong"), [(None, False), ([1, 4000], False), ([300, 4000], True), ([1, 2], True)])
def test_pictures_have_the_sides_that_their_data_set_states(tmp_path: Path, sides, wrong) -> None:
    paths, options = coco(tmp_path), {"splits": {"train": 2, "val": 1, "test": 1}}
    tables = str(tmp_path / "images.parquet"), str(tmp_path / "captions.parquet")
    reading = settings("coco", options) | ({"sides": sides} if sides else {})
    if not wrong:
        write_dataset(reading, paths, *tables, 1)
        return
    with pytest.raises(InputError, match=rf"'4'.*a side is not within {sides[0]} and {sides[1]} pixels"):
        write_dataset(reading, paths, *tables, 1)
    assert not Path(tables[0]).exists()


PAGE = """<html><title>Pascal</title><img src="logo.gif">Sentences <img src="images/logo.gif"> of
<img src="images/logo.gif"><table><tr><td><img src="logo.gif"></td><td>A university</td></tr>
<tr><td><img src="aeroplane/a.jpg"></td><td><table>
<tr><td> Two jets &amp; a sky. </td></tr><tr><td>A jet.</td></tr></table></td></tr>
<tr><td><img src="cat/b.jpg"></td><td><table>
<tr><td>One.<tr><td>Two.<tr><td>Three.<tr><td>Four.<tr><td>Five.<tr><td>Six.</table>
<tr><td><img src="cat/c.jpg"></td></tr>
<tr><td><img src="dog/d.jpg"></td><td><table><tr><td>A dog.</table></td></tr></table>"""


def test_pascal_page_and_text_files_are_the_same(tmp_path: Path) -> None:
    files = {"set/aeroplane/a.jpg": photograph(1), "set/cat/b.jpg": photograph(2), "set/cat/c.jpg": photograph(3)}
    files["set/dog/d.jpg"] = photograph(4)
    (tmp_path / "page.html").write_text(PAGE)
    texts = {
        "aeroplane/a.txt": "Two jets & a sky.\nA jet.\n",
        "cat/b.txt": "One.\nTwo.\nThree.\nFour.\nFive.\nSix.",
        "cat/c.txt": "\n",
        "dog/d.txt": "A dog.\n",
    }
    paths = {"images": zipped(tmp_path / "i.zip", files), "sentences": zipped(tmp_path / "s.zip", texts)}
    options = {"splits": {"train": 1, "val": 1, "test": 1}, "seed": 0}
    images, captions = read("pascal", options, paths)
    counts = {"aeroplane/a.jpg": 2, "cat/b.jpg": 6, "dog/d.jpg": 1}
    assert images.set_index("image_id")["captions"].to_dict() == counts
    assert captions.loc[captions["image_id"] == "aeroplane/a.jpg", "text"].tolist() == ["Two jets & a sky.", "A jet."]
    paths["sentences"] = str(tmp_path / "page.html")
    for ours, theirs in zip(read("pascal", options, paths), (images, captions), strict=True):
        assert ours.equals(theirs)


def test_seeded_splits() -> None:
    images = [f"{number}.jpg" for number in range(1000)]
    sizes = {"train": 800, "val": 100, "test": 100}
    splits = seeded_splits(images, sizes, seed=0)
    assert list(splits) == images
    assert {split: list(splits.values()).count(split) for split in sizes} == sizes
    assert seeded_splits(reversed(images), sizes, seed=0) == splits
    assert seeded_splits(images, sizes, seed=1) != splits
    few = seeded_splits(images, {"test": 3, "train": 2}, seed=0)
    assert sorted(few.values()) == ["test"] * 3 + ["train"] * 2
    assert list(few) == sorted(few, key=images.index)
    with pytest.raises(InputError, match="there are 1000 images"):
        seeded_splits(images, {"train": 1001}, seed=0)


def test_unreadable_images_stop_the_run_and_are_all_named(tmp_path: Path) -> None:
    files = photographs("abcde")
    files["Photographs/a.jpg"] = files["Photographs/a.jpg"][:200]
    files["Photographs/b.jpg"] = b"<html>404</html>"
    del files["Photographs/c.jpg"]
    paths = flickr(tmp_path, files)
    with pytest.raises(
        InputError, match=r"3 of 4 images cannot be read:\n  \"c\.jpg\": [\s\S]*\"a\.jpg\": [\s\S]*\"b\.jpg\": "
    ) as error:
        read("flickr", FLICKR, paths, ["d.jpg"], 2)
    assert "known_unreadable" in str(error.value)
    images, captions = read("flickr", FLICKR, paths, ["a.jpg", "b.jpg", "c.jpg"])
    assert images["status"].tolist() == ["missing", "unreadable", "unreadable", "ok"]
    assert images["width"].tolist() == [0, 0, 0, 30]
    assert (images["sha256"].str.len() == [0, 64, 64, 64]).all()
    assert len(captions) == 20


def incomplete(folder: Path, there: str = "ab") -> dict[str, str]:
    """A Flickr of 33 images, few of which exist; ids have leading zeros and other characters special to YAML."""
    ids = ["c.jpg", "a.jpg", "b.jpg", "0012", "no", 'a "b" \\ é.jpg', "😀.jpg", *map(str, range(26))]
    lists = {"train.txt": "\n".join(ids[:2]), "dev.txt": ids[2], "test.txt": "\n".join(ids[3:])}
    tokens = "".join(f"{image}#0\tA caption .\n" for image in ids)
    return flickr(folder, photographs(there), tokens, lists)


def write(folder: Path, paths: Mapping[str, str], **more: Any) -> pd.DataFrame:
    given = {**settings("flickr", FLICKR), **more}
    tables = str(folder / "images.parquet"), str(folder / "captions.parquet")
    write_dataset(given, dict(paths), *tables, 1)
    return schema.read(folder / "images.parquet", IMAGES)


def test_at_most_twenty_are_named_and_a_file_lists_all(tmp_path: Path) -> None:
    paths, listing = incomplete(tmp_path), tmp_path / "unreadable.yaml"
    with pytest.raises(InputError, match="31 of 33 images cannot be read") as error:
        write(tmp_path, paths)
    said = str(error.value)
    assert len([line for line in said.splitlines() if line.startswith('  "')]) == 20
    assert "and 11 more" in said
    assert f"is {paths['images']} the right place" in said
    assert f"({listing} lists all of them)" in said
    assert "only_available: true" in said
    ids = yaml.safe_load(listing.read_text(encoding="utf-8"))["known_unreadable"]
    assert ids[:5] == ["c.jpg", "0012", "no", 'a "b" \\ é.jpg', "😀.jpg"]
    assert len(ids) == 31
    images = write(tmp_path, paths, known_unreadable=ids)
    assert images["status"].value_counts().to_dict() == {"missing": 31, "ok": 2}
    assert not listing.exists()


def test_where_few_are_missing_the_place_is_not_doubted(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="1 of 4 images cannot be read") as error:
        read("flickr", FLICKR, flickr(tmp_path, photographs("abc")))
    assert "right place" not in str(error.value)


def test_only_available_leaves_out_what_is_missing_and_nothing_else(tmp_path: Path) -> None:
    paths = incomplete(tmp_path, "abc")
    with pytest.raises(InputError, match="only_available: none of the 30 images of the split test is there"):
        write(tmp_path, paths, only_available=True)
    paths = flickr(tmp_path, photographs("abd"))
    assert write(tmp_path, paths, only_available=True)["status"].tolist() == ["missing", "ok", "ok", "ok"]
    paths = flickr(tmp_path, {**photographs("ab"), "Photographs/d.jpg": b"damaged"})
    with pytest.raises(InputError, match=r'1 of 4 images cannot be read:\n  "d\.jpg"') as error:
        write(tmp_path, paths, only_available=True)
    assert yaml.safe_load((tmp_path / "unreadable.yaml").read_text())["known_unreadable"] == ["c.jpg", "d.jpg"]
    assert "only_available" in str(error.value)


def test_the_message_about_a_missing_photograph_has_lines_to_copy(tmp_path: Path) -> None:
    """Either way is a configuration as it stands, with the data set's name and ids that YAML reads as text."""
    (tmp_path / "mine").mkdir()
    paths = flickr(tmp_path, photographs("ab") | {"Photographs/d.jpg": b"damaged"})
    with pytest.raises(InputError, match="2 of 4 images cannot be read") as error:
        write(tmp_path / "mine", paths)
    _, _, lines = str(error.value).partition("  datasets:")
    ids, _, instead = f"  datasets:{lines}".partition("\nor leave out")
    assert yaml.safe_load(ids) == {"datasets": {"mine": {"known_unreadable": ["c.jpg", "d.jpg"]}}}
    other = "\n".join([*ids.splitlines()[:-1], instead.splitlines()[-1]])
    assert yaml.safe_load(other) == {"datasets": {"mine": {"only_available": True}}}


@pytest.mark.parametrize(("written", "value"), [("0012", "10"), ("12", "12"), ("no", "False"), ("2014-01-02", "2014")])
def test_an_id_that_yaml_does_not_read_as_text_is_refused_with_what_to_write(
    tmp_path: Path, written: str, value: str
) -> None:
    given = {**settings("flickr", FLICKR), **yaml.safe_load(f"known_unreadable: [a.jpg, {written}]")}
    with pytest.raises(InputError, match=rf"known_unreadable\.1: {value}.* is not text; put each id in quotes"):
        read_dataset(given, flickr(tmp_path))


def test_the_same_photograph_in_several_splits_is_said(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    files = photographs("abcd")
    files["Photographs/d.jpg"] = files["Photographs/a.jpg"]
    with caplog.at_level(logging.WARNING):
        read("flickr", FLICKR, flickr(tmp_path, files))
    assert "1 images of test are the same files as images of train: d.jpg" in caplog.text
    assert "of val are" not in caplog.text
    assert "images of test are the same files as images of test" not in caplog.text
    caplog.clear()
    lists = {"train.txt": "c.jpg\n", "dev.txt": "b.jpg\n", "test.txt": "a.jpg\nd.jpg\n"}
    with caplog.at_level(logging.WARNING):
        read("flickr", FLICKR, flickr(tmp_path, files, lists=lists))
    assert "2 images of test are the same files as images of test: a.jpg, d.jpg" in caplog.text


def test_known_ids_that_are_of_no_image_are_said(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        read("flickr", FLICKR, flickr(tmp_path), ["Photographs/a.jpg", "b.jpg"])
    assert "1 ids of known_unreadable are not in any split: Photographs/a.jpg" in caplog.text


ACCENTS = {"NFC": "caf\u00e9.jpg", "NFD": "cafe\u0301.jpg"}


@pytest.mark.parametrize("in_lists", ACCENTS)
@pytest.mark.parametrize("in_tokens", ACCENTS)
@pytest.mark.parametrize("in_zip", ACCENTS)
def test_accents_may_be_written_in_two_ways(tmp_path: Path, in_lists: str, in_tokens: str, in_zip: str) -> None:
    files = {**photographs("abc"), f"Photographs\\{ACCENTS[in_zip]}": photograph(1)}
    tokens = TOKENS + f"{ACCENTS[in_tokens]}#0\tA caption .\n"
    lists = {**LISTS, "test.txt": f"{ACCENTS[in_lists]}\n"}
    images, captions = read("flickr", FLICKR, flickr(tmp_path, files, tokens, lists))
    assert images["image_id"].tolist()[-1] == ACCENTS["NFC"]
    assert (images["status"] == "ok").all()
    assert captions["caption_id"].tolist()[-1] == f"{ACCENTS['NFC']}#0"


def test_a_file_whose_name_is_not_utf_8_is_left_alone_and_said(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    packed = flickr(tmp_path)
    with zipfile.ZipFile(packed["images"]) as archive:
        archive.extractall(tmp_path / "images")
    (tmp_path / "images" / os.fsdecode(b"caf\xe9.jpg")).write_bytes(photograph(1))
    with caplog.at_level(logging.INFO):
        images, _ = read("flickr", FLICKR, {**packed, "images": str(tmp_path / "images")})
    assert (images["status"] == "ok").all()
    assert "are ignored: Photographs/e.jpg, caf%E9.jpg" in caplog.text


def test_a_photograph_of_another_format_is_named_beside_the_missing_one(tmp_path: Path) -> None:
    files = {**photographs("abc"), "Photographs/d.HEIC": b"heic"}
    with pytest.raises(InputError, match=r"has no file d\.jpg; it has Photographs/d\.HEIC"):
        read("flickr", FLICKR, flickr(tmp_path, files))


def test_photographs_in_a_linked_folder_are_found(tmp_path: Path) -> None:
    packed = flickr(tmp_path)
    with zipfile.ZipFile(packed["images"]) as archive:
        archive.extractall(tmp_path / "elsewhere")
    (tmp_path / "images").mkdir()
    (tmp_path / "images/link").symlink_to(tmp_path / "elsewhere/Photographs")
    images, _ = read("flickr", FLICKR, {**packed, "images": str(tmp_path / "images")})
    assert (images["status"] == "ok").all()
    assert images["file"].str.startswith("link/").all()


def test_photographs_of_many_kinds(tmp_path: Path) -> None:
    files = {}
    kinds = {"a": ("L", "JPEG"), "b": ("CMYK", "JPEG"), "c": ("I;16", "PNG"), "d": ("P", "PNG")}
    for name, (mode, form) in kinds.items():
        buffer = io.BytesIO()
        Image.new(mode, (1, 1)).save(buffer, form)
        files[f"Photographs/{name}.jpg"] = buffer.getvalue()
    images, _ = read("flickr", FLICKR, flickr(tmp_path, files))
    assert (images["status"] == "ok").all()
    assert images["width"].tolist() == [1, 1, 1, 1]


def test_unusual_captions_and_images_are_kept_and_logged(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    tokens = TOKENS + "a.jpg#5\t  \nb.jpg#5\t" + "word " * 300 + "\nc.jpg#5\tTwo\u2028lines \n"
    with caplog.at_level(logging.INFO):
        lists = {**LISTS, "test.txt": "d.jpg\nf.jpg\n"}
        images, captions = read("flickr", FLICKR, flickr(tmp_path, photographs("abcdef"), tokens, lists))
    text = captions.set_index("caption_id")["text"]
    assert text["a.jpg#5"] == ""
    assert len(text["b.jpg#5"].split()) == 300
    assert text["c.jpg#5"] == "Two lines"
    assert images.iloc[-1][["image_id", "split", "captions"]].tolist() == ["f.jpg", "test", 0]
    for message in (
        "1 empty captions are kept: a.jpg#5",
        "1 captions of more than 100 words are kept: b.jpg#5",
        "1 images without captions are kept: f.jpg",
    ):
        assert message in caplog.text


def test_bytes_that_are_not_utf_8_are_named_by_line(tmp_path: Path) -> None:
    tokens = TOKENS.encode() + "d.jpg#5\tA café .\n".encode("latin-1")
    with pytest.raises(InputError, match=r"token\.txt, line 22: not utf-8"):
        read("flickr", FLICKR, flickr(tmp_path, tokens=tokens))
    _, captions = read("flickr", {**FLICKR, "encoding": "latin-1"}, flickr(tmp_path, tokens=tokens))
    assert captions["text"].iloc[-1] == "A café ."


@pytest.mark.parametrize(
    ("tokens", "lists", "message"),
    [
        (TOKENS + "a.jpg A caption\n", LISTS, r"token\.txt, line 22: expected <image>#<number>"),
        (TOKENS + "a.jpg#0\tAgain\n", LISTS, r"1 names of captions occur twice: a\.jpg#0 \(line \d+\)\. Give each"),
        (TOKENS, {**LISTS, "test.txt": "d.jpg\na.jpg\n"}, r"test\.txt, line 2: a\.jpg is in train already"),
        (TOKENS, {"train.txt": "a.jpg\n"}, r"expected one file|no file dev\.txt"),
    ],
)
def test_wrong_text_files_are_named(tmp_path: Path, tokens: str, lists: dict[str, str], message: str) -> None:
    with pytest.raises(InputError, match=message):
        read("flickr", FLICKR, flickr(tmp_path, tokens=tokens, lists=lists))


def test_a_photograph_in_two_folders_is_named(tmp_path: Path) -> None:
    files = {**photographs("abcde"), **photographs("a", folder="copy/")}
    with pytest.raises(InputError, match=r"image a\.jpg: several files match"):
        read("flickr", FLICKR, flickr(tmp_path, files))


def test_unknown_options_are_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"options\.caption:"):
        read("flickr", {**FLICKR, "caption": "x"}, flickr(tmp_path))


def test_artifacts_do_not_depend_on_place_or_threads(tmp_path: Path) -> None:
    found = []
    for threads, place in ((1, "here"), (3, "there")):
        (tmp_path / place).mkdir()
        images, captions = tmp_path / place / "images.parquet", tmp_path / place / "captions.parquet"
        sources, tables = flickr(tmp_path / place), (str(images), str(captions))
        write_dataset(settings("flickr", FLICKR), sources, *tables, threads)
        schema.check(images, IMAGES)
        schema.check(captions, CAPTIONS)
        found.append((images.read_bytes(), captions.read_bytes()))
    assert found[0] == found[1]


def test_photographs_that_no_split_lists_are_not_even_opened(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """Two of one name do not matter either."""
    files = {**photographs("abcd"), "x/z.jpg": b"not a photograph", "y/z.jpg": b"nor this"}
    with caplog.at_level(logging.INFO):
        images, captions = read("flickr", FLICKR, flickr(tmp_path, files))
    assert sorted(images["image_id"]) == ["a.jpg", "b.jpg", "c.jpg", "d.jpg"]
    assert set(captions["image_id"]) == set(images["image_id"])
    assert "2 image files are in no split and are ignored: x/z.jpg, y/z.jpg" in caplog.text
    assert "1 captioned images are in no split and are ignored: e.jpg" in caplog.text


@pytest.mark.parametrize(
    ("options", "tokens", "message"),
    [
        ({}, "", r"token\.txt: it has no captions"),
        ({}, "z.jpg#0\tA zebra.\n", "no image that a split lists has a caption"),
        ({"encoding": "utf-9"}, TOKENS, "options.encoding: 'utf-9' is not an encoding"),
        ({"encoding": "hex"}, TOKENS, "options.encoding.*'hex'"),
        ({"splits": ["train.txt", "test.txt"]}, TOKENS, "options.splits: Input should be a valid dictionary"),
        ({"splits": {"training": "train.txt"}}, TOKENS, "options.splits.training"),
        ({"splits": {"train": 3}}, TOKENS, "options.splits.train: Input should be a valid string, not 3"),
        ({"splits": {"train": "train.txt", "test": "test.txt"}}, TOKENS, "options.splits: .* missing: val"),
        ({}, TOKENS + "a.jpg#" + "7" * 5000 + "\tA\n", r"token\.txt, line 22: expected"),
    ],
)
def test_what_is_wrong_with_a_token_file_or_its_options_is_named(
    tmp_path: Path, options: dict[str, Any], tokens: str, message: str
) -> None:
    with pytest.raises(InputError, match=message):
        read("flickr", {**FLICKR, **options}, flickr(tmp_path, tokens=tokens))


@pytest.mark.parametrize("ends", ["\r", "\r\n"])
def test_lines_may_end_as_on_an_old_mac_or_on_windows(tmp_path: Path, ends: str) -> None:
    lists = {name: text.replace("\n", ends) for name, text in LISTS.items()}
    images, captions = read("flickr", FLICKR, flickr(tmp_path, tokens=TOKENS.replace("\n", ends), lists=lists))
    assert images["captions"].tolist() == [5, 5, 5, 5]
    assert captions["text"][1] == "Caption 1 of c ."


def test_utf_16_is_an_encoding_too(tmp_path: Path) -> None:
    paths = flickr(tmp_path, tokens=TOKENS.encode("utf-16"), lists={k: v.encode("utf-16") for k, v in LISTS.items()})
    _, captions = read("flickr", {**FLICKR, "encoding": "utf-16"}, paths)
    assert captions["text"][1] == "Caption 1 of c ."


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"filename": None}, r"images\.0\.filename: Input should be a valid string, found 'None'"),
        (
            {"sentences": [{"raw": "A dog."}, {"raw": 3}]},
            r"images\.0\.sentences\.1\.raw: Input should be a valid str",
        ),
        ({"sentences": [{"raw": "A dog \ud83d."}]}, r"images\.0\.sentences\.0\.raw: .*unicode"),
        ({"split": "training"}, r"images\.0\.split: Input should be 'train', 'val', 'test' or 'restval'"),
        ({"cocoid": "seven"}, r"images\.0\.cocoid: Input should be a valid integer"),
    ],
)
def test_an_entry_of_karpathys_file_that_cannot_be_is_named(
    tmp_path: Path, change: dict[str, Any], message: str
) -> None:
    paths = {
        "images": flickr(tmp_path)["images"],
        "karpathy": karpathy_file(tmp_path, [("a.jpg", "train", 1)], **change),
    }
    with pytest.raises(InputError, match=r"dataset_x\.json: 1 entries[\s\S]*" + message):
        read("karpathy", {"karpathy": "dataset_x.json"}, paths)


def changed_coco(folder: Path, file: str, part: str, change: Mapping[str, Any]) -> dict[str, str]:
    """The annotations of a COCO whose first entry of `part` is changed; a key that becomes ... is removed."""
    paths = coco(folder)
    with zipfile.ZipFile(paths["annotations"]) as archive:
        files = {name: json.loads(archive.read(name)) for name in archive.namelist()}
    entry = files[f"annotations/{file}_train2014.json"][part][0]
    entry.update(change)
    for key in [key for key, value in change.items() if value is ...]:
        del entry[key]
    paths["annotations"] = zipped(folder / "changed.zip", {name: json.dumps(data) for name, data in files.items()})
    return paths


@pytest.mark.parametrize(
    ("part", "change", "message"),
    [
        ("annotations", {"caption": 3}, r"annotations\.0\.caption: Input should be a valid string, found '3'"),
        ("annotations", {"caption": "\udc00"}, r"annotations\.0\.caption: .*unicode"),
        ("annotations", {"image_id": 8}, r"annotation 910 has an unknown image: 8"),
        ("images", {"file_name": None}, r"images\.0\.file_name: Input should be a valid string"),
        ("images", {"id": ...}, r"images\.0\.id: Field required"),
    ],
)
def test_a_caption_of_coco_that_cannot_be_is_named(
    tmp_path: Path, part: str, change: dict[str, Any], message: str
) -> None:
    paths = changed_coco(tmp_path, "captions", part, change)
    with pytest.raises(InputError, match=r"captions_train2014\.json: [\s\S]*" + message):
        read("coco", {"splits": {"train": 2, "val": 1, "test": 1}}, paths)


def test_an_id_of_two_sentences_of_coco_is_named(tmp_path: Path) -> None:
    paths = changed_coco(tmp_path, "captions", "annotations", {"id": 909})
    with pytest.raises(InputError, match="1 ids of sentences are in the data set twice: 909; keep one of each"):
        read("coco", {"splits": {"train": 2, "val": 1, "test": 1}}, paths)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"category_id": 5}, "annotation 9 has an unknown category: 5"),
        ({"id": 4}, r"annotations occur twice: \[4\]; keep one of each"),
        ({"bbox": [1, 2, 3]}, r"annotations\.0\.bbox"),
        ({"bbox": [1, 2, 3, float("nan")]}, r"annotations\.0\.bbox\.3: Input should be a finite number"),
    ],
)
def test_a_box_of_coco_that_cannot_be_is_named(tmp_path: Path, change: dict[str, Any], message: str) -> None:
    paths = changed_coco(tmp_path, "instances", "annotations", change)
    with pytest.raises(InputError, match=r"instances_train2014\.json: [\s\S]*" + message):
        coco_files.read_boxes(paths)


def test_masks_of_coco_are_drawn_from_outlines(tmp_path: Path) -> None:
    masks = coco_files.read_masks(coco(tmp_path))
    assert sorted(masks["image_id"]) == ["2", "7", "9"]
    assert set(masks["class_name"]) == {"potted plant"}
    drawn = runs_to_mask(masks["runs"][0], masks["height"][0], masks["width"][0])
    assert drawn.shape == (20, 30)
    rows, columns = np.nonzero(drawn)
    # OpenCV draws outlines as well as what is within: up to half a pixel more on each side.
    assert (3, 2) <= (rows.min() + 1, columns.min() + 1) <= (4, 3)
    assert (6, 4) <= (rows.max(), columns.max()) <= (7, 5)


OUTLINE = [2, 3, 5, 3, 5, 7, 2, 7]
RUNS = [43, 4, 16, 4, 16, 4, 513]  # of the same box, 2, 3, 3, 4, in a picture of 30 x 20


@pytest.mark.parametrize("outline", [[OUTLINE], {"size": [20, 30], "counts": RUNS}])
def test_an_outline_and_its_run_lengths_are_one_mask(tmp_path: Path, outline: Any) -> None:
    paths = changed_coco(tmp_path, "instances", "annotations", {"segmentation": outline, "bbox": [2, 3, 3, 4]})
    masks = coco_files.read_masks(paths).set_index("image_id")
    assert masks.loc["9", "runs"].tolist() == RUNS
    assert masks.loc["9", "origin"].endswith("instances_train2014.json: annotation 9")


@pytest.mark.parametrize(
    ("outline", "message"),
    [
        (..., "segmentation"),
        ([[1, 2]], "segmentation"),
        ([OUTLINE[:-1]], "annotation 9: a polygon has 7 numbers; x and y take turns"),
        ([], "annotation 9: its mask is empty"),
        ([[value + 1000 for value in OUTLINE]], r"annotation 9: its mask has the box \[1002"),
        ([[value / 30 for value in OUTLINE]], r"annotation 9: its mask has the box \[0\.07, 0\.1, 0\.1, 0\.13\]"),
        (
            [[value / 2 for value in OUTLINE]],
            r"annotation 9: its mask has the box \[1\.0, 1\.5, 1\.5, 2\.0\], and its bbox is \[2.0, 3",
        ),
        ({"size": [20, 30], "counts": [600]}, "annotation 9: its mask is empty"),
        ({"size": [20, 30], "counts": [*RUNS[:-1], 512]}, "annotation 9: its run lengths do not cover its image"),
        ({"size": [30, 20], "counts": RUNS}, "annotation 9: its run lengths do not cover its image of 30 x 20 pixels"),
        ({"size": [20, 30], "counts": "abc"}, "annotation 9: its run lengths are compressed; write `counts` as a list"),
    ],
)
def test_a_mask_of_coco_that_cannot_be_is_named(tmp_path: Path, outline: Any, message: str) -> None:
    paths = changed_coco(tmp_path, "instances", "annotations", {"segmentation": outline, "bbox": [2, 3, 3, 4]})
    with pytest.raises(InputError, match=r"instances_train2014\.json: [\s\S]*" + message):
        coco_files.read_masks(paths)


def test_a_box_without_area_is_left_out_with_its_mask(tmp_path: Path) -> None:
    paths = changed_coco(tmp_path, "instances", "annotations", {"bbox": [2, 3, 0, 4]})
    assert (
        sorted(coco_files.read_masks(paths)["image_id"])
        == sorted(coco_files.read_boxes(paths)["image_id"])
        == ["2", "7"]
    )


def test_instances_that_do_not_speak_of_crowds_are_no_crowds(tmp_path: Path) -> None:
    paths = changed_coco(tmp_path, "instances", "annotations", {"iscrowd": ...})
    assert sorted(coco_files.read_boxes(paths)["image_id"]) == ["2", "7", "9"]


@pytest.mark.parametrize("splits", [["train"], {"train": "3"}, {"train": True}, {"training": 3}, None])
def test_splits_that_are_no_numbers_of_images_are_named(tmp_path: Path, splits: Any) -> None:
    with pytest.raises(InputError, match=r"options\.splits|one of splits and karpathy must be given"):
        read("coco", {"splits": splits}, coco(tmp_path))


def test_markup_in_a_cell_of_pascals_page_belongs_to_its_sentence(tmp_path: Path) -> None:
    cells = (
        "A dog <i>runs</i> .",
        "A <font color=red>red</font> ball.",
        "A man &amp; a&lt;b&gt;<br>on a beach",
        "An <unk> dog.",
    )
    rows = "".join(f"<tr><td>{cell}</td></tr>" for cell in cells)
    (tmp_path / "page.html").write_text(f'<img src="cat/b.jpg"><table>{rows}</table>')
    found = pascal._read_page(str(tmp_path / "page.html"), "utf-8")
    sentences = [clean_sentence(text) for text in found["cat/b.jpg"]]
    assert sentences == ["A dog runs .", "A red ball.", "A man & a<b> on a beach", "An <unk> dog."]


def test_an_image_twice_on_pascals_page_is_named(tmp_path: Path) -> None:
    (tmp_path / "page.html").write_text(PAGE + '<img src="cat/b.jpg"><table><tr><td>One again.</td></tr></table>')
    paths = {"images": zipped(tmp_path / "i.zip", {"cat/b.jpg": photograph(1)}), "sentences": f"{tmp_path}/page.html"}
    with pytest.raises(InputError, match=r"page\.html: these images occur twice on the page: \['cat/b\.jpg'\]"):
        read("pascal", {"splits": {"train": 1, "val": 1, "test": 1}}, paths)


@pytest.mark.parametrize(
    ("name", "pair"),
    [("a", "'a' and 'a.jpg'"), ("Flickr/a.jpg", "'Flickr/a.jpg' and 'a.jpg'"), ('"a.jpg"', "'\"a.jpg\"' and 'a.jpg'")],
)
def test_images_that_lists_write_another_way_than_sentences_are_named(tmp_path: Path, name: str, pair: str) -> None:
    lists = {**LISTS, "train.txt": f"c.jpg\n{name}\n"}
    with pytest.raises(InputError, match="1 names agree only without folder, case, suffix or quotes, such as") as error:
        read("flickr", FLICKR, flickr(tmp_path, lists=lists))
    assert pair in str(error.value)


def test_names_that_each_folder_has_are_not_taken_for_one_image() -> None:
    refuse_alike(["cat/1.jpg", "cat/2.jpg"], ["dog/1.jpg", "hen/1.jpg", "dog/1.jpg"], "p")
    refuse_alike(["cat/1.jpg", "dog/1.jpg"], ["hen/1.jpg"], "p")
    for other in ("1.jpg", "CAT/1.JPG", "images/cat/1.jpg", "'cat/1'"):
        with pytest.raises(InputError, match=r"p: 1 names agree only .*'cat/1\.jpg' and .*1"):
            refuse_alike(["cat/1.jpg", "cat/2.jpg"], ["hen/1.jpg", other], "p")
    for names in ((["images/1.jpg", "images/2.jpg"], ["photos/1.jpg"]), (["1.jpg"], ["1.JPG", "1.png"])):
        with pytest.raises(InputError, match="1 names agree only"):
            refuse_alike(*names, "p")


def test_sentences_under_another_spelling_of_an_image_are_named(tmp_path: Path) -> None:
    tokens = TOKENS.replace("a.jpg", "a.JPG").replace("b.jpg", "x/b.jpeg")
    with pytest.raises(InputError, match=r"2 names agree.*'a\.jpg' and 'a\.JPG', 'b\.jpg' and 'x/b\.jpeg'"):
        read("flickr", FLICKR, flickr(tmp_path, tokens=tokens))


def test_a_missing_image_is_not_left_out_beside_a_file_of_another_suffix(tmp_path: Path) -> None:
    files = {**photographs("abc"), **photographs("d", suffix=".JPG")}
    with pytest.raises(InputError, match=r"images that are missing, .* such as 'd\.jpg' and 'Photographs/d\.JPG'"):
        read_dataset({**settings("flickr", FLICKR), "only_available": True}, flickr(tmp_path, files))


def test_leftovers_of_one_side_are_no_error(tmp_path: Path) -> None:
    files = {**photographs("abcde"), "Photographs/a.HEIC": b"beside the JPEG", "x/y.jpg": photograph(1)}
    images, _ = read("flickr", FLICKR, flickr(tmp_path, files, TOKENS.replace("b.jpg", "z.jpg")))
    assert images["captions"].tolist() == [5, 5, 0, 5]


def test_ids_that_have_nothing_in_common_are_shown(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"called \['c\.jpg', 'a\.jpg', 'b\.jpg'\], .* \['z\.jpg'\], in .*\(dev"):
        read("flickr", FLICKR, flickr(tmp_path, tokens="z.jpg#0\tA zebra.\n"))


def test_lists_without_images_say_what_was_looked_for_and_what_is_there(tmp_path: Path) -> None:
    lists = dict.fromkeys(LISTS, "")
    with pytest.raises(InputError, match=r"reader flickr was told .*'token\.txt'.*images\.zip \(Photographs/a\.jpg, "):
        read("flickr", FLICKR, flickr(tmp_path, lists=lists))


@pytest.mark.parametrize("hidden", [".ipynb_checkpoints", "@eaDir/text"])
def test_files_in_hidden_folders_are_left_out_and_counted(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, hidden: str
) -> None:
    packed = flickr(tmp_path)
    zipped(tmp_path / "images.zip", photographs("abcd") | {f"{hidden}/a.jpg": photograph(9)})
    zipped(tmp_path / "text.zip", {"token.txt": TOKENS, **LISTS, f"{hidden}/token.txt": "another"})
    with caplog.at_level(logging.INFO):
        images, _ = read("flickr", FLICKR, packed)
    assert images["file"].str.startswith("Photographs/").all()
    assert (
        f"images.zip: 1 hidden files and files that programs make are left out, the first is {hidden}/a" in caplog.text
    )


def test_a_text_beside_a_photograph_of_any_suffix(tmp_path: Path) -> None:
    files = {"a.png": photograph(1), "b.JPG": photograph(2), "c.jpg": photograph(3), "d.e.jpeg": photograph(4)}
    texts = {"a.txt": "A cat.\n", "b.txt": "A dog.\n", "c.txt": "A cow.\n", "d.e.txt": "A sheep.\n"}
    together = zipped(tmp_path / "both.zip", {**files, **texts})
    options = {"splits": {"train": 2, "val": 1, "test": 1}}
    images, captions = read("pascal", options, {"images": together, "sentences": together})
    assert (sorted(images["file"]), {*images["status"]}) == (sorted(files), {"ok"})
    assert dict(zip(captions["image_id"], captions["text"], strict=True))["a.png"] == "A cat."
    twice = zipped(tmp_path / "twice.zip", {**files, **texts, "a.jpg": photograph(5)})
    with pytest.raises(InputError, match=r"twice\.zip: a has a\.(png|jpg) and a\.(png|jpg); leave one of them"):
        read("pascal", options, {"images": twice, "sentences": twice})


def test_two_text_files_of_one_image_of_pascal_are_both_named(tmp_path: Path) -> None:
    texts = {"cat/001.txt": "A cat.\n", "cat/001.TXT": "A dog.\n"}
    paths = {"images": zipped(tmp_path / "i.zip", {"cat/001.jpg": photograph(1)}), "sentences": ""}
    paths["sentences"] = zipped(tmp_path / "text.zip", texts)
    with pytest.raises(InputError, match=r"text\.zip: cat/001\.jpg has cat/001\.TXT and cat/001\.txt; leave one"):
        read("pascal", {"splits": {"train": 1, "val": 1, "test": 1}}, paths)
