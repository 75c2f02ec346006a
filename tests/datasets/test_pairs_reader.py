import bz2
import csv
import gzip
import io
import json
import lzma
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import yaml
from PIL import Image

from densevse.artifacts.archives import Archive
from densevse.config.load import load
from densevse.config.readers import PairTable
from densevse.config.values import DatasetName
from densevse.datasets.readers import read_dataset
from snakeproof.errors import InputError

ROOT = Path(__file__).parents[2]
SPLITS = {"a.png": "train", "b.png": "train", "c.png": "val", "d.png": "test"}
PAIRS = [
    {"image": image, "sentence": f'Sentence {number}, of "{image}".\nIt has two lines.', "split": split}
    for number in range(2)
    for image, split in SPLITS.items()
]
ONE_ROW_A_PAIR = {"file": "pairs.*", "split": "split"}


def picture(name: str) -> bytes:
    buffer = io.BytesIO()
    Image.new("RGB", (12, 9), (ord(name[0]), 0, 0)).save(buffer, "PNG")
    return buffer.getvalue()


def as_csv(rows: Sequence[Mapping[str, Any]]) -> bytes:
    text = io.StringIO()
    lines = csv.DictWriter(text, list(rows[0]))
    lines.writeheader()
    lines.writerows(rows)
    return text.getvalue().encode()


def as_json_lines(rows: Sequence[Mapping[str, Any]]) -> bytes:
    return "".join(f"{json.dumps(row)}\n" for row in rows).encode()


def as_parquet(rows: Sequence[Mapping[str, Any]], rows_in_a_group: int = 3) -> bytes:
    buffer = io.BytesIO()
    pq.write_table(pa.Table.from_pylist(list(rows)), buffer, row_group_size=rows_in_a_group)
    return buffer.getvalue()


WRITERS: Mapping[str, Callable[[Any], bytes]] = {"csv": as_csv, "json_lines": as_json_lines, "parquet": as_parquet}
EVERY_FORMAT = pytest.mark.parametrize("format_name", WRITERS)


def read(
    options: Mapping[str, Any], pairs: Path, images: Path | None = None, threads: int = 1
) -> tuple[pd.DataFrame, pd.DataFrame]:
    paths = {"pairs": str(pairs)} | ({"images": str(images)} if images else {})
    return read_dataset({"reader": "pairs", "options": options}, paths, threads)


@pytest.fixture
def images(tmp_path: Path) -> Path:
    folder = tmp_path / "images"
    folder.mkdir()
    for name in SPLITS:
        (folder / name).write_bytes(picture(name))
    return folder


@EVERY_FORMAT
def test_one_row_a_pair(images: Path, tmp_path: Path, format_name: str) -> None:
    (tmp_path / "pairs.x").write_bytes(WRITERS[format_name](PAIRS))
    found, captions = read({**ONE_ROW_A_PAIR, "format": format_name}, tmp_path / "pairs.x", images)
    assert dict(zip(found["image_id"], found["split"], strict=True)) == SPLITS
    assert (found["source"] == "images").all()
    assert captions["caption_id"][:3].tolist() == ["a.png#0", "a.png#1", "b.png#0"]
    assert captions["text"][1] == 'Sentence 1, of "a.png". It has two lines.'


@EVERY_FORMAT
def test_a_file_for_each_split(images: Path, tmp_path: Path, format_name: str) -> None:
    for split in ("train", "val", "test"):
        rows = [{"image": row["image"], "sentence": row["sentence"]} for row in PAIRS if row["split"] == split]
        (tmp_path / f"{split}-of-3.x").write_bytes(WRITERS[format_name](rows))
    files = {split: f"{split}-*" for split in ("train", "val", "test")}
    found, captions = read({"format": format_name, "files": files}, tmp_path, images)
    assert dict(zip(found["image_id"], found["split"], strict=True)) == SPLITS
    assert len(captions) == len(PAIRS)


def test_flickr30k_as_the_hub_has_it(images: Path, tmp_path: Path) -> None:
    rows = [
        {
            "raw": json.dumps([f"Sentence {n} of {image}, it is." for n in range(5)]),
            "sentids": json.dumps(list(range(5))),
            "split": split,
            "filename": image,
            "img_id": number,
        }
        for number, (image, split) in enumerate(SPLITS.items())
    ]
    (tmp_path / "flickr_annotations_30k.csv").write_bytes(as_csv(rows))
    options = {"format": "csv", "file": "flickr_annotations_30k.csv", "split": "split", "image": "filename"}
    found, captions = read(
        {**options, "sentence": "raw", "sentences_as": "json"}, tmp_path / "flickr_annotations_30k.csv", images
    )
    assert found["image_id"].tolist() == list(SPLITS)
    assert found["captions"].tolist() == [5] * 4
    assert captions["text"][4] == "Sentence 4 of a.png, it is."


def hub_rows(**more: Any) -> list[dict[str, Any]]:
    return [
        {
            "image": {"bytes": picture(name), "path": None},
            "caption": [f"One of {name}", f"Two of {name}"],
            "img_id": number,
            "split": split.replace("val", "validation"),
            **more,
        }
        for number, (name, split) in enumerate(SPLITS.items())
    ]


HUB = {"format": "parquet", "image_id": "img_id", "sentence": "caption", "sentences_as": "list"}
BY_COLUMN = {"file": "*.parquet", "split": "split", "splits": {"train": "train", "validation": "val", "test": "test"}}


@pytest.mark.parametrize("in_a_folder", [True, False])
@pytest.mark.parametrize("bare", [True, False])
def test_images_in_the_rows_of_parquet(tmp_path: Path, in_a_folder: bool, bare: bool) -> None:
    rows = [{**row, "image": row["image"]["bytes"]} if bare else row for row in hub_rows()]
    folder = tmp_path / "hub/data"
    folder.mkdir(parents=True)
    for number, part in enumerate([rows[:3], rows[3:]] if in_a_folder else [rows]):
        (folder / f"part-{number}.parquet").write_bytes(as_parquet(part, 2))
    source = tmp_path / "hub" if in_a_folder else folder / "part-0.parquet"
    found, captions = read({**HUB, **BY_COLUMN}, source, threads=2)
    assert found["image_id"].tolist() == ["0", "1", "2", "3"]
    assert found["split"].tolist() == list(SPLITS.values())
    assert found["status"].tolist() == ["ok"] * 4
    assert captions["text"][:2].tolist() == ["One of a.png", "Two of a.png"]
    with Archive.open(source) as archive:
        assert [archive.read(file) for file in found["file"]] == [picture(name) for name in SPLITS]
    assert found["file"][3] == ("data/part-1.parquet/image/1" if in_a_folder else "image/4")


def test_an_image_whose_bytes_stand_in_several_rows_is_one_image(tmp_path: Path) -> None:
    rows = [{**row, "caption": sentence} for row in hub_rows() for sentence in row["caption"]]
    (tmp_path / "x.parquet").write_bytes(as_parquet(rows))
    found, _ = read({**HUB, **BY_COLUMN, "sentences_as": "text"}, tmp_path / "x.parquet")
    assert found["file"].tolist() == ["image/1", "image/3", "image/5", "image/7"]
    assert found["captions"].tolist() == [2] * 4


def test_two_pictures_under_one_id_are_refused(tmp_path: Path) -> None:
    rows = [{**row, "caption": sentence} for row in hub_rows() for sentence in row["caption"]]
    rows[3]["image"] = {"bytes": picture("e"), "path": None}
    (tmp_path / "x.parquet").write_bytes(as_parquet(rows))
    with pytest.raises(InputError, match=r"x.parquet: two pictures have the id '1', image/3 and image/4; give each"):
        read({**HUB, **BY_COLUMN, "sentences_as": "text"}, tmp_path / "x.parquet")


@EVERY_FORMAT
def test_two_ids_of_one_file_are_refused(images: Path, tmp_path: Path, format_name: str) -> None:
    rows = [{**row, "id": row["image"]} for row in PAIRS] + [{**PAIRS[2], "id": "0003"}]
    (tmp_path / "pairs.x").write_bytes(WRITERS[format_name](rows))
    with pytest.raises(
        InputError, match=r"the images 'c.png' and '0003' are one file, c.png \(1 such images\); keep one"
    ):
        read({**ONE_ROW_A_PAIR, "image_id": "id", "format": format_name}, tmp_path / "pairs.x", images)


def test_a_row_without_bytes_is_named(tmp_path: Path) -> None:
    rows = hub_rows()
    rows[1]["image"] = {"bytes": None, "path": "b.png"}
    (tmp_path / "x.parquet").write_bytes(as_parquet(rows))
    with pytest.raises(InputError, match=r"\"1\": .*x\.parquet: image/2 has no bytes"):
        read({**HUB, **BY_COLUMN}, tmp_path / "x.parquet")


def test_bytes_need_a_column_of_ids(tmp_path: Path) -> None:
    (tmp_path / "x.parquet").write_bytes(as_parquet(hub_rows()))
    with pytest.raises(InputError, match=r"x\.parquet, row 1: the column image holds bytes; .*options\.image_id"):
        read({**HUB, **BY_COLUMN, "image_id": None}, tmp_path / "x.parquet")


def changed(number: int, **cells: Any) -> list[dict[str, Any]]:
    return [{**row, **cells} if n == number else row for n, row in enumerate(PAIRS)]


@EVERY_FORMAT
@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (changed(4, split="dev"), r"row 5: 'dev' in the column split is no split; known: train, val, test"),
        (changed(4, split="test"), r"row 5: image a\.png is a\.png in test here, and a\.png in train in a row before"),
        (changed(2, image=""), r"row 3: the column image holds '' instead of a name"),
        ([{"image": "a.png", "text": "x", "split": "train"}], r"no column 'sentence'; it has image, text, split"),
    ],
)
def test_a_wrong_row_is_named(images: Path, tmp_path: Path, rows: Any, message: str, format_name: str) -> None:
    (tmp_path / "pairs.x").write_bytes(WRITERS[format_name](rows))
    with pytest.raises(InputError, match=rf"pairs\.x.*{message}"):
        read({**ONE_ROW_A_PAIR, "format": format_name}, tmp_path / "pairs.x", images)


HEAD = b"image,sentence,split\r\n"
LINE = b'{"image": "a.png", "sentence": "x", "split": "train"}\n'


@pytest.mark.parametrize(
    ("format_name", "data", "message"),
    [
        ("csv", HEAD + b"a.png,x,train\r\na.png,x\r\n", "row 2: 2 cells under 3 columns"),
        ("csv", HEAD + b'a.png,"x,train\r\n', "row 1: not CSV"),
        ("csv", HEAD + b"a.png,\xff,train\r\n", "line 2: not utf-8"),
        ("csv", b"", "no column 'image'; it has none"),
        ("csv", b"image,sentence,split,sentence\n", "the column 'sentence' occurs 2 times; rename one"),
        ("json_lines", LINE + b"{", "row 2: not JSON"),
        ("json_lines", LINE + b"[]", r"row 2: expected an object in braces, found '\[\]'"),
        ("json_lines", LINE.replace(b'"x"', b"[7]"), r"row 1: the column sentence holds '\[7\]' instead of text"),
        ("json_lines", LINE.replace(b'"x"', b'"\\ud800"'), "row 1: the column sentence holds"),
        ("parquet", as_parquet(PAIRS)[:-40], "not readable as Parquet"),
        ("parquet", b"no table", "not readable as Parquet"),
    ],
)
def test_a_damaged_file_is_named(images: Path, tmp_path: Path, format_name: str, data: bytes, message: str) -> None:
    (tmp_path / "pairs.x").write_bytes(data)
    with pytest.raises(InputError, match=rf"pairs\.x.*{message}"):
        read({**ONE_ROW_A_PAIR, "format": format_name}, tmp_path / "pairs.x", images)


@pytest.mark.parametrize(("cell", "found"), [("no list", "no JSON"), ("[1]", "instead of a list of text")])
def test_a_list_in_json_is_checked(images: Path, tmp_path: Path, cell: str, found: str) -> None:
    (tmp_path / "pairs.x").write_bytes(as_csv(changed(0, sentence=cell)))
    options = {**ONE_ROW_A_PAIR, "format": "csv", "sentences_as": "json"}
    with pytest.raises(InputError, match=rf"row 1: the column sentence holds .*{found}"):
        read(options, tmp_path / "pairs.x", images)


def test_an_empty_cell_of_json_has_no_sentence(images: Path, tmp_path: Path) -> None:
    rows = [{**row, "sentence": json.dumps([row["sentence"]])} for row in changed(0)]
    (tmp_path / "pairs.x").write_bytes(as_csv([{**rows[0], "sentence": ""}, *rows[1:]]))
    options = {**ONE_ROW_A_PAIR, "format": "csv", "sentences_as": "json"}
    _, captions = read(options, tmp_path / "pairs.x", images)
    assert len(captions) == len(rows) - 1


@EVERY_FORMAT
def test_a_file_for_each_split_is_not_one_file(images: Path, tmp_path: Path, format_name: str) -> None:
    (tmp_path / "pairs.x").write_bytes(WRITERS[format_name](PAIRS))
    files = {split: f"{split}-*" for split in ("train", "val", "test")}
    with pytest.raises(InputError, match=r"pairs\.x: options\.files names a file for each split"):
        read({"format": format_name, "files": files}, tmp_path / "pairs.x", images)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"file": "x"}, "one of split and files"),
        ({"files": dict.fromkeys(("train", "val", "test"), "x"), "split": "split"}, "one of split and files"),
        ({"files": dict.fromkeys(("train", "val", "test"), "x"), "file": "x"}, "file is one table"),
        ({"split": "random", "splits": {"a": "val"}}, "splits translates"),
        ({"split": "split", "sizes": dict.fromkeys(("train", "val", "test"), 1)}, "sizes are those of split: random"),
        ({"files": dict.fromkeys(("train", "val", "test"), "x"), "splits": {"a": "val"}}, "splits translates"),
        ({}, "one of split and files"),
    ],
)
def test_splits_are_said_once(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        PairTable(format="csv", **options)


@pytest.mark.parametrize("name", ["mine", "flickr30k_hub"])
def test_the_examples_of_the_docs_are_data_sets(name: str) -> None:
    text = (ROOT / "docs/data_sets.md").read_text(encoding="utf-8")
    examples = re.findall(r"```yaml\n(.*?)```", text.partition("## Tables of pairs")[2], re.DOTALL)
    example = next(one for one in examples if f"  {name}:\n" in one)
    config = load(ROOT / "config", yaml.safe_load(example))
    assert isinstance(config.datasets[DatasetName(name)].options, PairTable)


@pytest.mark.parametrize("delimiter", [",", "\t", ";", "|"])
@pytest.mark.parametrize("named", [False, True])
def test_a_delimiter_is_found_or_named(images: Path, tmp_path: Path, delimiter: str, named: bool) -> None:
    rows = [delimiter.join(["split", "sentence", "image"])]
    rows += [delimiter.join([split, f"{image}: a, b; c", image]) for image, split in SPLITS.items()]
    text = "\n".join(rows).replace("a, b; c", "a b c")
    (tmp_path / "pairs.csv").write_text(text)
    found, captions = read(
        {"split": "split"} | ({"delimiter": delimiter} if named else {}), tmp_path / "pairs.csv", images
    )
    assert dict(zip(found["image_id"], found["split"], strict=True)) == SPLITS
    assert captions["text"][0] == "a.png: a b c"


def test_columns_of_other_names_are_named_one_by_one_with_any_delimiter(images: Path, tmp_path: Path) -> None:
    (tmp_path / "pairs.csv").write_text("filename;caption;split\na.png;A dog, running;train\n")
    with pytest.raises(InputError, match=r"no column 'image'; it has filename, caption, split\."):
        read({"split": "split"}, tmp_path / "pairs.csv", images)


@pytest.mark.parametrize(
    ("suffix", "write"),
    [("csv", as_csv), ("tsv", as_csv), ("jsonl", as_json_lines), ("json", as_json_lines), ("parquet", as_parquet)],
)
def test_a_single_file_needs_no_name_and_no_format(
    images: Path, tmp_path: Path, suffix: str, write: Callable[[Any], bytes]
) -> None:
    (tmp_path / f"pairs.{suffix}").write_bytes(write(PAIRS))
    found, captions = read({"split": "split"}, tmp_path / f"pairs.{suffix}", images)
    assert (len(found), len(captions)) == (4, 8)


def test_what_stays_unknown_is_refused(images: Path, tmp_path: Path) -> None:
    (tmp_path / "pairs.x").write_bytes(as_csv(PAIRS))
    with pytest.raises(InputError, match=r"pairs\.x: the suffix is none of .*name the format as options\.format"):
        read({"split": "split"}, tmp_path / "pairs.x", images)
    with pytest.raises(InputError, match=r"it may hold several files; name that of the table as options\.file"):
        read({"split": "split", "format": "csv"}, tmp_path, images)


def many(tmp_path: Path) -> Path:
    """Twenty pictures and a table of them without a split, whose rows are turned round in a second one."""
    rows = [{"image": f"{letter}.png", "sentence": f"Sentence of {letter}."} for letter in "abcdefghijklmnopqrst"]
    for row in rows:
        (tmp_path / row["image"]).write_bytes(picture(row["image"]))
    (tmp_path / "pairs.csv").write_bytes(as_csv(rows))
    (tmp_path / "turned.csv").write_bytes(as_csv(rows[::-1]))
    return tmp_path


def test_splits_are_drawn_by_a_seed(tmp_path: Path) -> None:
    folder = many(tmp_path)

    def drawn(file: str, **options: Any) -> dict[str, str]:
        found, _ = read({"split": "random", **options}, folder / file, folder)
        return dict(zip(found["image_id"], found["split"], strict=True))

    assert pd.Series(drawn("pairs.csv")).value_counts().to_dict() == {"train": 16, "val": 2, "test": 2}
    assert drawn("turned.csv") == drawn("pairs.csv") != drawn("pairs.csv", seed=1)
    sizes = {"train": 5, "val": 4, "test": 3}
    assert pd.Series(drawn("pairs.csv", sizes=sizes)).value_counts().to_dict() == sizes


def test_few_images_are_not_drawn_without_sizes(images: Path, tmp_path: Path) -> None:
    (tmp_path / "pairs.csv").write_bytes(as_csv(PAIRS))
    with pytest.raises(InputError, match="random needs 10 images or more, and the table has 4; or name sizes"):
        read({"split": "random"}, tmp_path / "pairs.csv", images)


@pytest.mark.parametrize(
    ("kind", "packed", "options"),
    [
        ("compressed by gzip; unpack it", gzip.compress, {}),
        ("compressed by gzip; unpack it", gzip.compress, {"encoding": "latin-1"}),
        ("compressed by bzip2; unpack it", bz2.compress, {}),
        ("compressed by xz; unpack it", lzma.compress, {}),
        ("UTF-16, or no text; name its encoding", lambda data: data.decode().encode("utf-16"), {}),
        ("UTF-16, or no text; name its encoding", lambda data: data.decode().encode("utf-16"), {"encoding": "latin-1"}),
        ("UTF-16, or no text; name its encoding", lambda data: data.decode().encode("utf-16-le"), {}),
        ("Parquet, which has the suffix .parquet; unpack it, or", lambda data: b"PAR1" + data, {}),
    ],
)
@pytest.mark.parametrize("format_name", ["csv", "json_lines"])
def test_a_table_that_is_no_text_is_named_by_what_it_is(
    images: Path, tmp_path: Path, format_name: str, kind: str, packed: Callable[[bytes], bytes], options: dict[str, Any]
) -> None:
    rows = [{"image": "a.png", "split": split, "sentence": "A dog."} for split in ("train", "val", "test")]
    (tmp_path / "pairs").write_bytes(packed(as_csv(rows) if format_name == "csv" else as_json_lines(rows)))
    with pytest.raises(InputError, match=f"pairs: is {kind}"):
        read({"format": format_name, "split": "split", **options}, tmp_path / "pairs", images)


@pytest.mark.parametrize("encoding", ["utf-16", "UTF_16", "utf-16-le", "utf-32"])
def test_a_table_in_utf_16_is_read_by_its_encoding(images: Path, tmp_path: Path, encoding: str) -> None:
    (tmp_path / "pairs.csv").write_bytes(as_csv(PAIRS).decode().encode(encoding))
    _, captions = read({"split": "split", "encoding": encoding}, tmp_path / "pairs.csv", images)
    assert len(captions) == len(PAIRS)


def test_a_cell_of_csv_may_be_long(images: Path, tmp_path: Path) -> None:
    rows = [*PAIRS, {"image": "a.png", "sentence": "dog " * 50_000, "split": "train"}]
    (tmp_path / "pairs.csv").write_bytes(as_csv(rows))
    _, captions = read({"split": "split"}, tmp_path / "pairs.csv", images)
    assert captions["text"].str.len().max() == 4 * 50_000 - 1
